"""Where settings come from, and what they take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mnemic.config import Settings
from mnemic.errors import InvalidConfig


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_arguments_go_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_ENV_FILE", "settings.env")
    (tmp_path / "settings.env").write_text(
        "# a comment\nexport MNEMIC_TENANT='of the file'\nmnemic_max_tokens=5 # told\nOTHER=1\nMNEMIC_SEAL\n",
        encoding="utf-8",
    )
    settings = Settings()
    assert (settings.tenant, settings.max_tokens, settings.seal) == ("of the file", 5, False)
    assert settings.named == {"tenant", "max_tokens"}
    monkeypatch.setenv("mnemic_tenant", "of the environment")
    assert Settings().tenant == "of the environment"
    assert Settings.load(tenant="given", max_tokens=None).tenant == "given"


def test_the_products_own_name_goes_before_openais(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_MODEL", "theirs")
    monkeypatch.setenv("OPENAI_API_KEY", "CANARYkeyQ7")
    assert Settings().model == "theirs"
    monkeypatch.setenv("MNEMIC_MODEL", "ours")
    settings = Settings()
    assert settings.model == "ours"
    assert settings.has_model
    assert settings.api_key is not None
    assert settings.api_key.get_secret_value() == "CANARYkeyQ7"
    assert "CANARYkeyQ7" not in repr(settings) + str(settings.api_key)


@pytest.mark.parametrize(
    ("name", "said", "value"),
    [
        ("seal", "1", True),
        ("seal", "Off", False),
        ("preference_bias", True, True),
        ("near_duplicate", "1", 1.0),
        ("embedder_threads", "64", 64),
        ("max_tokens", "12.0", 12),
        ("embedder_dimension", 384, 384),
        ("trusted_keys", '["a", "b"]', frozenset({"a", "b"})),
        ("granted_levels", ("user",), frozenset({"user"})),
        ("policy", "policy.toml", Path("policy.toml")),
        ("durability", "fast", "fast"),
        ("graph", None, None),
    ],
)
def test_a_setting_takes_text_or_the_value_itself(name: str, said: Any, value: object) -> None:
    assert getattr(Settings(**{name: said}), name) == value


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("seal", "CANARYQ7"),
        ("near_duplicate", "0"),
        ("near_duplicate", "1.1"),
        ("near_duplicate", "nan"),
        ("max_seconds", "inf"),
        ("max_seconds", True),
        ("max_tokens", "0"),
        ("max_tokens", 1.5),
        ("max_tokens", ""),
        ("embedder_threads", 65),
        ("trusted_keys", "CANARYQ7"),
        ("trusted_keys", '{"CANARYQ7": 1}'),
        ("trusted_keys", [1]),
        ("policy", 1),
        ("durability", "CANARYQ7"),
        ("tenant", 1),
        ("store", None),
    ],
)
def test_what_a_setting_does_not_take_is_refused_by_name_without_being_shown(name: str, said: Any) -> None:
    with pytest.raises(InvalidConfig) as refused:
        Settings(**{name: said})
    assert refused.value.reason == f"invalid_config:{name}"
    assert "CANARY" not in str(refused.value)


def test_a_file_of_the_environment_that_is_no_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_bytes(b"MNEMIC_TENANT=\xff\n")
    for named in (".env", "absent.env"):
        monkeypatch.setenv("MNEMIC_ENV_FILE", named)
        with pytest.raises(InvalidConfig, match="invalid_config:env_file"):
            Settings()


def test_a_file_that_nobody_has_named_is_not_read(tmp_path: Path) -> None:
    """Whoever fills a folder does not say where the keys and texts of those go who work in it."""
    (tmp_path / ".env").write_text("MNEMIC_MODEL_URL=http://evil.example/v1\nMNEMIC_TENANT=x\n", encoding="utf-8")
    settings = Settings()
    assert (settings.model_url, settings.tenant) == (None, "default")


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({"OPENAI_API_KEY": "theirs", "OPENAI_BASE_URL": "http://x/v1"}, "http://x/v1"),
        ({"MNEMIC_API_KEY": "ours", "OPENAI_BASE_URL": "http://x/v1"}, "https://api.openai.com/v1"),
        (
            {"MNEMIC_API_KEY": "ours", "MNEMIC_MODEL_URL": "http://y/v1", "OPENAI_BASE_URL": "http://x/v1"},
            "http://y/v1",
        ),
        ({"MNEMIC_API_KEY": "ours"}, None),
    ],
)
def test_a_key_that_was_set_goes_to_no_address_of_openais_client(
    environment: dict[str, str], address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MNEMIC_API_KEY", "MNEMIC_MODEL_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Settings.load(model="gpt").models_address == address


@pytest.mark.parametrize(
    ("environment", "given", "for_model", "for_embedder"),
    [
        ({"OPENAI_API_KEY": "theirs"}, {}, "theirs", "theirs"),
        ({"OPENAI_API_KEY": "theirs", "OPENAI_BASE_URL": "http://x/v1"}, {}, "theirs", "theirs"),
        ({"OPENAI_API_KEY": "theirs", "MNEMIC_MODEL_URL": "http://x/v1"}, {}, None, "theirs"),
        ({"OPENAI_API_KEY": "theirs", "MNEMIC_EMBEDDER_URL": "http://x/v1"}, {}, "theirs", None),
        ({"OPENAI_API_KEY": "theirs"}, {"embedder_url": "http://x/v1", "model_url": "http://x"}, "theirs", "theirs"),
        ({"OPENAI_API_KEY": "theirs", "MNEMIC_MODEL_URL": "http://x/v1"}, {"api_key": "given"}, "given", "given"),
        (
            {"OPENAI_API_KEY": "theirs", "MNEMIC_API_KEY": "ours", "MNEMIC_EMBEDDER_URL": "http://x/v1"},
            {},
            "ours",
            "ours",
        ),
        ({"MNEMIC_EMBEDDER_URL": "http://x/v1"}, {}, None, None),
        (
            {"OPENAI_API_KEY": "theirs", "MNEMIC_EMBEDDER_URL": "https://api.openai.com/v1/"},
            {},
            "theirs",
            "theirs",
        ),
        (
            {"MNEMIC_MODEL_URL": "http://a/v1", "MNEMIC_API_KEY": "a", "MNEMIC_EMBEDDER_URL": "http://b/v1"},
            {},
            "a",
            None,
        ),
        ({"MNEMIC_MODEL": "m", "MNEMIC_API_KEY": "a", "MNEMIC_EMBEDDER_URL": "http://b/v1"}, {}, "a", None),
        (
            {"MNEMIC_MODEL_URL": "http://a/v1", "MNEMIC_API_KEY": "a", "MNEMIC_EMBEDDER_URL": "http://a/v2"},
            {},
            "a",
            "a",
        ),
        (
            {"MNEMIC_API_KEY": "a", "MNEMIC_EMBEDDER_URL": "http://b/v1", "MNEMIC_EMBEDDER_KEY": "b"},
            {"model_url": "http://a/v1"},
            "a",
            "b",
        ),
        (
            {
                "MNEMIC_MODEL": "anthropic:claude-sonnet-5",
                "MNEMIC_API_KEY": "anthropics",
                "MNEMIC_EMBEDDER_URL": "https://api.openai.com/v1",
            },
            {},
            "anthropics",
            None,
        ),
        (
            {
                "MNEMIC_MODEL": "anthropic:claude-sonnet-5",
                "OPENAI_API_KEY": "theirs",
                "MNEMIC_EMBEDDER_URL": "https://api.openai.com/v1",
            },
            {},
            "theirs",
            "theirs",
        ),
        (
            {
                "MNEMIC_MODEL": "ft:gpt-4.1-mini:acme::7",
                "MNEMIC_API_KEY": "ours",
                "MNEMIC_EMBEDDER_URL": "https://api.openai.com/v1",
            },
            {},
            "ours",
            "ours",
        ),
    ],
)
def test_a_key_goes_to_no_address_that_came_from_elsewhere(
    environment: dict[str, str],
    given: dict[str, str],
    for_model: str | None,
    for_embedder: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    settings = Settings(**given)
    assert (settings.key_for("model_url"), settings.key_for("embedder_url")) == (for_model, for_embedder)


@pytest.mark.parametrize(
    ("environment", "given", "asked_for"),
    [
        ({"OPENAI_API_KEY": "x"}, {}, False),
        ({"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://x/v1", "OPENAI_MODEL": "theirs"}, {}, False),
        ({"MNEMIC_API_KEY": "x"}, {}, False),
        ({"MNEMIC_MODEL": "ours"}, {}, True),
        ({"OPENAI_MODEL": "theirs", "MNEMIC_MODEL_URL": "http://x/v1"}, {}, True),
        ({"OPENAI_API_KEY": "x"}, {"model": "ours"}, True),
        ({}, {"model_url": "http://x/v1"}, True),
        ({"MNEMIC_MODEL": "ours"}, {"model": None}, False),
    ],
)
def test_a_language_model_is_used_only_where_one_was_asked_for(
    environment: dict[str, str], given: dict[str, str], asked_for: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Settings(**given).has_model is asked_for
    assert Settings().with_values(**given).has_model is asked_for


def test_a_value_of_the_program_is_not_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("MNEMIC_MODEL_URL", "http://x/v1")
    assert Settings().key_for("model_url") is None
    assert Settings().with_values(api_key="given").key_for("model_url") == "given"


def test_an_argument_that_is_no_setting_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="no_such"):
        Settings(no_such=1)


def test_other_values_are_checked_and_count_as_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(tenant="first")
    monkeypatch.setenv("MNEMIC_MAX_TOKENS", "7")
    other = settings.with_values(conflict="0.5")
    assert (other.tenant, other.conflict, other.max_tokens) == ("first", 0.5, 1000)
    assert other.named == {"tenant", "conflict"}
    assert settings.conflict == 0.85
    with pytest.raises(InvalidConfig, match="invalid_config:conflict"):
        settings.with_values(conflict=2)


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = Settings.load(store="~/memory.db", policy="~/policy.toml")
    assert (settings.store, settings.policy) == (str(tmp_path / "memory.db"), tmp_path / "policy.toml")
    assert Settings.load(store="~memory.db").store == "~memory.db"


def test_an_embedder_that_nobody_offers_is_told_all_that_there_are() -> None:
    with pytest.raises(InvalidConfig) as wrong:
        Settings(embedder="minilmm")
    assert wrong.value.reason == "invalid_config:embedder"
    assert {"minilm", "http", "multilingual", "onnx"} <= set((wrong.value.hint or "").replace(",", "").split())
