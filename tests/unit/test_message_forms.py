"""Conversations in the form in which programs have them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.engine.message_forms import messages_of
from mnemic.errors import BudgetSpent, InvalidInput, ModelTimeout, RunStopped
from mnemic.extract import Extraction
from mnemic.facade.manager import AsyncMemoryManager
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Message, Origin, Outcome

ANA = Actor(user="ana", session="s1")


class Failing:
    """An extractor that cannot read."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    async def extract(self, message: Message, **_: Any) -> Extraction:
        raise self.failure


def engine_with(**given: Any) -> MemoryEngine:
    return MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock(), **given)


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with engine_with() as engine:
        yield engine


@pytest.mark.parametrize(
    "message",
    [{"role": "usr", "content": "I live in Oslo."}, Message(role="User", content="I live in Oslo.")],
)
async def test_a_role_that_nobody_has_is_refused_on_every_way(engine: MemoryEngine, message: Any) -> None:
    for way in (
        engine.remember([message], actor=ANA),
        engine.remember([message], actor=ANA, infer=False),
        engine.capture(message, actor=ANA),
        engine.capture_many([message], actor=ANA),
        engine.record([message], actor=ANA),
        engine.run(message=message, actor=ANA),
    ):
        with pytest.raises(InvalidInput) as refused:
            await way
        assert refused.value.reason == "invalid_input:message:role"


def test_messages_are_read_in_every_form() -> None:
    parts = [
        {"type": "text", "text": "Look at"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "it."},
    ]
    told = messages_of(
        [
            "I live in Oslo.",
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": parts, "name": "ana"},
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "assistant", "content": "Nice."},
            {"role": "tool", "content": "12 degrees"},
            {"role": "user", "content": [{"type": "tool_result", "content": "x"}, {"type": "text", "text": "rain"}]},
            Message(role="user", content="Bye.", session="other"),
            {"role": "user", "content": "  "},
        ],
        session="s1",
    )
    assert [(one.role, one.content, one.origin) for one in told] == [
        ("user", "I live in Oslo.", Origin.USER_STATED),
        ("user", "Look at\nit.\n[attached image]", Origin.USER_STATED),
        ("assistant", "Nice.", Origin.AGENT_INFERRED),
        ("tool", "12 degrees", Origin.TOOL_OUTPUT),
        ("tool", "rain", Origin.TOOL_OUTPUT),
        ("user", "Bye.", Origin.USER_STATED),
    ]
    assert [one.session for one in told] == ["s1"] * 5 + ["other"]
    assert told[1].speaker == "ana"
    assert messages_of({"role": "user", "content": "Hello."}, session=None) == [Message(role="user", content="Hello.")]


@pytest.mark.parametrize("given", [7, b"text", [7], [{"content": "x"}], [{"role": "user"}], None])
def test_what_is_no_message_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput):
        messages_of(given, session=None)


async def test_what_is_worth_it_is_kept_with_its_metadata(engine: MemoryEngine) -> None:
    receipts = await engine.remember(
        [{"role": "user", "content": "I live in Oslo."}, {"role": "assistant", "content": "I live nowhere."}],
        actor=ANA,
        data={"topic": "home"},
    )
    assert [(one.outcome, one.key) for one in receipts] == [(Outcome.CREATED, "home_city")]
    (kept,) = await engine.list(actor=ANA, where={"topic": "home"})
    assert (kept.content, kept.source.session) == ("Oslo", "s1")


async def test_without_inference_every_message_is_kept(engine: MemoryEngine) -> None:
    said = [{"role": "user", "content": "See you on Sunday!"}, {"role": "assistant", "content": "Yes."}]
    receipts = await engine.remember(said, actor=ANA, infer=False, data={"topic": "plans"})
    assert [one.outcome for one in receipts] == [Outcome.CREATED] * 2
    kept = await engine.list(actor=ANA, where={"topic": "plans"})
    assert {(one.content, one.kind, one.source.speaker) for one in kept} == {
        ("See you on Sunday!", Kind.EPISODIC, "user"),
        ("Yes.", Kind.EPISODIC, "assistant"),
    }
    assert await engine.remember([], actor=ANA) == ()


@pytest.mark.parametrize(
    ("failure", "kind", "reason"),
    [
        (ModelTimeout(), ModelTimeout, "llm_timeout"),
        (BudgetSpent("max_llm_calls"), RunStopped, "stopped:max_llm_calls"),
    ],
)
async def test_a_failure_is_no_empty_result(failure: Exception, kind: type[RunStopped], reason: str) -> None:
    async with engine_with(extractor=Failing(failure)) as engine:
        with pytest.raises(kind) as stopped:
            await engine.remember("I live in Oslo.", actor=ANA)
    assert stopped.value.reason == reason


async def test_a_manager_remembers_a_conversation() -> None:
    async with AsyncMemoryManager("ana", engine=engine_with()) as memory:
        (receipt,) = await memory.remember("I live in Oslo.", data={"topic": "home"})
        assert receipt.stored
        assert [one.content for one in await memory.list(where={"topic": "home"})] == ["Oslo"]


async def test_messages_are_recorded_in_every_form(engine: MemoryEngine) -> None:
    said = ["See you on Sunday!", {"role": "assistant", "content": "Yes."}, Message(role="user", content="Good.")]
    receipts = await engine.record(said, actor=ANA)
    assert [one.outcome for one in receipts] == [Outcome.CREATED] * 3
    kept = await engine.list(actor=ANA)
    assert {one.content: one.source.speaker for one in kept} == {
        "See you on Sunday!": "user", "Yes.": "assistant", "Good.": "user"
    }  # fmt: skip


async def test_a_capture_takes_a_message_as_a_program_has_it(engine: MemoryEngine) -> None:
    report = await engine.capture({"role": "user", "content": "I live in Oslo."}, actor=ANA)
    assert [one.outcome for one in report.receipts] == [Outcome.CREATED]


@pytest.mark.parametrize("given", [["I live in Oslo."], 7])
async def test_a_capture_of_something_else_names_the_verb_that_takes_it(engine: MemoryEngine, given: Any) -> None:
    with pytest.raises(InvalidInput, match="`remember` takes lists"):
        await engine.capture(given, actor=ANA)


async def test_a_record_of_something_else_is_refused_by_name(engine: MemoryEngine) -> None:
    for given in (7, [7], [{"content": "x"}]):
        with pytest.raises(InvalidInput, match="invalid_input:message"):
            await engine.record(given, actor=ANA)  # type: ignore[arg-type]


@pytest.mark.parametrize("told", ["2024-05-01T10:00:00Z", 1_714_557_600, datetime(2024, 5, 1, 10, tzinfo=UTC)])
def test_a_dictionary_says_when_by_whom_and_where_it_was_said(told: object) -> None:
    (said,) = messages_of(
        {"role": "user", "content": "Hi.", "timestamp": told, "speaker": "Ana", "session": "s9", "message_id": "m1"},
        session="s1",
    )
    assert (said.sent_at, said.speaker, said.session, said.message_id) == (
        datetime(2024, 5, 1, 10, tzinfo=UTC),
        "Ana",
        "s9",
        "m1",
    )


@pytest.mark.parametrize("told", ["yesterday", [2024], 1e30])
def test_a_time_that_is_none_is_refused(told: object) -> None:
    with pytest.raises(InvalidInput, match="sent_at"):
        messages_of({"role": "user", "content": "Hi.", "sent_at": told}, session=None)
