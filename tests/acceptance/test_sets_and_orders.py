"""Questions for a set, a number or an order, and by the names that others use, asked of an imported-like chat.

Two people write to each other over months; most of what they write has nothing to do with the questions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic.bootstrap import build_embedder
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.inject import injector_for
from mnemic.retrieve.time_questions import asks_order
from mnemic.runtime.clock import SystemClock
from mnemic.stores.sqlite import SqliteStore
from mnemic.types import Actor, Message
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


ANA = Actor(user="ana")
BEGAN = datetime(2025, 1, 6, 9, tzinfo=UTC)
SPORTS = (
    "On Sundays I play badminton with my cousin now.",
    "I signed up for a rowing course at the river club.",
    "My knee is better, so I went bouldering again yesterday.",
)
TRIPS = (
    (12, "We spent the weekend in Porto, the bridges are lovely."),
    (40, "Just back from Ghent, we took the canal tour."),
    (75, "Greetings from Turku! We took a sauna by the sea."),
)
BOOKS = (
    (5, "I finished reading Middlemarch, what a book."),
    (33, "I read The Leopard on the train, a beautiful book."),
    (60, "The next book I finished reading was Stoner."),
    (82, "I read Piranesi in two days, my favourite book so far."),
)
SMALL = (
    "The bakery on the corner has new opening hours.",
    "It rained the whole afternoon here.",
    "Did you hear that the old cinema closes?",
    "My neighbour finally repaired the fence.",
    "I am so tired of these long meetings.",
    "The soup turned out too salty, sadly.",
)


def chat() -> list[Message]:
    """Ninety days of two people, one small remark each a day, and what the questions are about."""
    told: list[tuple[int, str, str]] = [
        (day, name, f"{SMALL[(day + place) % len(SMALL)]} ({day})")
        for day in range(90)
        for place, name in enumerate(("Benjamin", "Caroline"))
    ]
    told += [(20 * place + 8, "Caroline", text) for place, text in enumerate(SPORTS)]
    told += [(day, "Caroline", text) for day, text in (*TRIPS, *BOOKS)]
    told += [(15, "Caroline", "Thanks for the help, Benny!"), (50, "Caroline", "Well done, Benny, see you soon.")]
    told += [(51, "Benjamin", "I repainted the garden shed in dark green.")]
    told += [(52, "Caroline", "I repainted my bedroom in a warm yellow.")]
    return [
        Message(
            role="user",
            speaker=name,
            content=text,
            session=f"day-{day}",
            message_id=f"{day}-{number}",
            sent_at=BEGAN + timedelta(days=day, minutes=number % 60),
        )
        for number, (day, name, text) in enumerate(sorted(told, key=lambda one: one[0]))
    ]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    embedder = build_embedder(Settings.load(), SystemClock())
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=embedder) as opened:
        await opened.record(chat(), actor=ANA)
        yield opened


async def found(engine: MemoryEngine, question: str, top_k: int = 10) -> list[str]:
    result = await engine.search(question, actor=ANA, top_k=top_k)
    return [hit.memory.content for hit in result.hits]


async def shown(engine: MemoryEngine, question: str) -> list[str]:
    injection = await injector_for(engine, ANA).inject([{"role": "user", "content": question}])
    return [entry.hit.memory.content for entry in injection.entries if entry.hit is not None]


async def test_which_sports_finds_them_all(engine: MemoryEngine) -> None:
    assert set(SPORTS) <= set(await found(engine, "Which sports does Caroline do?", 5))


async def test_events_come_in_the_order_of_their_times(engine: MemoryEngine) -> None:
    texts = [text for _, text in TRIPS]
    said = [
        text
        for text in await shown(engine, "In which order did Caroline visit Turku, Porto and Ghent?")
        if text in texts
    ]
    assert said == texts


async def test_a_count_is_shown_all_that_it_counts(engine: MemoryEngine) -> None:
    books = {text for _, text in BOOKS}
    assert books <= set(await shown(engine, "How many books did Caroline read?"))


def test_an_order_is_asked_for_by_words_of_time() -> None:
    EXAMPLES.assert_right(asks_order, "an_order_is_asked_for_by_words_of_time")
