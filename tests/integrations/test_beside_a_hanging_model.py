"""Whichever way a statement comes in, and whatever becomes of the model that reads it: it is known in the next turn."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import Settings, build_engine
from mnemic.types import Kind
from tests.integrations.ways_in import ANA, HERE, Way
from tests.scripted_model import Fault, Reply, ScriptedModelServer

TOLD = "Hi! I am allergic to peanuts."
ASKED = "What am I allergic to?"
WITH_A_MODEL_OF_ITS_OWN = ("mnemic chat",)
"""Ways that name their model themselves; a hanging one is tested with them."""


@pytest.mark.parametrize(
    "way", [one for one in HERE if one.hears and one.name not in WITH_A_MODEL_OF_ITS_OWN], ids=lambda way: way.name
)
async def test_a_statement_is_stored_and_shown_while_the_model_that_reads_it_hangs(
    way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.db"
    with ScriptedModelServer(lambda _: Reply.broken(Fault.HANG)) as hanging:
        monkeypatch.setenv("MNEMIC_MODEL", "scripted")
        monkeypatch.setenv("MNEMIC_MODEL_URL", hanging.base_url)
        monkeypatch.setenv("MNEMIC_API_KEY", "test")
        monkeypatch.setenv("MNEMIC_MODEL_TIMEOUT_SECONDS", "0.5")
        monkeypatch.setenv("MNEMIC_BACKGROUND_SECONDS", "0.01")
        async with way.opened(store) as say:
            await say(TOLD, datetime(2026, 1, 10, 9, tzinfo=UTC))
            async with build_engine(Settings(store=str(store))) as engine:
                held = await engine.list(actor=ANA, kinds=[Kind.LONG_TERM])
                assert ["peanuts" in one.content for one in held] == [True]
                shown = await engine.context(ASKED, actor=ANA)
                assert [one for one in shown.hits if "peanuts" in one.memory.content]
        assert hanging.requests
