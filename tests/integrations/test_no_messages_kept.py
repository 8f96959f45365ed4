"""Words that are said to an assistant are kept redacted; under a policy that keeps no messages, not at all."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path

import pytest

from mnemic import Actor, Policy, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.types import Kind
from tests.integrations.assistant import Given
from tests.integrations.test_contract import ASSISTANTS, short
from tests.scripted_model import ScriptedModelServer

ANA = Actor(user="ana")
SAID = ("I live in Turin.", "Hm, that zeppelin cartoon was a bit dull yesterday.")


@pytest.mark.parametrize("name", ASSISTANTS, ids=short)
async def test_an_assistant_keeps_no_words_that_the_policy_does_not_keep(name: str, tmp_path: Path) -> None:
    async with build_engine(
        Settings(store=str(tmp_path / "s.db")), policy=Policy(keep_messages=False, open_keys=True, keyless=True)
    ) as engine:
        await told(name, engine, tmp_path, SAID)
        kept = await engine.list(actor=ANA, limit=100)
        assert {one.kind for one in kept} == {Kind.LONG_TERM}
        assert [one.content for one in kept] == ["Turin"]
    assert b"zeppelin" not in _bytes(tmp_path)


@pytest.mark.parametrize("name", ASSISTANTS, ids=short)
async def test_the_words_that_an_assistant_keeps_are_redacted(name: str, tmp_path: Path) -> None:
    said = "My landlord's address is ana@example.com."
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as engine:
        await told(name, engine, tmp_path, [said])
        (kept,) = await engine.list(actor=ANA, kinds=[Kind.EPISODIC])
    assert kept.content.startswith("My landlord's address is [EMAIL#")
    assert b"ana@example.com" not in _bytes(tmp_path)


async def told(name: str, engine: MemoryEngine, folder: Path, said: Sequence[str]) -> None:
    """Say these texts to an assistant whose model says "Noted."."""
    module, _, kind = name.partition(":")
    build = getattr(import_module(f"tests.integrations.{module}"), kind)
    with ScriptedModelServer(["Noted."] * len(said)) as server:
        async with AsyncExitStack() as closing:
            home = folder / "f"
            home.mkdir()
            given = Given(engine=engine, actor=ANA, base_url=server.base_url, folder=home, closing=closing)
            assistant = build(given)
            for text in said:
                assert await assistant.say(text) == "Noted."


def _bytes(folder: Path) -> bytes:
    """Return the bytes of the store's files, also of what was deleted."""
    return b"".join(one.read_bytes() for one in folder.iterdir() if one.name.startswith("s.db"))
