"""Findings of `mnemic doctor` on what is configured."""

from __future__ import annotations

import pytest

from mnemic.bootstrap import models
from mnemic.cli import health
from mnemic.cli.failures import Exit
from mnemic.config import Settings
from mnemic.testing.scripted_model import ScriptedModelServer


def test_a_model_that_nobody_asked_for_is_not_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    found = health.model_finding(Settings())
    assert (found.ok, found.facts) == (None, {"configured": False})
    assert "MNEMIC_MODEL" in found.detail


def test_a_model_without_its_client_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    found = health.model_finding(Settings(model="own", model_url="http://127.0.0.1:1/v1"))
    assert found.ok is False
    assert "pip install 'mnemic[openai]'" in found.detail


def test_a_model_that_nobody_serves_is_a_fault_with_its_address() -> None:
    found = health.model_finding(Settings(model="own", model_url="http://me:hidden@127.0.0.1:1/v1"))
    assert (found.ok, found.code) == (False, Exit.MODEL)
    assert found.detail.startswith("own at http://127.0.0.1:1/v1; llm_")  # a busy machine is told apart no further


def test_a_model_that_answers_was_asked() -> None:
    with ScriptedModelServer(lambda request: {"ok": True}) as server:
        found = health.model_finding(Settings(model="own", model_url=server.base_url, api_key="test"))
    assert (found.ok, found.facts) == (True, {"configured": True, "answers": True})


def test_where_a_model_was_asked_is_told_if_it_could_not_be_reached() -> None:
    settings = Settings(model="own", model_url="http://127.0.0.1:1/v1")
    assert health.model_asked(settings, "llm_unavailable") == "asked own at http://127.0.0.1:1/v1"
    assert health.model_asked(settings, "llm_invalid_json") is None
    claude = Settings(model="anthropic:claude")
    asked = f"asked anthropic:claude at its own address: {health.TIME_SETTINGS}"
    assert health.model_asked(claude, "llm_timeout") == asked
    assert health.TIME_SETTINGS in (health.model_asked(claude, "max_seconds") or "")
