"""One table of ten things that changed, told on every way: the state of an earlier time is found as of that time, and
by a question that names it, in a search and in the block that a model is shown.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from mnemic import Candidate
from mnemic.engine import MemoryEngine
from mnemic_client import connect
from tests.integrations.ways_in import ANA, HERE, through_frameworks, timed
from tests.service import Served, run, serving

NOW = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)
JUNE = datetime(2024, 6, 15, tzinfo=UTC)

# What was told first and later, a question about it, the one about June, and a word of the answer for June and for now.
TABLE = [
    (
        "I moved to Leiden on 3 May 2024.",
        "I moved to Delft on 20 October 2024.",
        "Where do I live?",
        "Where did I live in June 2024?",
        "Leiden",
        "Delft",
    ),
    (
        "I started at Philips on 1 February 2024.",
        "I started at ASML on 1 September 2024.",
        "Where do I work?",
        "Where did I work in June 2024?",
        "Philips",
        "ASML",
    ),
    (
        "I have been vegetarian since 2015.",
        "I have been vegan since October 2024.",
        "Am I vegetarian?",
        "Was I vegetarian or vegan in June 2024?",
        "vegetarian",
        "vegan",
    ),
    (
        "I have driven a Skoda since March 2024.",
        "I have driven a Volvo since October 2024.",
        "Which car do I drive?",
        "Which car did I drive in June 2024?",
        "Skoda",
        "Volvo",
    ),
    (
        "My dentist has been Dr. Wolf since 2020.",
        "My dentist has been Dr. Blum since October 2024.",
        "Who is my dentist?",
        "Who was my dentist in June 2024?",
        "Wolf",
        "Blum",
    ),
    (
        "My phone contract has been with Vodafone since 2020.",
        "My phone contract has been with KPN since September 2024.",
        "Who is my phone contract with?",
        "Who was my phone contract with in June 2024?",
        "Vodafone",
        "KPN",
    ),
    (
        "My rent has been 900 euros since January 2024.",
        "My rent has been 950 euros since October 2024.",
        "What is my rent?",
        "What was my rent in June 2024?",
        "900",
        "950",
    ),
    (
        "I have sung in the choir Cantabile since 2019.",
        "I have sung in the choir Lumen since November 2024.",
        "Which choir do I sing in?",
        "Which choir did I sing in in June 2024?",
        "Cantabile",
        "Lumen",
    ),
    (
        "My daughter has gone to the Maple School since 2022.",
        "My daughter has gone to the Birch School since August 2024.",
        "Which school does my daughter go to?",
        "Which school did my daughter go to in June 2024?",
        "Maple",
        "Birch",
    ),
    (
        "Mein Hausarzt ist seit Mai 2023 Dr. Sommer.",
        "Mein Hausarzt ist seit Oktober 2024 Dr. Winter.",
        "Wer ist mein Hausarzt?",
        "Wer war mein Hausarzt im Juni 2024?",
        "Sommer",
        "Winter",
    ),
]
Tell = Callable[[str, datetime], Awaitable[Any]]


def without_time(form: Callable[[MemoryEngine, str], Awaitable[Any]]) -> Any:
    @asynccontextmanager
    async def opened(store: Path) -> AsyncIterator[Tell]:
        async with timed(store) as (engine, advance):

            async def tell(text: str, at: datetime) -> Any:
                advance(at)
                return await form(engine, text)

            yield tell

    return opened


WAYS = {
    "capture without a time": without_time(lambda engine, text: engine.capture(text, actor=ANA)),
    "run without a time": without_time(
        lambda engine, text: engine.run(message=text, actor=ANA, goal="Answer in one sentence.")
    ),
    "add many": without_time(lambda engine, text: engine.add_many([Candidate(content=text)], actor=ANA)),
    **{one.name: one.opened for one in HERE if one.understands},
    **{one.name: one.opened for one in through_frameworks},
}


def not_then(shown: Sequence[str], then: str, now: str) -> Sequence[str] | None:
    """What is shown, if the value of that time does not stand before that of today."""
    told = [one for one in shown if then in one or now in one]
    return None if told and then in told[0] else shown


def by_service(served: Served, key: str) -> dict[str, Callable[[str, datetime | None], list[str]]]:
    """The ways to ask a service, each with what it shows: a time is that of the state, else it is in the question."""
    bearer = {"Authorization": f"Bearer {key}"}

    def command(asked: str, as_of: datetime | None) -> list[str]:
        at = () if as_of is None else ("--as-of", as_of.isoformat())
        done = run(served.store.parent, "search", asked, *at, "--user", "ana", "--json")
        assert done.returncode == 0, done.stderr
        return [one["memory"]["content"] for one in json.loads(done.stdout)["hits"]]

    def rest(asked: str, as_of: datetime | None) -> list[str]:
        body = {"query": asked, **({} if as_of is None else {"as_of": as_of.isoformat()})}
        answer = httpx.post(f"{served.address}/v1/search", json=body, headers=bearer, timeout=60)
        return [one["memory"]["content"] for one in answer.json()["hits"]]

    def block(asked: str, _: datetime | None) -> list[str]:
        body = {"query": asked}
        answer = httpx.post(f"{served.address}/v1/context", json=body, headers=bearer, timeout=60)
        return [one for one in answer.json()["text"].splitlines() if one.startswith("<entry")]

    return {"command line": command, "POST /v1/search": rest, "POST /v1/context": block}


def test_the_state_of_an_earlier_time_is_found_whichever_way_it_is_asked_for(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        key = served.key("reader", "writer")
        with connect(served.address, api_key=key) as client:
            for place in (0, 1):
                for row in TABLE:
                    client.add(row[place])
        found = {}
        for _, _, asked, about_june, then, now in TABLE:
            for name, ask in by_service(served, key).items():
                if name != "POST /v1/context":  # a block has no time but that of the question
                    found[name, "as of", asked] = not_then(ask(asked, JUNE), then, now)
                found[name, about_june] = not_then(ask(about_june, None), then, now)
    assert {place: shown for place, shown in found.items() if shown is not None} == {}


FURTHER = {one.name for one in through_frameworks}


@pytest.mark.parametrize(
    "way", [pytest.param(name, marks=pytest.mark.extended if name in FURTHER else ()) for name in WAYS]
)
async def test_the_state_of_an_earlier_time_is_found_whichever_way_it_was_told(way: str, tmp_path: Path) -> None:
    store = tmp_path / "memory" / "s.db"
    store.parent.mkdir()
    async with WAYS[way](store) as tell:
        for hours, texts in enumerate((first for first, *_ in TABLE), 1):
            await tell(texts, NOW + timedelta(hours=hours))
        for hours, texts in enumerate((later for _, later, *_ in TABLE), 30):
            await tell(texts, NOW + timedelta(hours=hours))
    async with timed(store) as (engine, advance):
        advance(NOW + timedelta(days=7))
        found: dict[tuple[str, str], Sequence[str] | None] = {}
        for _, _, asked, about_june, then, now in TABLE:
            as_of = await engine.search(asked, as_of=JUNE, actor=ANA)
            searched = await engine.search(about_june, actor=ANA)
            block = await engine.context(about_june, actor=ANA)
            found["as of", asked] = not_then([one.content for one in as_of.hits], then, now)
            found["search", about_june] = not_then([one.content for one in searched.hits], then, now)
            found["block", about_june] = not_then([one.content for one in block.hits], then, now)
    assert {place: shown for place, shown in found.items() if shown is not None} == {}
