"""At most so many of one conversation first: nothing is lost, nothing else moves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.retrieve.diversity import repetitions, spread, without_repetitions
from mnemic.retrieve.policy_candidates import RELEVANCE
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import memory
from mnemic.types import Actor, Kind, Message, Signals, Source

WHEN = datetime(2024, 1, 1, tzinfo=UTC)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=20), st.integers(1, 4))
def test_the_first_of_each_session_come_before_the_rest_in_their_order(sessions: list[str | None], most: int) -> None:
    entries = [(str(place), 1.0, "relevance") for place in range(len(sessions))]
    signals = {
        str(place): Signals(str(place), WHEN, session, 0 if session else -1) for place, session in enumerate(sessions)
    }
    found = spread(entries, signals, most)
    assert sorted(found) == sorted(entries)
    seen: Counter[str | None] = Counter()
    beyond = []
    for entry in entries:
        session = sessions[int(entry[0])]
        seen[session] += 1
        beyond.append(session is not None and seen[session] > most)
    expected = [one for one, late in zip(entries, beyond, strict=True) if not late]
    assert found == [*expected, *(one for one, late in zip(entries, beyond, strict=True) if late)]
    assert spread(entries, signals, None) == entries


async def test_a_search_with_a_cap_finds_other_conversations(tmp_path: Path) -> None:
    ana = Actor(user="ana")
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        said = [("one", f"Pottery pottery clay {number}") for number in range(4)] + [("two", "Clay once")]
        await engine.record([Message(role="user", content=text, session=name) for name, text in said], actor=ana)
        asked = {"actor": ana, "top_k": 3}
        plain = await engine.search("pottery clay", **asked)
        engine.gateway.searcher.per_session = 2
        other = await engine.search("pottery clay", **asked)
    assert {hit.memory.source.session for hit in plain.hits} == {"one"}
    assert [hit.memory.source.session for hit in other.hits] == ["one", "one", "two"]


def test_what_was_said_once_is_shown_once_in_the_better_place() -> None:
    said = Source(session="one")
    message = memory("adoro fado!", kind=Kind.EPISODIC, source=said)
    made = memory("Adoro fado", source=replace(said, quote="adoro fado"))
    other = memory("I play the flute.", source=said)
    rows = {one.memory_id: one for one in (message, made, other)}
    entries = [(message.memory_id, 0.5, RELEVANCE), (other.memory_id, 0.4, RELEVANCE), (made.memory_id, 0.1, RELEVANCE)]
    assert without_repetitions(entries, repetitions(entries, rows)) == [(made.memory_id, 0.5, RELEVANCE), entries[1]]
    for changed in (
        replace(message, content="Adoro fado, e tu?"),
        replace(message, source=Source(session="two")),
        replace(message, source=replace(said, speaker="assistant")),
    ):
        assert repetitions(entries, rows | {message.memory_id: changed}) == {}


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
    assert without_repetitions(entries, repetitions(entries, rows)) == [entries[2]]
    assert without_repetitions(entries[:2], repetitions(entries[:2], rows)) == [entries[0]]
    other_day = replace(again, created_at=again.created_at + timedelta(days=1))
    assert len(without_repetitions(entries[:2], repetitions(entries[:2], rows | {again.memory_id: other_day}))) == 2
