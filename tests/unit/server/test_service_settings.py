"""Settings of the service under the names that they had before."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from mnemic.errors import InvalidConfig
from mnemic_server.service_settings import OLD_NAMES, ServiceSettings


@pytest.mark.parametrize("old", OLD_NAMES)
def test_a_variable_with_its_old_name_is_read_and_its_new_name_is_logged(
    old: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    new = OLD_NAMES[old]
    default = getattr(ServiceSettings(), new)
    monkeypatch.setenv(f"MNEMIC_SERVICE_{old.upper()}", str(not default) if isinstance(default, bool) else "7")
    with caplog.at_level(logging.WARNING, logger="mnemic.service"):
        found = getattr(ServiceSettings.load(), new)
    assert found == (not default if isinstance(default, bool) else 7)
    assert f"MNEMIC_SERVICE_{old.upper()} has become MNEMIC_SERVICE_{new.upper()}" in caplog.text


def test_a_new_name_and_an_argument_take_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_SERVICE_AT_ONCE", "7")
    assert ServiceSettings.load(max_concurrent_requests=9).max_concurrent_requests == 9
    monkeypatch.setenv("MNEMIC_SERVICE_MAX_CONCURRENT_REQUESTS", "8")
    assert ServiceSettings.load().max_concurrent_requests == 8


def test_the_named_file_may_have_old_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "mnemic.env"
    file.write_text("MNEMIC_SERVICE_SECONDS=4\n", encoding="utf-8")
    monkeypatch.setenv("MNEMIC_ENV_FILE", str(file))
    assert ServiceSettings.load().request_timeout_seconds == 4


def test_an_unusable_value_under_an_old_name_is_refused_by_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_SERVICE_AT_ONCE", "none")
    with pytest.raises(InvalidConfig) as refused:
        ServiceSettings.load()
    assert refused.value.reason == "invalid_config:service_max_concurrent_requests"
