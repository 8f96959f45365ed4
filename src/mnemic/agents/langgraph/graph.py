"""The turn with memory as a LangGraph graph: the same steps, in the same order, under a checkpointer."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt

from mnemic.agents.langgraph.store_memory import StoreMemory
from mnemic.agents.steps import (
    EDGES,
    NODES,
    ROUTES,
    GatewayMemory,
    LongTerm,
    MemoryState,
    MemorySteps,
    Respond,
    Summarise,
    TurnRules,
    take,
)
from mnemic.agents.steps.memory_backend import DEFAULT_COLLECTION
from mnemic.agents.steps.nodes import parse_decisions
from mnemic.agents.steps.state import FAILED, waiting_candidates
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.extract import Extractor
from mnemic.inject.token_count import counter_of
from mnemic.policy.key_rules import Policy

T = TypeVar("T")


def memory_graph(
    memory: MemoryEngine | BaseStore | LongTerm,
    respond: Respond,
    *,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    review: bool = False,
    rules: TurnRules | None = None,
    extractor: Extractor | None = None,
    summarise: Summarise | None = None,
    policy: Policy | None = None,
    tenant: str = "default",
    collection: str = DEFAULT_COLLECTION,
    tokenizer: Any = None,
) -> MemoryGraph:
    """Return a compiled graph that answers with memory.

        graph = memory_graph(engine, respond, checkpointer=InMemorySaver())
        turn = graph.invoke({"input": "I prefer aisle seats.", "user_id": "ana", "thread_id": "t1"})
        turn["final_output"]["response"]

    `memory` stores lasting memories: an engine (guarded, versioned, audited), any LangGraph store (then `policy`
    defines what may be remembered), or another `LongTerm`. `respond` is the model: from `prompt_context` to the answer.
    By default the engine's own extractor reads the user's messages. The `checkpointer` stores the thread between turns.
    With `review` (needs a checkpointer) the graph interrupts if candidates wait for a person, and continues with
    `Command(resume="approve")`, `"reject"`, or a list of the two. The `tokenizer` counts the tokens of the memories;
    without one that of the engine does.
    """
    count = counter_of(tokenizer)
    long_term: LongTerm
    if isinstance(memory, MemoryEngine):
        count = memory.token_count if tokenizer is None else count
        extractor = extractor or memory.extractor
        long_term = GatewayMemory(memory.gateway, tenant=tenant, collection=collection, turns=memory)
    elif isinstance(memory, BaseStore):
        long_term = StoreMemory(memory, policy=policy, collection=collection)
    else:
        long_term = memory
    given: dict[str, Any] = {"extractor": extractor, "summarise": summarise, "rules": rules}
    given["budget"] = memory.rules.budget if isinstance(memory, MemoryEngine) else None
    steps = MemorySteps(long_term, respond, count=count, **given)
    store = memory if isinstance(memory, BaseStore) else None
    compiled = _build_graph(steps, review=review).compile(checkpointer=checkpointer, store=store)
    return MemoryGraph(steps, compiled)


def _build_graph(steps: MemorySteps, *, review: bool) -> StateGraph[Any, Any, Any, Any]:
    graph: StateGraph[Any, Any, Any, Any] = StateGraph(MemoryState)
    for name in NODES:
        graph.add_node(name, _node(steps, name, review=review))
    graph.add_edge(START, NODES[0])
    for source, target in EDGES.items():
        graph.add_edge(source, END if target == "END" else target)
    for source, (route, targets) in ROUTES.items():
        graph.add_conditional_edges(source, route, list(targets))
    return graph


def _node(steps: MemorySteps, name: str, *, review: bool) -> RunnableLambda[Any, Any]:
    asks = review and name == "mark_needs_review"

    def step(state: MemoryState) -> MemoryState:
        return run_to_end(take(steps, name, state, _decisions(steps, state) if asks else None))

    async def astep(state: MemoryState) -> MemoryState:
        return await take(steps, name, state, _decisions(steps, state) if asks else None)

    return RunnableLambda(step, afunc=astep, name=name)


def _decisions(steps: MemorySteps, state: MemoryState) -> Any:
    """Return a person's decision on the candidates that wait; it is requested again, with the reason, until it is
    valid. LangGraph stores every answer, so raising an error for an invalid one would repeat forever.
    """
    waiting = len(waiting_candidates(state))
    if not waiting:
        return None
    request = steps.review_request(state)
    while True:
        answer = interrupt(request)
        try:
            parse_decisions(answer, waiting)
        except InvalidInput as refused:
            request = {**request, "refused": str(refused)}
        else:
            return answer


class MemoryGraph:
    """A compiled memory graph. `invoke` and `ainvoke` refuse a turn without input, user or thread before anything is
    read or written, with status `failed`; everything else is the compiled graph's own (`graph`).
    """

    def __init__(self, steps: MemorySteps, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        self.steps = steps
        self.graph = graph

    def __getattr__(self, name: str) -> Any:
        return getattr(self.graph, name)

    @staticmethod
    def thread(user_id: str, thread_id: str) -> RunnableConfig:
        """Return the configuration with a thread of the user's, if none is given: no two users share one."""
        return {"configurable": {"thread_id": f"{user_id}/{thread_id}"}}

    def invoke(self, given: Any, config: RunnableConfig | None = None, **options: Any) -> dict[str, Any]:
        """One turn, or with a `Command` the rest of an interrupted one; the state it ends with."""
        if not isinstance(given, Command):
            refused = run_to_end(self._refuse_turn(given))
            if refused is not None:
                return refused
            config = self._config(given, config)
        return cast(dict[str, Any], self.graph.invoke(given, config, **options))

    async def ainvoke(self, given: Any, config: RunnableConfig | None = None, **options: Any) -> dict[str, Any]:
        """As `invoke`."""
        if not isinstance(given, Command):
            refused = await self._refuse_turn(given)
            if refused is not None:
                return refused
            config = self._config(given, config)
        return cast(dict[str, Any], await self.graph.ainvoke(given, config, **options))

    def _config(self, given: Mapping[str, Any], config: RunnableConfig | None) -> RunnableConfig:
        """Return the caller's configuration, with the user's thread if it names none."""
        chosen = (config or {}).get("configurable", {})
        thread = self.thread(given["user_id"], given["thread_id"])["configurable"]
        return {**(config or {}), "configurable": {**thread, **chosen}}

    async def _refuse_turn(self, given: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the whole state of a turn that cannot begin, or None."""
        names = ("input", "user_id", "thread_id")
        state = MemoryState(**{name: given.get(name) for name in names if given.get(name) is not None})  # type: ignore[typeddict-item]
        state |= await self.steps.prepare_turn(state)
        return dict(state) if state["status"] == FAILED else None


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work` for a synchronous caller, also if an event loop runs in its thread already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(context.run, asyncio.run, work).result()
