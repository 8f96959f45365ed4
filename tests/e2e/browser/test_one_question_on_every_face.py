"""One question on every face: the library, the command line, REST, MCP and the console tell the same relevance, ranks,
sentence and abstention, and what a model is shown by an injection, a run or a tool is what the search found.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio
from click.testing import CliRunner
from mcp import Client
from playwright.async_api import Browser, Locator, Page, expect

from mnemic import Actor, MemoryManager, Message, Settings, build_engine
from mnemic.agents.mcp import memory_server
from mnemic.cli import cli
from mnemic.engine import MemoryEngine
from mnemic.testing.clock import ManualClock
from mnemic_client import connect
from tests.e2e.browser.chromium import signed_in, visit
from tests.e2e.browser.stage import Stage
from tests.service import Served, serving

pytestmark = pytest.mark.asyncio(loop_scope="session")

IDA = Actor(user="ida")
TOLD = (
    ("2026-01-10", "I live in Valencia."),
    ("2026-01-11", "My cousin Teresa restores violins."),
    ("2026-01-12", "I can't stand seafood."),
    ("2026-01-20", "My cousin Pavel drives a tram."),
    ("2026-02-02", "I play badminton on Mondays."),
    ("2026-02-03", "I go climbing with Noor."),
    ("2026-02-20", "Mein Hausarzt heißt Doktor Seifert."),
    ("2026-03-01", "My passport expires in May 2031."),
    ("2026-04-20", "I moved to Madrid in April 2026."),
)
SAID = (("2026-03-14", "Noor fell off the wall today and sprained her wrist."), ("2026-03-15", "The bike has a flat."))
MANY = 20
"""Hits that the console asks for; more than there are memories."""
UNTOLD = -1.0
"""In place of the score of what is only new, which the console does not show."""
PLACE = re.compile(r"#(\d+) by (.+?)(?: score (\S+))?")
ASKED_AT = datetime(2026, 6, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Question:
    """`wanted` is in what is found first; None where nothing answers, and every face abstains. `depends`: nothing is
    about it, and the answer depends on what is wanted.
    """

    name: str
    text: str
    wanted: str | None
    asked_at: datetime | None = None
    depends: bool = False


QUESTIONS = (
    Question("a fact", "What does my cousin Teresa do?", "violins"),
    Question("a recommendation", "Recommend a restaurant for tonight.", "seafood", depends=True),
    Question("a past value", "Where did I live in March?", "Valencia", ASKED_AT),
    Question("the value of today", "Where do I live?", "Madrid"),
    Question("a message of a chat", "How did Noor sprain her wrist?", "sprained"),
    Question("an unknown", "What is my blood type?", None),
    Question("small talk", "Hi, how are you today?", None),
    Question("coding", "Fix this Python bug: IndexError: list index out of range", None),
    Question("a set", "Which sports do I do?", "badminton"),
    Question("another language", "Wie heißt mein Hausarzt?", "Seifert"),
)

Seen = tuple[str, float | None, Mapping[str, Any], str]
"""Content, relevance, ranks by name, and the sentence."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits in their order, and whether nothing about the question is known."""

    hits: list[Seen]
    abstains: bool


def of_result(result: Any) -> Answer:
    hits = [(hit.memory.content, hit.relevance, _ranks(hit.ranks), hit.why) for hit in result.hits]
    return Answer(hits, bool(getattr(result, "abstains", getattr(result, "abstained", False))))


def of_json(result: Mapping[str, Any]) -> Answer:
    hits = [(hit["memory"]["content"], hit["relevance"], _ranks(hit["ranks"]), hit["why"]) for hit in result["hits"]]
    return Answer(hits, bool(result.get("abstains", result.get("abstained", False))))


def _ranks(ranks: Mapping[str, Any]) -> dict[str, tuple[int, float]]:
    named = {name: rank if isinstance(rank, Mapping) else rank._asdict() for name, rank in ranks.items()}
    return {name: (rank["position"], rank["score"]) for name, rank in named.items()}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service on the file that every face reads."""
    folder = tmp_path_factory.mktemp("faces")

    async def tell() -> None:
        clock = ManualClock(datetime(2026, 1, 1, tzinfo=UTC))
        async with build_engine(Settings(store=str(folder / "s.db")), clock=clock) as engine:
            for day, text in sorted(TOLD + SAID):
                at = datetime.fromisoformat(f"{day}T09:00:00+00:00")
                clock.advance(at - clock.now())
                said = Message(role="user", content=text, sent_at=at, session=day)
                await (engine.record([said], actor=IDA) if (day, text) in SAID else engine.capture(said, actor=IDA))

    asyncio.run(tell())
    with serving(folder) as running:
        with connect(running.address, api_key=running.key("reader", "writer", user="ida")) as client:
            client.search("cousin")  # loads the embedder, for which an injection has two seconds
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def engine(served: Served) -> AsyncIterator[MemoryEngine]:
    async with build_engine(Settings(store=str(served.store))) as one:
        yield one


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(browser: Browser, served: Served) -> AsyncIterator[Page]:
    key = served.key("reader", "writer", user="ida")
    window = await signed_in(browser, Stage(address=served.address, store=served.store, keys={"ida": key}), "ida")
    yield window
    await window.context.close()


@pytest.fixture(scope="module")
def rest(served: Served) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {served.key('reader', 'writer', user='ida')}"}
    with httpx.Client(base_url=served.address, headers=headers, timeout=60) as one:
        yield one


def posted(rest: httpx.Client, place: str, name: str, question: Question, **given: Any) -> Answer:
    moment = {} if question.asked_at is None else {"asked_at": question.asked_at.isoformat()}
    answer = rest.post(f"/v1/{place}", json={name: question.text, **moment, **given})
    assert answer.status_code == 200, answer.text
    return of_json(answer.json())


def on_the_command_line(store: Path, question: Question) -> Answer:
    moment = () if question.asked_at is None else ("--asked-at", question.asked_at.isoformat())
    words = ("--store", str(store), "--user", "ida", "search", question.text, "-k", str(MANY), "--json", *moment)
    done = CliRunner().invoke(cli, words, prog_name="mnemic")
    assert done.exit_code == 0, done.output
    return of_json(json.loads(done.stdout))


async def in_the_console(page: Page, question: Question) -> Answer:
    moment = "" if question.asked_at is None else f"&asked_at={question.asked_at.date()}"
    await visit(page, f"search?q={quote(question.text)}{moment}")
    await expect(page.locator("article").first).to_be_attached()
    cards = await page.locator("article").all()
    note = await page.get_by_text("No memory seems relevant").count()
    return Answer([await on_a_card(one) for one in cards], note == 1)


async def on_a_card(card: Locator) -> Seen:
    """Read a hit as the console shows it: names of lists are words there."""
    shares = await card.locator("meter").evaluate_all("all => all.map(one => one.value)")
    ranks = {}
    for line in await card.locator(".ranks li").all_text_contents():
        place, name, score = PLACE.fullmatch(line).groups()  # type: ignore[union-attr]
        ranks[name] = (int(place), UNTOLD if score is None else float(score))
    content = await card.locator("h2").text_content()
    return content or "", shares[0], ranks, await card.locator(".told").text_content() or ""


def rounded(answer: Answer) -> Answer:
    """Round what faces that write JSON round."""
    hits = [
        (content, share, {name: (at, round(score, 6)) for name, (at, score) in ranks.items()}, why)
        for content, share, ranks, why in answer.hits
    ]
    return Answer(hits, answer.abstains)


def as_the_console_shows(answer: Answer) -> Answer:
    """Put places of lists for their names, which are words there, and no score for what is only new; who said it stands
    above the reason there.
    """
    hits: list[Seen] = []
    for content, share, ranks, why in answer.hits:
        places = sorted((at, UNTOLD if name == "recency" else score) for name, (at, score) in ranks.items())
        told = "; ".join(one for one in why.split("; ") if not one.startswith("said by "))
        hits.append((content, share, {"places": places}, told))
    return Answer(hits, answer.abstains)


def in_places(answer: Answer) -> Answer:
    """Return what was read in the console in the same form: a value alone has the name of its key before it there."""
    hits = [
        (one.removeprefix("Home city: "), share, {"places": sorted(ranks.values())}, why)
        for one, share, ranks, why in answer.hits
    ]
    return Answer(hits, answer.abstains)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
async def test_a_search_says_the_same_on_every_face(
    question: Question, engine: MemoryEngine, served: Served, rest: httpx.Client, page: Page
) -> None:
    found = of_result(await engine.search(question.text, actor=IDA, top_k=MANY, asked_at=question.asked_at))
    assert found.abstains is (question.wanted is None or question.depends)
    if not found.abstains:
        assert question.wanted in found.hits[0][0]
        assert all(share is not None and ranks and why for _, share, ranks, why in found.hits)

    def blocking() -> tuple[Answer, Answer]:
        with MemoryManager("ida", store=served.store) as memory:
            here = of_result(memory.search(question.text, top_k=MANY, asked_at=question.asked_at))
        with connect(served.address, api_key=served.key("reader", "writer", user="ida")) as client:
            return here, of_result(client.search(question.text, top_k=MANY, asked_at=question.asked_at))

    by_manager, by_client = await asyncio.to_thread(blocking)
    assert by_manager == found
    assert by_client == rounded(found)
    assert posted(rest, "search", "query", question, top_k=MANY) == rounded(found)
    assert await asyncio.to_thread(on_the_command_line, served.store, question) == rounded(found)
    assert in_places(await in_the_console(page, question)) == as_the_console_shows(rounded(found))


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
async def test_a_model_is_shown_the_same_on_every_face(
    question: Question, engine: MemoryEngine, served: Served, rest: httpx.Client
) -> None:
    searched = of_result(await engine.search(question.text, actor=IDA, top_k=MANY, asked_at=question.asked_at))
    shown = of_result(await engine.context(question.text, actor=IDA, asked_at=question.asked_at))
    assert shown.abstains is (question.wanted is None)
    assert shown.abstains is (not shown.hits)
    assert question.wanted is None or any(question.wanted in content for content, *_ in shown.hits)
    by_search = {content: (share, ranks) for content, share, ranks, _ in searched.hits}
    assert [by_search[content] for content, *_ in shown.hits] == [(share, ranks) for _, share, ranks, _ in shown.hits]

    run = await engine.run(actor=IDA, goal=question.text, asked_at=question.asked_at)
    assert of_result(run).hits == shown.hits

    def blocking() -> Answer:
        with connect(served.address, api_key=served.key("reader", "writer", user="ida")) as client:
            return of_result(client.context(question.text, asked_at=question.asked_at))

    assert await asyncio.to_thread(blocking) == rounded(shown)
    assert posted(rest, "context", "query", question) == rounded(shown)
    assert posted(rest, "runs", "goal", question).hits == rounded(shown).hits
    moment = {} if question.asked_at is None else {"asked_at": question.asked_at.isoformat()}
    async with Client(memory_server(engine, IDA)) as client:
        found = await client.call_tool("search_memory", {"query": question.text, **moment})
    assert found.structured_content is not None
    told = found.structured_content["memories"]
    assert [(one["relevance"], one["why"]) for one in told] == [(round(hit[1] or 0.0, 2), hit[3]) for hit in shown.hits]
    # A tool names the key of a value before it, and until when it held.
    assert all(content in one["content"] for one, (content, *_) in zip(told, shown.hits, strict=True))
