"""Secrets that stand in files."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from mnemic import MemoryManager
from mnemic.bootstrap import build_policy_bundle
from mnemic.config import SECRETS, Settings
from mnemic.config.files import MAX_SECRET_BYTES, secret_named
from mnemic.config.parsing import Secret
from mnemic.errors import InvalidConfig

NAMES = {declared.name for declared in fields(Settings)}
SECRET = "postgresql://mnemic:CANARYsecretQ7@db/mnemic"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def said(settings: Settings, name: str) -> str | None:
    value = getattr(settings, name)
    return value.get_secret_value() if isinstance(value, Secret) else None if value is None else str(value)


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_of_a_file_goes_before_the_environment_and_an_argument_before_both(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n", encoding="utf-8")
    monkeypatch.setenv(f"MNEMIC_{name.upper()}", "memory:")
    assert said(Settings(), name) == "memory:"
    monkeypatch.setenv(f"MNEMIC_{name.upper()}_FILE", str(tmp_path / "secret"))
    assert said(Settings(), name) == SECRET
    assert said(Settings.load(**{name: "given"}), name) == "given"


def test_every_setting_that_ends_in_file_and_is_no_key_file_stands_for_a_secret() -> None:
    named = {name.removesuffix("_file") for name in NAMES if name.endswith("_file")}
    assert named - {"key"} == set(SECRETS)
    assert set(SECRETS) <= NAMES


def test_the_file_may_be_named_in_the_file_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_ENV_FILE", ".env")
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    (tmp_path / ".env").write_text("MNEMIC_STORE=memory:\nMNEMIC_STORE_FILE=secret\n", encoding="utf-8")
    assert Settings().store == SECRET


@pytest.mark.parametrize("text", [b"", b"\n", b"two\nlines", b"\xff\xfe", b"x" * (MAX_SECRET_BYTES + 1), None])
def test_what_is_no_secret_is_refused_without_being_shown(
    text: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is not None:
        (tmp_path / "secret").write_bytes(text)
    monkeypatch.setenv("MNEMIC_GRAPH_FILE", str(tmp_path / "secret"))
    with pytest.raises(InvalidConfig, match="invalid_config:graph_file") as refused:
        Settings.load()
    assert "lines" not in str(refused.value)


def test_a_secret_that_is_no_setting_stands_in_a_file_or_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert secret_named("MNEMIC_MCP_TOKEN") is None
    monkeypatch.setenv("MNEMIC_MCP_TOKEN", "of the environment")
    assert secret_named("MNEMIC_MCP_TOKEN") == "of the environment"
    (tmp_path / "token").write_text("of the file\n", encoding="utf-8")
    monkeypatch.setenv("MNEMIC_MCP_TOKEN_FILE", str(tmp_path / "token"))
    assert secret_named("MNEMIC_MCP_TOKEN") == "of the file"


@pytest.mark.parametrize("spelled", [":memory:", "file::memory:", "sqlite://", "sqlite:///:memory:"])
def test_what_sqlite_calls_memory_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spelled: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings(store=spelled).store == Settings.load(store=spelled).store == "memory:"
    with MemoryManager("ana", store=spelled) as memory:
        memory.add("I like tea.")
        assert memory.count() == 1
    assert list(tmp_path.iterdir()) == []
    assert Settings(store="./:memory:").store == "./:memory:"


def test_a_turn_has_the_time_that_its_model_may_take(tmp_path: Path) -> None:
    def seconds(**given: Any) -> float:
        return build_policy_bundle(Settings(store="memory:", **given), None).budget.max_seconds

    assert seconds() == seconds(model="m") == seconds(model_timeout_seconds=400) == 25
    assert seconds(model="m", model_timeout_seconds=400) == 500
    assert seconds(model="m", model_timeout_seconds=5) == 25
    assert seconds(model="m", model_timeout_seconds=400, max_seconds=30) == 30
    policy = tmp_path / "policy.toml"
    policy.write_text("[budget]\nmax_seconds = 25\n", encoding="utf-8")
    assert seconds(model="m", model_timeout_seconds=400, policy=str(policy)) == 25


@pytest.mark.parametrize("given", ["0.4", "a/b", "1/-1", "1/2/3", ""])
def test_prices_of_a_model_are_two_numbers(given: str) -> None:
    assert Settings(store="memory:", model_prices="0.4/1.6").model_prices == (0.4, 1.6)  # type: ignore[arg-type]
    with pytest.raises(InvalidConfig, match="model_prices"):
        Settings(store="memory:", model_prices=given)  # type: ignore[arg-type]
