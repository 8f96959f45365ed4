"""What was said once is shown once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mnemic.engine import MemoryEngine
from mnemic.retrieve.diversity import Entry, repetitions, without_repetitions
from mnemic.retrieve.policy_candidates import RELEVANCE
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import memory
from mnemic.types import Actor, Kind, Memory, Message, Source

WHEN = datetime(2024, 1, 1, tzinfo=UTC)


def repeated(entries: list[Entry], rows: dict[str, Memory]) -> Mapping[str, str]:
    return repetitions([rows[one] for one, _, _ in entries])


def test_what_was_said_once_is_shown_once_in_the_better_place() -> None:
    said = Source(session="one")
    message = memory("adoro fado!", kind=Kind.EPISODIC, source=said)
    made = memory("Adoro fado", source=replace(said, quote="adoro fado"))
    other = memory("I play the flute.", source=said)
    rows = {one.memory_id: one for one in (message, made, other)}
    entries = [(message.memory_id, 0.5, RELEVANCE), (other.memory_id, 0.4, RELEVANCE), (made.memory_id, 0.1, RELEVANCE)]
    assert without_repetitions(entries, repeated(entries, rows)) == [(made.memory_id, 0.5, RELEVANCE), entries[1]]
    for changed in (
        replace(message, content="Adoro fado, e tu?"),
        replace(message, source=Source(session="two")),
        replace(message, source=replace(said, speaker="assistant")),
    ):
        assert repeated(entries, rows | {message.memory_id: changed}) == {}


async def test_a_search_shows_a_recorded_and_captured_message_once(tmp_path: Path) -> None:
    engine = MemoryEngine(store=SqliteStore(tmp_path / "memory.db"), embedder=WordEmbedder())
    asker, message = (
        Actor(user="ana"),
        Message(role="user", content="I'm allergic to nuts", session="one", sent_at=WHEN),
    )
    async with engine:
        await engine.capture(message, actor=asker)
        await engine.record([message], actor=asker)
        (hit,) = (await engine.search("allergic to nuts", actor=asker)).hits
    assert hit.memory.kind is Kind.LONG_TERM


def test_a_message_without_a_conversation_and_the_same_words_again_are_shown_once() -> None:
    said = Source(session=None)
    made = memory("I'm allergic to nuts", source=Source(session="talk"))
    message = memory("I'm allergic to nuts.", kind=Kind.EPISODIC, source=said)
    again = memory("I'm allergic to nuts!", kind=Kind.EPISODIC, source=said)
    entries = [(one.memory_id, 0.5, RELEVANCE) for one in (message, again, made)]
    rows = {one.memory_id: one for one in (message, again, made)}
    assert without_repetitions(entries, repeated(entries, rows)) == [entries[2]]
    assert without_repetitions(entries[:2], repeated(entries[:2], rows)) == [entries[0]]
    other_day = replace(again, created_at=again.created_at + timedelta(days=1))
    assert len(without_repetitions(entries[:2], repeated(entries[:2], rows | {again.memory_id: other_day}))) == 2


def test_statements_that_were_read_from_most_of_a_message_stand_for_it() -> None:
    said = Source(session="one")
    message = memory("Please ship to 14 Alder Close. The bell is broken, ok?", kind=Kind.EPISODIC, source=said)
    address = memory("Ship to 14 Alder Close", source=replace(said, quote="ship to 14 Alder Close"))
    bell = memory("The bell is broken", source=replace(said, quote="The bell is broken"))
    rows = {one.memory_id: one for one in (message, address, bell)}
    entries = [(one.memory_id, 0.5, RELEVANCE) for one in (message, bell, address)]
    assert without_repetitions(entries, repeated(entries, rows)) == entries[1:]
    # One of the two statements alone leaves out half of the message, which may be what is looked for.
    assert repeated(entries[:2], rows) == {}
    elsewhere = replace(bell, source=replace(bell.source, session="two"))
    assert repeated(entries, rows | {bell.memory_id: elsewhere}) == {}


def test_a_statement_that_leaves_out_a_denial_does_not_hide_the_message_that_denies_it() -> None:
    said = Source(session="one")
    message = memory("I never eat raw fish or meat", kind=Kind.EPISODIC, source=said)
    half = memory("Eat raw fish or meat", source=replace(said, quote="eat raw fish or meat"))
    whole = memory("I never eat raw fish or meat", source=replace(said, quote="I never eat raw fish or meat"))
    entries = [(one.memory_id, 0.5, RELEVANCE) for one in (message, half)]
    assert repeated(entries, {one.memory_id: one for one in (message, half)}) == {}
    entries[1] = (whole.memory_id, 0.5, RELEVANCE)
    rows = {one.memory_id: one for one in (message, whole)}
    assert repeated(entries, rows) == {message.memory_id: whole.memory_id}
