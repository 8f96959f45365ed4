"""A change that is told is the same memory whichever way it comes in: the new value is found, the old one is closed and
stays in the history, and adapters keep what was said.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Candidate, MemoryManager, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.types import Kind, Level, Memory, Status, Where
from tests.integrations.ways_in import ANA, WAYS, Requests, Say, Way, through_frameworks

SAID = (
    "I live in Turin.",
    "We keep our boards in Trello.",
    "I moved to Genoa last week.",
    "We switched to Asana for our boards.",
    "My brother moved to Turin.",
)
BEGAN = datetime.now(UTC) - timedelta(minutes=len(SAID))
CHANGES = (
    # the question, what is true, and what was: a memory that says it as the user's own, and now
    ("Where do I live?", "Genoa", ("home_city: Turin", "I live in Turin.")),
    ("Where do we keep our boards?", "Asana", ("We keep our boards in Trello.",)),
)


@asynccontextmanager
async def added_with_a_key(store: Path) -> AsyncIterator[Say]:
    """The home under its key, with the words that told it; the rest as it was said."""
    with MemoryManager("ana", store=store) as memory:

        async def say(text: str, _: datetime) -> Requests:
            city = next((one for one in ("Genoa", "Turin") if one in text), None)
            keyed = None if city is None or "brother" in text else Candidate(content=city, key="home_city")
            await asyncio.to_thread(memory.add, keyed or text)
            return ()

        yield say


def shown(memory: Memory) -> str:
    return f"{memory.key}: {memory.content}" if memory.key else memory.content


async def check(engine: MemoryEngine) -> None:
    """State after `SAID`, whichever way it was told."""
    everything = [one for one in await engine.list(actor=ANA, limit=100) if one.kind is Kind.LONG_TERM]
    live = [shown(one) for one in everything]
    for question, now, before in CHANGES:
        hits = (await engine.search(question, top_k=20, actor=ANA)).hits
        told = [shown(one.memory) for one in hits if one.memory.kind is Kind.LONG_TERM]
        assert told, (question, live, hits)
        assert now in told[0], (question, told)
        assert not set(before) & set(live), live
        where = Where(scopes=ANA.scopes([Level.USER]), statuses=frozenset({Status.SUPERSEDED}))
        closed = [shown(one) for one in await engine.store.newest(where, limit=100)]
        assert set(before) & set(closed), closed
    assert any("brother" in one for one in live), live


async def check_undone(engine: MemoryEngine) -> None:
    """A closed statement has its end in its history, and comes back where the change is undone."""
    where = Where(scopes=ANA.scopes([Level.USER]), statuses=frozenset({Status.SUPERSEDED}))
    closed = {one.memory_id: one for one in await engine.store.newest(where, limit=100) if one.kind is Kind.LONG_TERM}
    assert closed
    for memory_id in closed:
        ended = (await engine.history(memory_id, actor=ANA))[-1]
        assert (ended.status, ended.valid_to is None) == (Status.SUPERSEDED, False)
    live = await engine.list(actor=ANA, limit=100)
    changes = [one for one in live if one.kind is Kind.LONG_TERM and set(one.supersedes) & set(closed)]
    assert changes
    for change in changes:
        await engine.undo(change.memory_id, actor=ANA)
        back = {one.memory_id for one in await engine.list(actor=ANA, limit=100)}
        assert set(change.supersedes) <= back, change


TOLD_ON = [Way("add under a key", added_with_a_key), *(one for one in WAYS if one.understands)]


@pytest.mark.parametrize("way", TOLD_ON, ids=lambda one: one.name)
async def test_a_change_closes_what_it_changes_on_every_path(way: Way, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    async with way.opened(store) as say:
        for minutes, text in enumerate(SAID):
            await say(text, BEGAN + timedelta(minutes=minutes))
    async with build_engine(Settings(store=str(store))) as engine:
        await check(engine)
        await check_undone(engine)
        messages = {one.content for one in await engine.list(actor=ANA, limit=100) if one.kind is not Kind.LONG_TERM}
    assert way not in through_frameworks or set(SAID) <= messages, "what was said is kept beside what was understood"
