"""Whose words a message of a program has: another person's name, and what the program puts beside the user's text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemic import Message, Settings, build_engine
from mnemic.agents.turns import latest_asks
from mnemic.engine import MemoryEngine
from mnemic.extract import is_name_of
from mnemic.types import Actor, Origin

ANA = Actor(user="ana.diaz")
SAID = "I live in Porto and I am vegan."


def blocks(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


@pytest.mark.parametrize(
    ("name", "user", "own"),
    [
        (None, "ana", True),
        ("Ana", "ana.diaz@example.com", True),
        ("ana_diaz", "ana.diaz", True),
        ("user", "u-17", True),
        ("Bob", "ana", False),
        ("Ana Bell", "ana.diaz", False),
        ("Ana", "anabel", False),
    ],
)
def test_a_name_is_the_users_if_its_parts_are_parts_of_the_users(name: str | None, user: str, own: bool) -> None:
    assert is_name_of(name, user) is own


@pytest.mark.parametrize("form", ["capture_many", "remember", "record", "adapter"])
@pytest.mark.parametrize(("name", "own"), [("Bob", False), ("Ana", True)])
async def test_words_under_another_name_are_not_the_users(form: str, name: str, own: bool, tmp_path: Path) -> None:
    message = {"role": "user", "name": name, "content": SAID}
    async with build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine:
        if form == "capture_many":
            await engine.capture_many([message], actor=ANA)
        elif form == "remember":
            await engine.remember([message], actor=ANA)
        elif form == "record":
            await engine.record([message], actor=ANA)
            (kept,) = await engine.list(actor=ANA)
            assert ("participant" in kept.data) is not own
            return
        else:
            assert latest_asks([message], ANA.user) == ([SAID] if own else [])
            return
        keys = await keys_in(engine)
    assert keys == ({"home_city", "diet"} if own else set())


@pytest.mark.parametrize("verb", ["capture", "capture_many", "remember"])
@pytest.mark.parametrize(
    ("origin", "speaker", "own"),
    [(Origin.USER_STATED, "Bob", False), (Origin.USER_STATED, "Ana", True), (Origin.IMPORT, "Grandma", True)],
)
async def test_a_message_under_another_name_is_not_the_users(
    verb: str, origin: Origin, speaker: str, own: bool, tmp_path: Path
) -> None:
    said = Message(role="user", content=SAID, speaker=speaker, origin=origin)
    async with build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine:
        if verb == "capture":
            await engine.capture(said, actor=ANA)
        elif verb == "capture_many":
            await engine.capture_many([said], actor=ANA)
        else:
            await engine.remember([said], actor=ANA)
        # In an import its owner names himself to the reader, and the role says whose a message is.
        assert await keys_in(engine) == ({"home_city", "diet"} if own else set())


@pytest.mark.parametrize(
    "given", [blocks(f"Profile of a guest\n{SAID}", "Summarise it."), blocks(f"# bio\n{SAID}\n", "Ok?")]
)
async def test_a_text_that_a_program_puts_beside_the_users_is_shown(given: dict[str, Any], tmp_path: Path) -> None:
    async with build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine:
        await engine.capture_many([given], actor=ANA)
        for text in latest_asks([given], ANA.user):
            await engine.capture(text, actor=ANA)
        assert await keys_in(engine) == set()


async def test_the_users_words_in_two_blocks_are_the_users(tmp_path: Path) -> None:
    async with build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine:
        await engine.capture_many([blocks("I live in Porto.", "I am vegan.")], actor=ANA)
        assert await keys_in(engine) == {"home_city", "diet"}


async def test_a_text_that_was_announced_or_asked_for_is_shown(tmp_path: Path) -> None:
    async with build_engine(Settings(store=str(tmp_path / "memory.db"))) as engine:
        talk = [{"role": "assistant", "content": "Please paste the letter."}, {"role": "user", "content": SAID}]
        await engine.capture_many(talk, actor=ANA)
        assert await keys_in(engine) == set()
        talk += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "I live in Faro."}]
        await engine.capture_many(talk[2:], actor=ANA)
        assert await keys_in(engine) == {"home_city"}


async def keys_in(engine: MemoryEngine) -> set[str]:
    return {one.key for one in await engine.list(actor=ANA) if one.key}
