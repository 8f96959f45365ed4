"""One table of sentences with times, told now on every way: each gives the memory the same times, whichever way it
came, and without a time of the message.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from mnemic import Candidate, Message, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.extract.messages import message_candidates, recorded_message
from mnemic.testing.clock import ManualClock
from mnemic.types import Memory, Origin
from tests.integrations.ways_in import ANA, HERE, through_frameworks, timed

NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)  # a Wednesday

# The sentence, and the days of valid_from, valid_to and occurred_at; None for one that it does not give.
TABLE = [
    ("I have lived in Leiden since May 2026.", "2026-05-01", None, None),
    ("I have played chess since 2015.", "2015-01-01", None, None),
    ("I have had a dog since last March.", "2026-03-01", None, None),
    ("I sold my piano on 3 May 2026.", None, None, "2026-05-03"),
    ("I bought a canoe yesterday.", None, None, "2026-11-17"),
    ("I broke my arm two weeks ago.", None, None, "2026-11-04"),
    ("I am in Rome until Friday.", None, "2026-11-21", None),
    ("I rent a garage until Sunday.", None, "2026-11-23", None),
    ("Ich bin seit Mai 2026 Vegetarier.", "2026-05-01", None, None),
    ("J'ai acheté un piano hier.", None, None, "2026-11-17"),
]
Tell = Callable[[str], Awaitable[Any]]


def without_time(form: Callable[[MemoryEngine, str], Awaitable[Any]]) -> Any:
    @asynccontextmanager
    async def opened(store: Path) -> AsyncIterator[Tell]:
        async with timed(store) as (engine, advance):
            advance(NOW)
            yield lambda text: form(engine, text)

    return opened


def clocked(way: Any) -> Any:
    """A way of `ways_in` whose interface has no time for a message: its clock is set."""

    @asynccontextmanager
    async def opened(store: Path) -> AsyncIterator[Tell]:
        async with way(store) as say:
            yield lambda text: say(text, NOW)

    return opened


CLOCKED = ("add", "MCP capture", "LangGraph", "Strands store", "mnemic chat")
WAYS = {
    "capture": without_time(lambda engine, text: engine.capture(text, actor=ANA)),
    "capture a message": without_time(
        lambda engine, text: engine.capture(Message(role="user", content=text), actor=ANA)
    ),
    "capture many": without_time(lambda engine, text: engine.capture_many([text], actor=ANA)),
    "remember": without_time(lambda engine, text: engine.remember([{"role": "user", "content": text}], actor=ANA)),
    "run": without_time(lambda engine, text: engine.run(message=text, actor=ANA, goal="Answer in one sentence.")),
    "add many": without_time(lambda engine, text: engine.add_many([Candidate(content=text)], actor=ANA)),
    **{one.name: clocked(one.opened) for one in HERE if one.name in CLOCKED},
    **{one.name: clocked(one.opened) for one in through_frameworks},
}


def day(moment: str | None) -> str | None:
    return None if moment is None else moment[:10]


def times(fact: dict[str, Any]) -> tuple[str | None, ...]:
    return tuple(day(fact[name]) for name in ("valid_from", "valid_to", "occurred_at"))


def words_of(fact: dict[str, Any]) -> str:
    return str(fact["source"]["quote"] or fact["content"])


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_said_now_has_the_times_of_its_words_on_every_way(way: str, tmp_path: Path) -> None:
    store = tmp_path / "memory" / "memory.db"
    store.parent.mkdir()
    async with WAYS[way](store) as tell:
        for text, *_ in TABLE:
            await tell(text)
    async with timed(store) as (engine, _):
        facts = [one async for one in engine.export(actor=ANA) if one["kind"] == "long_term"]
    found = {text: {times(one) for one in facts if words_of(one) in text} for text, *_ in TABLE}
    # A memory without a day of its own may have the time at which it was said.
    wrong = {
        text: found[text]
        for text, *told in TABLE
        if tuple(told) not in found[text] and (*told[:2], told[2] or day(str(NOW))) not in found[text]
    }
    assert wrong == {}


async def test_an_imported_message_of_an_unknown_day_has_the_times_that_any_day_gives_alone(tmp_path: Path) -> None:
    async with timed(tmp_path / "memory.db") as (engine, advance):
        advance(NOW)
        for text in ("I sold my piano on 3 May 2026.", "I bought a canoe yesterday."):
            await engine.capture(Message(role="user", content=text, origin=Origin.IMPORT), actor=ANA)
        found = {one.content: one.occurred_at for one in await engine.list(actor=ANA)}
    assert found == {
        "I sold my piano on 3 May 2026.": datetime(2026, 5, 3, tzinfo=UTC),
        "I bought a canoe yesterday.": None,
    }


async def test_an_end_that_words_give_never_lies_before_their_beginning(tmp_path: Path) -> None:
    async with timed(tmp_path / "memory.db") as (engine, advance):
        advance(NOW)
        later = datetime(2027, 1, 1, tzinfo=UTC)
        await engine.add(Candidate(content="I am in Rome until Friday.", valid_from=later), actor=ANA)
        (kept,) = await engine.list(actor=ANA)
    assert (kept.valid_from, kept.valid_to) == (later, None)


async def test_a_request_repeated_on_another_day_is_the_same_request(tmp_path: Path) -> None:
    async with timed(tmp_path / "memory.db") as (engine, advance):
        for at in (NOW, NOW + timedelta(days=1)):
            advance(at)
            receipt = await engine.add("I bought a canoe yesterday.", actor=ANA, idempotency_key="one")
        assert receipt.replayed
        assert [day(one.occurred_at.isoformat()) for one in await engine.list(actor=ANA) if one.occurred_at] == [
            "2026-11-17"
        ]


async def test_where_somebody_lived_in_june_is_known_without_a_time_of_the_messages(tmp_path: Path) -> None:
    async with timed(tmp_path / "memory.db") as (engine, advance):
        advance(NOW)
        for text in ("I moved to Leiden on 3 May 2026.", "I moved to Delft on 20 October 2026."):
            await engine.capture(text, actor=ANA)
        june = await engine.search("Where do I live?", as_of=datetime(2026, 6, 15, tzinfo=UTC), actor=ANA)
        now = await engine.search("Where do I live?", actor=ANA)
    assert [one.memory.content for one in june.hits if one.memory.key] == ["Leiden"]
    assert [one.memory.content for one in now.hits if one.memory.key] == ["Delft"]


async def test_a_day_in_words_is_one_of_the_zone_that_is_set(tmp_path: Path) -> None:
    clock = ManualClock()
    clock.advance(datetime(2026, 11, 18, 4, 30, tzinfo=UTC) - clock.now())  # the evening of the 17th in Los Angeles
    settings = Settings(store=str(tmp_path / "memory.db"), timezone="America/Los_Angeles")
    async with build_engine(settings, clock=clock) as engine:
        await engine.capture("I bought a canoe yesterday.", actor=ANA)
        (kept,) = await engine.list(actor=ANA)
    assert kept.occurred_at == datetime(2026, 11, 16, tzinfo=UTC)


def test_a_recorded_message_that_is_read_later_has_its_own_zone() -> None:
    west = timezone(timedelta(hours=-8))
    said = Message(
        role="user", content="I bought a canoe yesterday.", sent_at=datetime(2026, 3, 4, 23, 30, tzinfo=west)
    )
    (candidate,) = message_candidates([said])
    memory = Memory(
        memory_id="m", kind=candidate.kind, scope=ANA.scope("user"), content=candidate.content, created_at=NOW,
        updated_at=NOW,
        occurred_at=candidate.occurred_at, data=candidate.data, source=candidate.source,
    )  # fmt: skip
    assert recorded_message(memory).sent_at.isoformat() == "2026-03-04T23:30:00-08:00"
