"""Twenty-one ways to change something in seven languages, and nine kinds of statements that change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import Actor, Message
from mnemic.engine import MemoryEngine
from mnemic.types import Kind, Memory, Status
from mnemic_eval.replay import chosen_embedder, throwaway_engine

TOLD = Path(__file__).parent / "told"
BEGAN = datetime(2026, 5, 4, 9, tzinfo=UTC)
AT_ONCE = frozenset({"make that", "I meant", "actually", "denial"})
"""Ways that take up what was said just before, in the same talk."""
ENDS = frozenset({"quit", "denial", "cancelled", "sold", "died", "broke up", "got over", "no longer", "any more"})
"""Ways after which nothing need be told of it any more."""
UNSAID = frozenset({"hypotheticals", "jokes", "quotes", "questions"})
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
PATHS = ("record", "many", "add")


def lines(name: str, language: str, path: str) -> Iterator[tuple[str, list[str]]]:
    way = ""
    for line in (TOLD / f"{name}.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            way = line.strip("[]")
        elif line and not line.startswith("#"):
            mark, _, told = line.partition(" ")
            spoken, _, only = mark.partition(":")
            if spoken == language and only in ("", "add" if path == "add" else "capture"):
                yield way, [part.strip() for part in told.split("|")]


def dated(way: str, texts: list[str]) -> list[Message]:
    step = timedelta(minutes=1) if way in AT_ONCE else timedelta(days=20)
    return [
        Message(role="user", content=text, sent_at=BEGAN + place * step, session="s" if way in AT_ONCE else f"s{place}")
        for place, text in enumerate(texts)
    ]


async def told(
    engine: MemoryEngine, actor: Actor, messages: list[Message], path: str
) -> tuple[list[list[str]], dict[str, Memory]]:
    """Tell the messages on a path; return the memories of each, and what holds at the end."""
    made: list[list[str]] = []
    if path == "add":
        receipts = [await engine.add(one.content, actor=actor) for one in messages]
        made = [[one.memory_id] if one.memory_id else [] for one in receipts]
    elif path == "many":
        reports = await engine.capture_many(messages, actor=actor)
        made = [
            [one.memory_id for one in report.receipts if one.stored and one.memory_id] for report in reports if report
        ]
    else:
        for message in messages:
            if path == "record":
                await engine.record([message], actor=actor)
            report = await engine.capture(message, actor=actor)
            made.append([one.memory_id for one in report.receipts if one.stored and one.memory_id])
    listed = await engine.list(actor=actor, limit=100)
    live = [one for one in listed if one.kind is Kind.LONG_TERM and one.status is Status.ACTIVE and not one.valid_to]
    return made, {one.memory_id: one for one in live}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_change_closes_what_it_changes(language: str, path: str) -> None:
    wrong = []
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for number, (way, texts) in enumerate(lines("changes", language, path)):
            actor = Actor(user=f"u{number}")
            made, live = await told(engine, actor, dated(way, texts), path)
            outdated = made[1:-1] if way == "returning" else made[:-1]
            before = {one for ids in outdated for one in ids} - set(made[-1])
            still = [live[one].content for one in before if one in live and live[one].content != texts[-1]]
            if not made[0] or still or not (made[-1] or way in ENDS):
                wrong.append((way, texts, still))
    assert number > 40
    assert not wrong


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_is_about_something_else_closes_nothing(language: str, path: str) -> None:
    wrong = []
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for number, (way, texts) in enumerate(lines("beside", language, path)):
            made, live = await told(engine, Actor(user=f"u{number}"), dated(way, texts), path)
            unsaid = way in UNSAID and path != "add" and made[1]
            if not made[0] or not set(made[0]) <= set(live) or unsaid:
                wrong.append((way, texts, [one.content for one in live.values()]))
    assert number > 20
    assert not wrong
