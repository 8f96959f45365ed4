"""A repeated import changes nothing, whatever was learnt in between; an interrupted one continues where it ended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.file_import import Intake, Summary
from mnemic.engine import MemoryEngine
from mnemic.importers.conversation_files import read_conversation
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.speakers import with_user
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Memory, Message, Status
from tests.exports import FORMATS, exported

ANA = Actor(user="ana")
SAID = (
    "I live in Rome.",
    "Rex died.",
    "What is the weather like?",
    "I work as a nurse at Acme.",
    "I love jazz and I prefer aisle seats.",
    "My sister is called Mia.",
    "I moved to Milan in May.",
    "I sold my car last week.",
    "I am vegetarian.",
    "I no longer work at Acme.",
    "Yes, that is right.",
    "My sister Mia moved to Bergen.",
)
BETWEEN = (
    "I moved to Oslo.",
    "I have a dog called Rex.",
    "I prefer window seats now.",
    "I don't like jazz anymore.",
    "I am not a vegetarian anymore.",
    "I work as a teacher.",
    "The cat is called Miso.",
)


TOLD = (
    "We drove here in the van.",
    "I bought a Skoda last month.",
    "I started to play the cello.",
    "I sold the Skoda on Monday.",
    "I bought a Volvo.",
    "I stopped playing the cello.",
    "My mother lives in Turin.",
    "I sold the Volvo.",
)
"""Changes of earlier statements between people, whose single statements are rarely stored."""


@asynccontextmanager
async def opened(store: InProcessStore | None = None) -> AsyncIterator[MemoryEngine]:
    clock = ManualClock(datetime(2026, 6, 5, tzinfo=UTC))
    async with MemoryEngine(store=store or InProcessStore(), embedder=WordEmbedder(), clock=clock) as engine:
        yield engine


def items(path: Path, name: str) -> Iterator[Item]:
    return with_user(read_conversation(path, file_format=name), "Ana")


async def taken(engine: MemoryEngine, found: Iterator[Item], **options: Any) -> Summary:
    intake = Intake(engine=engine, actor=ANA, **options)
    return await intake.take(found, lambda _: None)


async def kept(engine: MemoryEngine) -> list[Memory]:
    """Every memory of the store, whatever its state."""
    return await engine.store.scan("default", statuses=tuple(Status))


async def stated(engine: MemoryEngine) -> list[tuple[object, ...]]:
    """Content of the memories of the store, without the identifiers and times that each import creates again."""
    found = [(str(one.kind), one.key or "", one.content, one.status.value, one.valid_to) for one in await kept(engine)]
    return sorted(found, key=str)


async def live_on(engine: MemoryEngine) -> None:
    for text in BETWEEN:
        engine.clock.advance(timedelta(days=1))
        await engine.capture(Message(role="user", content=text, sent_at=engine.clock.now(), session="later"), actor=ANA)
    engine.clock.advance(timedelta(days=1))


@pytest.mark.parametrize("name", FORMATS)
async def test_a_second_import_changes_nothing_that_was_learnt_in_between(tmp_path: Path, name: str) -> None:
    path = exported(tmp_path, name, *SAID)
    async with opened() as engine:
        first = await taken(engine, items(path, name))
        await live_on(engine)
        before = await kept(engine)
        lines = len(await engine.store.audit("default"))
        second = await taken(engine, items(path, name))
        assert await kept(engine) == before
        assert len(await engine.store.audit("default")) == lines
        assert (second.recorded, second.captured.total(), second.failed) == (0, 0, [])
        assert second.refreshed >= first.recorded > 0


@pytest.mark.parametrize("name", FORMATS)
async def test_forgotten_memories_stay_forgotten_when_their_file_comes_again(tmp_path: Path, name: str) -> None:
    path = exported(tmp_path, name, *SAID)
    async with opened() as engine:
        await taken(engine, items(path, name))
        for one in await engine.list(actor=ANA, limit=200):
            await engine.forget(one.memory_id, actor=ANA)
        before = await kept(engine)
        await taken(engine, items(path, name))
        assert await kept(engine) == before
        again = await taken(engine, items(path, name), again=True)
        assert again.recorded > 0


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("old", [1, 5, 9])
async def test_a_longer_export_adds_what_is_new_in_it(tmp_path: Path, name: str, old: int) -> None:
    async with opened() as engine, opened() as at_once:
        await taken(engine, items(exported(tmp_path, name, *SAID[:old]), name))
        path = exported(tmp_path, name, *SAID)
        await taken(engine, items(path, name))
        await taken(at_once, items(path, name))
        assert await stated(engine) == await stated(at_once)


async def test_notes_that_moved_down_in_their_file_are_known(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Home\nThe boiler is in the attic.\n", encoding="utf-8")
    async with opened() as engine:
        await taken(engine, items(path, "markdown"))
        (before,) = await kept(engine)
        path.write_text("# Garden\nThe roses need water.\n\n# Home\nThe boiler is in the attic.\n", encoding="utf-8")
        await taken(engine, items(path, "markdown"))
        assert [one for one in await kept(engine) if one.content == before.content] == [before]


async def test_messages_that_were_only_recorded_are_captured_when_that_is_wanted(tmp_path: Path) -> None:
    path = exported(tmp_path, "chatgpt", *SAID)
    async with opened() as engine, opened() as at_once:
        await taken(engine, items(path, "chatgpt"), extract=False)
        recorded = await kept(engine)
        second = await taken(engine, items(path, "chatgpt"))
        await taken(at_once, items(path, "chatgpt"))
        assert second.captured.total() > 0
        assert [one for one in await kept(engine) if one in recorded] == recorded
        assert await stated(engine) == await stated(at_once)


class Killed(Exception):
    """End of a process in the middle of an import."""


class MortalStore(InProcessStore):
    """Store of a process that is killed before its next commit, once no more are `left` to it."""

    left: float = float("inf")

    async def transact(self, *given: Any, **options: Any) -> Any:
        """Commit as long as the process lives."""
        if self.left <= 0:
            raise Killed
        self.left -= 1
        return await super().transact(*given, **options)


async def broken_off(found: Callable[[], Iterator[Item]], commits: int) -> tuple[bool, list[tuple[object, ...]]]:
    """Interrupt an import after so many commits and repeat it in a new process; return whether it was interrupted, and
    the content of the store.
    """
    store, killed = MortalStore(), False
    first = MemoryEngine(store=store, embedder=WordEmbedder(), clock=ManualClock(datetime(2026, 6, 5, tzinfo=UTC)))
    await first.open()
    store.left = commits
    try:
        await taken(first, found())
    except Killed:
        killed = True
    store.left = float("inf")
    async with opened(store) as engine:
        await taken(engine, found())
        return killed, await stated(engine)


def between_people(folder: Path, *said: str) -> Path:
    """Write a chat in which Ben answers each of these texts of Ana's."""
    told = (text for one in said for text in (f"Ana: {one}", "Ben: Good to know!"))
    lines = (f"{1 + at // 60:02}/03/2024, 21:{at % 60:02} - {text}\n" for at, text in enumerate(told))
    path = folder / "_chat.txt"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["sharegpt", "whatsapp", "mem0"])
async def test_an_import_that_was_killed_and_repeated_equals_one_that_ran_through(tmp_path: Path, name: str) -> None:
    path = between_people(tmp_path, *TOLD) if name == "whatsapp" else exported(tmp_path, name, *SAID)
    async with opened() as engine:
        await taken(engine, items(path, name))
        whole = await stated(engine)
    killed, commits = True, 0
    while killed:
        commits += 1
        killed, again = await broken_off(lambda: items(path, name), commits)
        assert again == whole, f"broken off after {commits} commits"
    assert commits > 4


@pytest.mark.parametrize("read", [1, 5, 11, 32, 33, 40])
async def test_an_import_that_stopped_after_some_messages_goes_on_with_the_next(tmp_path: Path, read: int) -> None:
    path = between_people(tmp_path, *TOLD, *SAID)
    async with opened() as at_once, opened() as engine:
        await taken(at_once, items(path, "whatsapp"))

        def some() -> Iterator[Item]:
            yield from islice(items(path, "whatsapp"), read)
            raise Killed

        with pytest.raises(Killed):
            await taken(engine, some())
        await taken(engine, items(path, "whatsapp"))
        assert await stated(engine) == await stated(at_once)


@pytest.mark.parametrize("name", FORMATS)
async def test_a_second_import_embeds_nothing_and_commits_nothing(tmp_path: Path, name: str) -> None:
    path, store, embedder = exported(tmp_path, name, *SAID), MortalStore(), WordEmbedder()
    async with MemoryEngine(store=store, embedder=embedder) as engine:
        await taken(engine, items(path, name))
        embedder.texts, store.left = 0, 1  # to read the stored entries
        await taken(engine, items(path, name))
        assert embedder.texts == 0


async def test_refused_statements_are_captured_once_they_are_allowed(tmp_path: Path) -> None:
    """The rest of their message is not imported, whatever was learnt in between."""
    path = exported(tmp_path, "sharegpt", "I prefer aisle seats, and Rex died.")
    async with opened() as engine:
        await engine.revoke_consent("seat", actor=ANA)
        first = await taken(engine, items(path, "sharegpt"))
        assert first.blocked["seat: consent_required:seat"] == 1
        await engine.capture("I have a dog called Rex.", actor=ANA)
        before = await kept(engine)
        await engine.grant_consent("seat", actor=ANA)
        second = await taken(engine, items(path, "sharegpt"))
        assert dict(second.captured) == {"seat": 1}
        assert [one for one in await kept(engine) if one in before] == before
        assert len(await kept(engine)) == len(before) + 2  # the seat, and its message
        third = await taken(engine, items(path, "sharegpt"))
        assert (third.captured.total(), third.blocked.total()) == (0, 0)
