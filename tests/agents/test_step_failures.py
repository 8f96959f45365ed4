"""The pattern's failure cases that need more than one memory, or more than one word, to go wrong: what is irrelevant,
what the user's words do not support, and what is sensitive. With the engine and with a plain LangGraph store.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from mnemic.agents.langgraph import memory_graph
from mnemic.agents.steps import TurnRules
from mnemic.errors import InvalidConfig
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.types import Completion, Deadline, Origin, Prompt, Source
from tests.scripted_steps import Model, Proposals, engine_of, wish

OPEN = Policy(on_violation="skip")


@pytest.fixture(params=["engine", "store"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def graph_of(kind: str, policy: Policy = OPEN, **options: Any) -> Any:
    if kind == "engine":
        return memory_graph(await engine_of(policy), Model(), **options)
    return memory_graph(InMemoryStore(), Model(), policy=policy, **options)


async def say(graph: Any, said: str, thread: str = "t1") -> dict[str, Any]:
    return dict(await graph.ainvoke({"input": said, "user_id": "ana", "thread_id": thread}))


def skipped(turn: dict[str, Any]) -> list[tuple[Any, str]]:
    return [(one["key"], one["reason"]) for one in turn["final_output"]["skipped_updates"]]


# -- what the user's words do not support ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "key", "value", "reason"),
    [
        ("I like tea.", "team", "the blue ones", "unsupported"),
        ("Find me a flight to Denver.", "destination", "Denver", "transient"),
        ("Am I allergic to peanuts?", "allergies", "peanuts", "transient"),
        ("If I lived in Paris I would buy a bike.", "home_city", "Paris", "hypothetical"),
        ("My friend Leo says he hates window seats.", "seat", "window", "quoted"),
    ],
)
async def test_a_true_quote_carries_no_value_that_does_not_follow_from_it(
    kind: str, said: str, key: str, value: str, reason: str
) -> None:
    proposed = wish(value, key, source=Source(origin=Origin.AGENT_INFERRED, quote=said))
    turn = await say(await graph_of(kind, extractor=Proposals([proposed])), said)
    assert skipped(turn) == [(key, reason)]
    assert turn["final_output"]["stored_updates"] == []
    assert turn["final_output"]["status"] == "ok"


async def test_a_short_quote_supports_what_the_tables_read_of_it(kind: str) -> None:
    graph = await graph_of(kind, rules=TurnRules(sensitive_topics=frozenset()))
    turn = await say(graph, "I'm coeliac.")
    assert ("diet", "celiac") in [(one["key"], one["value"]["value"]) for one in turn["memory_write_results"]]
    assert "unsupported" not in str(turn["skipped_memory_updates"])


async def test_a_quote_that_was_not_said_supports_nothing(kind: str) -> None:
    proposed = wish("celiac", "diet", source=Source(origin=Origin.AGENT_INFERRED, quote="I'm coeliac"))
    turn = await say(await graph_of(kind, extractor=Proposals([proposed])), "I like tea.")
    assert skipped(turn) == [("diet", "unsupported")]


# -- what is irrelevant ------------------------------------------------------------------------------------------------


TOLD = (
    "I was born in Izmir.",
    "I am vegetarian.",
    "I collect brass compasses.",
    "Remember that I prefer morning flights and aisle seats.",
)


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ("What is the boiling point of nitrogen?", set()),
        ("What is the capital of Peru?", set()),
        ("Find me a flight to Denver.", {"seat", "flight_time"}),
        ("Book a table for dinner.", {"diet"}),
    ],
)
async def test_a_store_that_ranks_nothing_shows_only_what_a_request_depends_on(asked: str, keys: set[str]) -> None:
    graph = await graph_of("store")
    for said in TOLD:
        await say(graph, said)
    turn = await say(graph, asked, "t2")
    assert {one["key"] for one in turn["retrieved_memories"]} == keys


async def test_among_many_documents_the_one_that_counts_is_found() -> None:
    rules = TurnRules(max_memories=3)
    graph = await graph_of("store", extractor=Proposals(*[wish(f"box {n} is blue") for n in range(30)]), rules=rules)
    for number in range(30):
        await say(graph, f"box {number} is blue")
    turn = await say(graph, "Where is the harp?", "t2")
    assert turn["retrieved_memories"] == []
    turn = await say(graph, "Which of the boxes is blue, the first or 29?", "t3")
    assert len(turn["retrieved_memories"]) == 3
    turn = await say(graph, "What about 29?", "t4")
    assert [one["value"]["value"] for one in turn["retrieved_memories"]] == ["box 29 is blue"]


async def test_what_policy_pins_is_shown_whatever_is_asked(kind: str) -> None:
    policy = Policy(
        keys={"tone": KeyRule("tone"), "allergies": KeyRule("allergies", on_change="accumulate", pinned=True)},
        on_violation="skip",
    )
    rules = TurnRules(sensitive_topics=frozenset())
    told = [wish("nuts", "allergies"), wish("terse", "tone")]
    graph = await graph_of(kind, policy, extractor=Proposals(told), rules=rules)
    await say(graph, "I am allergic to nuts, and my tone is terse.")
    turn = await say(graph, "What is the boiling point of nitrogen?", "t2")
    assert "nuts" in {one["value"]["value"] for one in turn["retrieved_memories"]}


# -- what is sensitive -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    ["My blood type is AB negative.", "I was diagnosed with depression last year.", "My passport number is X1234567."],
)
async def test_health_and_papers_are_not_kept_unasked(kind: str, said: str) -> None:
    turn = await say(await graph_of(kind), said)
    assert {reason for _, reason in skipped(turn)} == {"sensitive"}
    assert turn["final_output"]["stored_updates"] == []
    assert "negative" not in str(turn["skipped_memory_updates"])


class QuotesAll:
    """A model that finds each message worth keeping, in the words that it is shown."""

    model = "quoting"

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        said = json.loads(prompt.user)["user_message"]
        labels = {"op": "add", "subject": "me", "holds": "now", "category": "fact", "key": None, "value": said}
        return Completion(text=json.dumps({"items": [{"quote": said, **labels}]}), model=self.model)

    async def close(self) -> None:
        """Nothing to free."""


@pytest.mark.parametrize(
    "said",
    ["My passport number is X1234567.", "My sister Emma lives in Leeds, her address for letters is emma@example.org."],
)
async def test_with_a_model_what_is_sensitive_is_so_too_although_it_reads_without_the_value(
    kind: str, said: str
) -> None:
    extractor = ModelExtractor(QuotesAll())
    turn = await say(await graph_of(kind, extractor=extractor), said)
    assert {reason for _, reason in skipped(turn)} == {"sensitive"}
    assert turn["final_output"]["stored_updates"] == []
    assert "Leeds" not in str(turn["skipped_memory_updates"])
    reviewed = await say(await graph_of(kind, extractor=extractor, rules=TurnRules(on_sensitive="review")), said)
    assert {reason for _, reason in skipped(reviewed)} == {"needs_review:sensitive"}


@pytest.mark.parametrize(
    ("words", "sensitive"), [("union", True), ("UNION of  bakers", True), ("uni", False), ("bakers union", False)]
)
async def test_a_policy_names_more_words_that_are_sensitive(kind: str, words: str, sensitive: bool) -> None:
    policy = Policy(sensitive_words=frozenset({words}))
    said = "I belong to the Union of Bakers."
    turn = await say(await graph_of(kind, policy, extractor=Proposals([wish(said)])), said)
    assert bool(turn["final_output"]["stored_updates"]) is not sensitive
    assert [reason for _, reason in skipped(turn)] == ["sensitive"] * sensitive
    assert "akers" not in str(turn["skipped_memory_updates"])


async def test_the_key_alone_makes_it_sensitive(kind: str) -> None:
    policy = Policy(sensitive_words=frozenset({"trade union"}))
    proposed = wish("bakers", "trade_union")
    turn = await say(await graph_of(kind, policy, extractor=Proposals([proposed])), "I am with the bakers since May.")
    assert skipped(turn) == [("trade_union", "sensitive")]


async def test_nobody_is_asked_about_something_sensitive_that_was_only_a_question(kind: str) -> None:
    proposed = wish("diabetes", "condition", source=Source(origin=Origin.AGENT_INFERRED, quote="Do I have diabetes"))
    rules = TurnRules(on_sensitive="review")
    turn = await say(await graph_of(kind, rules=rules, extractor=Proposals([proposed])), "Do I have diabetes?")
    assert skipped(turn) == [("condition", "transient")]
    assert turn["final_output"]["skipped_updates"][0]["candidate"] == "[withheld]"
    assert turn["final_output"]["status"] == "ok"


@pytest.mark.parametrize(
    "words", [frozenset({""}), frozenset({"  "}), frozenset({"!?"}), frozenset({3}), frozenset({"x" * 101}), "union"]
)
def test_words_that_are_none_are_refused(words: Any) -> None:
    with pytest.raises(InvalidConfig, match="sensitive_words"):
        Policy(sensitive_words=words)
