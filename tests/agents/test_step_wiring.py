"""The graph is the pattern's: its nodes, its state, its edges; and what is only for the model stays out of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from mnemic.agents.langgraph import MnemicStore, memory_graph
from mnemic.agents.steps import EDGES, NODES, ROUTES, MemoryState
from mnemic.types import Actor
from tests.scripted_steps import POLICY, Model, Proposals, engine_of, wish

EXPECTED_NODES = {
    "prepare_turn", "build_retrieval_query", "retrieve_long_term_memory", "compact_short_term_memory",
    "build_prompt_context", "generate_response", "extract_memory_candidates", "validate_memory_updates",
    "store_memory_updates", "finalize", "mark_needs_review",
}  # fmt: skip
EXPECTED_FIELDS = {
    "input", "user_id", "thread_id", "messages", "short_term_summary", "retrieval_query", "retrieved_memories",
    "prompt_context", "response", "memory_candidates", "approved_memory_updates", "skipped_memory_updates",
    "memory_write_results", "errors", "status", "final_output",
}  # fmt: skip
ADDED_FIELDS = {"memory_requests"}
"""Requests of a message about memory, which the program carries out once they are confirmed."""
EXPECTED_EDGES = {
    ("__start__", "prepare_turn"),
    ("prepare_turn", "build_retrieval_query"),
    ("build_retrieval_query", "retrieve_long_term_memory"),
    ("retrieve_long_term_memory", "compact_short_term_memory"),
    ("retrieve_long_term_memory", "mark_needs_review"),
    ("compact_short_term_memory", "build_prompt_context"),
    ("build_prompt_context", "generate_response"),
    ("generate_response", "extract_memory_candidates"),
    ("extract_memory_candidates", "validate_memory_updates"),
    ("validate_memory_updates", "store_memory_updates"),
    ("validate_memory_updates", "finalize"),
    ("validate_memory_updates", "mark_needs_review"),
    ("store_memory_updates", "finalize"),
    ("finalize", "__end__"),
    ("mark_needs_review", "__end__"),
}
ADDED = {("store_memory_updates", "mark_needs_review")}
"""So that what is approved is written although something else waits, and a failed write can be looked at."""


def test_the_graph_is_the_patterns() -> None:
    drawn = memory_graph(InMemoryStore(), Model()).get_graph()
    assert set(drawn.nodes) == EXPECTED_NODES | {"__start__", "__end__"}
    assert {(edge.source, edge.target) for edge in drawn.edges} == EXPECTED_EDGES | ADDED


def test_both_runners_walk_the_same_table() -> None:
    assert set(NODES) == EXPECTED_NODES
    assert set(EDGES) | set(ROUTES) == EXPECTED_NODES
    assert set(get_type_hints(MemoryState)) == EXPECTED_FIELDS | ADDED_FIELDS


async def test_no_checkpoint_holds_what_was_injected_over_three_turns() -> None:
    saver = InMemorySaver()
    engine = await engine_of()
    model = Model()
    graph = memory_graph(engine, model, checkpointer=saver, extractor=Proposals(wish("aisle", "seat")))
    for said in ("My seat is the aisle seat.", "Which seat do I prefer?", "And which seat on the way back?"):
        await graph.ainvoke({"input": said, "user_id": "ana", "thread_id": "t1"})
    assert ["<memory" in context["memory_block"] for context in model.contexts] == [False, True, True]
    held = [item async for item in saver.alist(graph.thread("ana", "t1"))]
    assert len(held) > 20
    assert "<memory" not in repr(held)
    assert "fence" not in repr(held)
    injected = [event for event in await engine.audit(actor=Actor(user="ana")) if event.action == "injected"]
    assert len(injected) == 2


async def test_everything_in_the_state_is_json(tmp_path: Path) -> None:
    with MnemicStore(tmp_path / "m.db") as store:
        graph = memory_graph(store, Model(), policy=POLICY, extractor=Proposals(wish("aisle", "seat")))
        turn = await graph.ainvoke({"input": "My seat is the aisle seat.", "user_id": "ana.b", "thread_id": "t1"})
        assert json.loads(json.dumps(turn)) == turn
        assert turn["final_output"]["stored_updates"][0]["namespace"] == ["ana%2Eb", "memories"]
        later = await graph.ainvoke({"input": "Which seat do I prefer?", "user_id": "ana.b", "thread_id": "t2"})
        assert [one["key"] for one in later["retrieved_memories"]] == ["seat"]


async def test_a_chat_model_answers_through_langchain_messages() -> None:
    async def respond(context: dict[str, Any]) -> str:
        messages = [HumanMessage(context["memory_block"]), HumanMessage(context["input"])]
        return AIMessage(f"{len(messages)} messages").text

    graph = memory_graph(InMemoryStore(), respond)
    turn = await graph.ainvoke({"input": "Hello there, assistant.", "user_id": "ana", "thread_id": "t1"})
    assert turn["response"] == "2 messages"


async def test_a_configuration_without_a_thread_gets_the_users(tmp_path: Path) -> None:
    graph = memory_graph(InMemoryStore(), Model(), checkpointer=InMemorySaver())
    given = {"input": "Hello there, assistant.", "user_id": "ana", "thread_id": "t1"}
    turn = await graph.ainvoke(given, {"recursion_limit": 40})
    assert graph.get_state(graph.thread("ana", "t1")).values["response"] == turn["response"]
    await graph.ainvoke(given, {"configurable": {"thread_id": "mine"}})
    assert len(graph.get_state({"configurable": {"thread_id": "mine"}}).values["messages"]) == 2


@pytest.mark.parametrize("mode", ["updates", "values"])
async def test_the_compiled_graph_is_at_hand(mode: str) -> None:
    graph = memory_graph(InMemoryStore(), Model(), checkpointer=InMemorySaver())
    given = {"input": "Hello there, assistant.", "user_id": "ana", "thread_id": "t1"}
    seen = [part async for part in graph.astream(given, graph.thread("ana", "t1"), stream_mode=mode)]
    assert len(seen) >= 8
    assert graph.get_state(graph.thread("ana", "t1")).values["final_output"]["status"] == "ok"
