"""Settings: everything an installation can turn, from arguments, environment variables or a `.env` file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mnemic.errors import InvalidConfig


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
    sessions: str = Field(
        default="memory:",
        description="Conversations in progress and the hot set: memory:, redis://host/0, rediss://, redis+cluster://host",
    )
    graph: str | None = Field(
        default=None,
        description="URL of a graph server: neo4j://user:password@host:port/database. Default: in the store itself.",
    )
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

    @property
    def has_model(self) -> bool:
        """Whether a language model is configured at all."""
        return self.api_key is not None or self.model_url is not None
