"""Findings of `mnemic doctor` on what is configured."""

from __future__ import annotations

import pytest

from mnemic.bootstrap import models
from mnemic.config import Settings
from mnemic_cli import health


def test_a_model_that_nobody_asked_for_is_not_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    found = health._model(Settings())
    assert (found.ok, found.facts) == (None, {"configured": False})
    assert "MNEMIC_MODEL" in found.detail


@pytest.mark.parametrize(("installed", "ok"), [(True, None), (False, False)])
def test_a_model_without_its_client_is_a_fault(
    installed: bool, ok: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: object() if installed else None)
    found = health._model(Settings(model="own", model_url="http://127.0.0.1:1/v1"))
    assert found.ok is ok
    assert ("pip install 'mnemic[openai]'" in found.detail) is not installed


def test_the_model_of_a_plugin_needs_no_such_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "find_spec", lambda _: None)
    assert health._model(Settings(model_url="example://there")).ok is None
