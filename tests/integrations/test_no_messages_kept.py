"""A policy that keeps no messages: of what is said to an assistant only what was understood remains."""

from __future__ import annotations

from contextlib import AsyncExitStack
from importlib import import_module
from pathlib import Path

import pytest

from mnemic import Actor, Policy, Settings, build_engine
from mnemic.types import Kind
from mnemic_testing.scripted_model import ScriptedModelServer
from tests.integrations.assistant import Given
from tests.integrations.test_contract import ASSISTANTS, short

ANA = Actor(user="ana")
SAID = ("I live in Turin.", "Hm, that zeppelin cartoon was a bit dull yesterday.")


@pytest.mark.parametrize("name", ASSISTANTS, ids=short)
async def test_an_assistant_keeps_no_words_that_the_policy_does_not_keep(name: str, tmp_path: Path) -> None:
    module, _, kind = name.partition(":")
    build = getattr(import_module(f"tests.integrations.{module}"), kind)
    async with build_engine(
        Settings(store=str(tmp_path / "s.db")), policy=Policy(keep_messages=False, open_keys=True, keyless=True)
    ) as engine:
        with ScriptedModelServer(["Noted."] * len(SAID)) as server:
            async with AsyncExitStack() as closing:
                folder = tmp_path / "f"
                folder.mkdir()
                given = Given(engine=engine, actor=ANA, base_url=server.base_url, folder=folder, closing=closing)
                assistant = build(given)
                for text in SAID:
                    assert await assistant.say(text) == "Noted."
        kept = await engine.list(actor=ANA, limit=100)
        assert {one.kind for one in kept} == {Kind.LONG_TERM}
        assert [one.content for one in kept] == ["Turin"]
    assert b"zeppelin" not in _bytes(tmp_path)


def _bytes(folder: Path) -> bytes:
    """Return the bytes of the store's files, also of what was deleted."""
    return b"".join(one.read_bytes() for one in folder.iterdir() if one.name.startswith("s.db"))
