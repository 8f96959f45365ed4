"""Findings of `mnemic doctor` on what is configured."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Literal

import pytest

from mnemic.bootstrap import models
from mnemic.cli import doctor
from mnemic.cli.result_texts import receipt_text
from mnemic.cli.terminal import Exit
from mnemic.config import Settings
from mnemic.types import Outcome, WriteReceipt
from tests.scripted_model import ScriptedModelServer


def test_a_model_that_nobody_asked_for_is_not_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    found = doctor.model_finding(Settings())
    assert (found.ok, found.facts) == (None, {"configured": False})
    assert "MNEMIC_MODEL" in found.detail


def test_a_model_without_its_client_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    found = doctor.model_finding(Settings(model="own", model_url="http://127.0.0.1:1/v1"))
    assert found.ok is False
    assert "pip install 'mnemic[openai]'" in found.detail


def test_a_model_that_nobody_serves_is_a_fault_with_its_address() -> None:
    found = doctor.model_finding(Settings(model="own", model_url="http://me:hidden@127.0.0.1:1/v1"))
    assert (found.ok, found.code) == (False, Exit.MODEL)
    assert found.detail.startswith("own at http://127.0.0.1:1/v1; llm_")  # a busy machine is told apart no further


def _read_by(*quotes: str, model: str = "own", form: Literal["auto", "quotes"] = "auto") -> doctor.Finding:
    with ScriptedModelServer(lambda request: {"items": [{"quote": one} for one in quotes]}) as server:
        settings = Settings(model=model, model_url=server.base_url, api_key="test", model_form=form)
        return doctor.model_finding(settings)


def test_a_model_is_tried_with_a_message_of_two_facts() -> None:
    found = _read_by("We moved to Galway in May", "my sister Ada can't eat peanuts")
    assert (found.ok, found.facts["answers"], found.facts["quoted"], found.facts["calls"]) == (True, True, 2, 1)
    assert "it quotes 2 of 2 facts of a message" in found.detail


def test_a_model_that_finds_too_little_is_told_what_may_help() -> None:
    found = _read_by("We moved to Galway in May")
    assert (found.ok, found.facts["quoted"]) == (None, 1)
    assert "MNEMIC_MODEL_FORM=quotes" in found.detail
    assert "a larger model" in _read_by(form="quotes").detail


def test_a_model_that_only_talks_is_a_fault_that_says_what_reads_messages() -> None:
    with ScriptedModelServer(lambda request: "Lovely, thanks for telling me!") as server:
        found = doctor.model_finding(Settings(model="own", model_url=server.base_url, api_key="test"))
    assert (found.ok, found.code, found.facts["answers"]) == (False, Exit.MODEL, True)
    assert "the rules alone read messages" in found.detail


def test_where_a_model_was_asked_is_told_if_it_could_not_be_reached() -> None:
    settings = Settings(model="own", model_url="http://127.0.0.1:1/v1")
    assert doctor.model_asked(settings, "llm_unavailable") == "asked own at http://127.0.0.1:1/v1"
    assert doctor.model_asked(settings, "llm_invalid_json") is None
    assert "set MNEMIC_API_KEY" in (doctor.model_asked(settings, "invalid_config:api_key") or "")
    claude = Settings(model="anthropic:claude")
    asked = f"asked anthropic:claude at its own address: {doctor.TIME_SETTINGS}"
    assert doctor.model_asked(claude, "llm_timeout") == asked
    assert doctor.TIME_SETTINGS in (doctor.model_asked(claude, "max_seconds") or "")


def test_a_misspelt_variable_is_named_with_the_one_that_was_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("MNEMIC_"):
            monkeypatch.delenv(name)
    for name in ("MNEMIC_STORE", "MNEMIC_API_KEY_FILE", "MNEMIC_USER", "MNEMIC_SERVICE_PORT"):
        monkeypatch.setenv(name, "x")
    assert list(doctor._unknown_variables()) == []
    monkeypatch.setenv("MNEMIC_MODELL", "gpt")
    monkeypatch.setenv("MNEMIC_QQQQ", "1")
    (finding,) = doctor._unknown_variables()
    assert finding.facts == {"unknown": ["MNEMIC_MODELL (perhaps MNEMIC_MODEL?)", "MNEMIC_QQQQ"]}
    assert finding.ok is None


def test_a_memory_stored_without_a_vector_says_so_in_its_line() -> None:
    stored = WriteReceipt(outcome=Outcome.CREATED, memory_id="m", degraded=("vector",))
    assert "without a vector" in receipt_text(stored, "I like tea.")
    assert "vector" not in receipt_text(replace(stored, degraded=()), "I like tea.")
