"""Settings: everything an installation can turn, from arguments, environment variables or a `.env` file."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from mnemic.errors import InvalidConfig

SECRETS = {"store": "store", "sessions": "sessions", "graph": "graph", "api_key": "MNEMIC_API_KEY"}
"""Settings that may hold a password or a key, by what the environment calls them; each may stand in a file that
`<name>_file` names.
"""
MAX_SECRET_BYTES = 65_536


class Settings(BaseSettings):
    """One installation. Every field is also an environment variable `MNEMIC_<NAME>`; those of the model take OpenAI's
    names too.
    """

    model_config = SettingsConfigDict(env_prefix="MNEMIC_", env_file=".env", extra="ignore", populate_by_name=True)

    store: str = Field(
        default="mnemic.db",
        description="Path of the memory file, or a URL: sqlite:///path, postgresql://user@host/database, memory:. "
        "Copies beside it: ?copy=jsonl:///folder&copy=azure-search://:KEY@SERVICE.search.windows.net/INDEX. "
        "A standby of PostgreSQL that answers searches: ?replica=postgresql://...",
    )
    store_file: Path | None = Field(
        default=None,
        description="File with the URL of the store, as containers are given secrets.",
    )
    sessions: str = Field(
        default="memory:",
        description="Conversations in progress and the hot set: memory:, redis://host/0, rediss://, redis+cluster://host",
    )
    sessions_file: Path | None = Field(default=None, description="File with the URL of the sessions.")
    graph: str | None = Field(
        default=None,
        description="URL of a graph server: neo4j://user:password@host:port/database. Default: in the store itself.",
    )
    graph_file: Path | None = Field(default=None, description="File with the URL of the graph server.")
    durability: Literal["durable", "fast"] = Field(
        default="durable",
        description="durable: an acknowledged write survives power loss. fast: may lose the last moments.",
    )
    tenant: str = Field(default="default", description="The tenant whose memories are used where none is named.")
    policy: Path | None = Field(
        default=None, description="Policy file (TOML or JSON): keys, scopes, rules. Default: any key."
    )
    key_file: Path | None = Field(
        default=None, description="File of the master key; `mnemic keys init` makes one. Default: nothing is sealed."
    )
    key_folder: Path | None = Field(
        default=None, description="Folder of the data keys, to be backed up apart from the store. Default: KEY_FILE.d"
    )
    seal: bool = Field(
        default=False, description="Seal what memories say with their subject's data key; needs KEY_FILE."
    )
    personas: Path | None = Field(
        default=None, description="Folder with a profile for each agent: AGENT.json, AGENT.toml or AGENT.yaml."
    )
    preference_bias: bool = Field(default=False, description="Give preference keys a bonus so that they reach the top.")
    trusted_keys: frozenset[str] | None = Field(
        default=None, description="Sensitive keys of the policy that may be written from chat (JSON list)."
    )
    granted_levels: frozenset[str] | None = Field(
        default=None, description="Scope levels in use now (JSON list). Default: those of the policy file, else user."
    )
    max_seconds: float | None = Field(default=None, gt=0, description="Time budget of one turn, in seconds (25).")
    max_tokens: int = Field(default=1000, gt=0, description="Token budget of the memories put into one model call.")
    near_duplicate: float = Field(
        default=0.92, gt=0, le=1, description="Cosine above which two memories may be merged."
    )
    conflict: float = Field(default=0.85, gt=0, le=1, description="Cosine above which opposite claims are flagged.")
    embedder: Literal["minilm", "http"] = Field(
        default="minilm", description="minilm: in this process. http: a server."
    )
    embedder_threads: int = Field(default=1, ge=1, le=64, description="Threads of the embedder in this process.")
    embedder_url: str | None = Field(
        default=None, description="Base URL of an OpenAI-compatible /v1/embeddings server."
    )
    embedder_model: str | None = Field(default=None, description="Model name at that server.")
    embedder_dimension: int | None = Field(default=None, ge=1, description="Dimensions of that model's vectors.")
    model: str | None = Field(
        default=None,
        validation_alias=AliasChoices("MNEMIC_MODEL", "OPENAI_MODEL"),
        description="Language model. Default: gpt-4.1-mini where a key or a URL is set, else none.",
    )
    model_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("MNEMIC_MODEL_URL", "OPENAI_BASE_URL"),
        description="Base URL of an OpenAI-compatible server.",
    )
    api_key: SecretStr | None = Field(
        default=None,
        validation_alias=AliasChoices("MNEMIC_API_KEY", "OPENAI_API_KEY"),
        description="Key for that server.",
    )
    api_key_file: Path | None = Field(default=None, description="File with the key for that server.")
    model_timeout_seconds: float = Field(
        default=60,
        gt=0,
        validation_alias=AliasChoices("MNEMIC_MODEL_TIMEOUT_SECONDS", "OPENAI_TIMEOUT_SECONDS"),
        description="Longest wait for one model call, in seconds; the turn's budget may be shorter.",
    )

    @classmethod
    def load(cls, **overrides: object) -> Settings:
        """Settings from the environment, with `overrides` on top; those that are None are left out. Raises
        InvalidConfig.
        """
        try:
            return cls(**{name: value for name, value in overrides.items() if value is not None})  # type: ignore[arg-type]
        except ValidationError as invalid:
            first = invalid.errors(include_input=False, include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "settings"
            raise InvalidConfig(place, hint=str(first["msg"])) from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the files of secrets, then the environment and `.env`."""
        named = (dotenv_settings, env_settings, init_settings)
        secrets = _SecretFiles(settings_cls, named)
        return init_settings, secrets, env_settings, dotenv_settings, file_secret_settings

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured at all."""
        return self.api_key is not None or self.model_url is not None


class _SecretFiles(PydanticBaseSettingsSource):
    """The secrets whose files the other sources name, the last of them first."""

    def __init__(self, settings: type[BaseSettings], named: tuple[Callable[[], dict[str, Any]], ...]) -> None:
        super().__init__(settings)
        self._named = named

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:
        """Nothing is asked field by field."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The secrets of the files. Raises InvalidConfig (`<name>_file`)."""
        named = {name: value for source in self._named for name, value in source().items()}
        files = {name: named.get(f"{name}_file") for name in SECRETS}
        return {SECRETS[name]: secret_in(Path(file), f"{name}_file") for name, file in files.items() if file}


def secret_in(file: Path, place: str) -> str:
    """The one line of a file. Raises InvalidConfig (`place`) where there is none, or more than one."""
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_SECRET_BYTES + 1).decode("utf-8").rstrip("\r\n")
    except (OSError, ValueError):
        raise InvalidConfig(place, hint="no file that can be read as text") from None
    if not text.strip() or len(text) > MAX_SECRET_BYTES or not text.isprintable():
        raise InvalidConfig(place, hint="one line of text")
    return text


def secret_named(variable: str) -> str | None:
    """A secret that is no setting: the line of the file that `<variable>_FILE` names, or the variable itself. Raises
    InvalidConfig.
    """
    file = os.environ.get(f"{variable}_FILE")
    if file:
        return secret_in(Path(file), f"{variable.removeprefix('MNEMIC_').lower()}_file")
    return os.environ.get(variable) or None
