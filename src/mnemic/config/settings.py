"""Settings of an installation, from arguments, environment variables or a file named explicitly.

No schema library: loading one took a quarter of the time before a program's first search.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from mnemic.config.files import ENV_FILE, secret_in, variables_in
from mnemic.config.parsing import (
    Secret,
    location,
    number,
    one_of,
    one_of_or_plugin,
    path,
    prices,
    secret,
    setting,
    switch,
    value_of,
    variables,
    whole,
    words,
    zone,
)
from mnemic.errors import InvalidInput
from mnemic.types import checked_name

SECRETS = ("store", "sessions", "graph", "api_key", "embedder_key", "reranker_key")
"""Settings that may contain a password or a key; `<name>_file` names a file to read each from."""
MODEL_TIMEOUT_SECONDS = 60
OPENAIS_SERVER = "https://api.openai.com/v1"
"""Variable that names a file of further variables. No file is read implicitly: a folder that somebody else has filled
(a cloned repository) could redirect keys and texts.
"""
EMBEDDER_EXTRAS: Mapping[str, str] = MappingProxyType(
    {name: name for name in ("bedrock", "cohere", "fastembed", "gemini", "multilingual", "ollama", "onnx", "voyage")}
    | {"azure": "azure-openai"}
)
"""Embedders of packages outside the core, and the extra that installs each."""
_OPENAIS_KEY, _OPENAIS_ADDRESS, _OPENAIS_MODEL = "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL"


@dataclass(frozen=True, init=False)
class Settings:
    """Settings of one installation. Every field is also an environment variable `MNEMIC_<NAME>`; those of the model
    accept OpenAI's names too.

    Arguments take precedence over files of secrets, these over the environment, and that over the file that
    `MNEMIC_ENV_FILE` names. Raises InvalidConfig (the setting's name) for an unusable value, TypeError for an unknown
    argument.
    """

    store: str = setting(
        "mnemic.db",
        "Path of the memory file, or a URL: sqlite:///path, postgresql://user@host/database, memory:, "
        "or one whose scheme a plug-in offers. "
        "A copy beside it: ?copy=azure-search://:KEY@SERVICE.search.windows.net/INDEX. "
        "A standby of PostgreSQL that answers searches: ?replica=postgresql://...",
        read=location,
        shown=False,
    )
    store_file: Path | None = setting(None, "File with the URL of the store, for container secrets.", read=path)
    sessions: str = setting(
        "memory:",
        "Conversations in progress and the hot set: memory:, redis://host/0, rediss://, redis+cluster://host",
        shown=False,
    )
    sessions_file: Path | None = setting(None, "File with the URL of the sessions.", read=path)
    graph: str | None = setting(
        None,
        "URL of a graph server: neo4j://user:password@host:port/database. Default: in the store itself.",
        shown=False,
    )
    graph_file: Path | None = setting(None, "File with the URL of the graph server.", read=path)
    durability: Literal["durable", "fast"] = setting(
        "durable",
        "durable: an acknowledged write survives power loss. fast: may lose the last moments.",
        read=one_of("durable", "fast"),
    )
    tenant: str = setting("default", "Tenant whose memories are used if none is named.")
    policy: Path | None = setting(None, "Policy file (TOML or JSON): keys, scopes, rules. Default: any key.", read=path)
    key_file: Path | None = setting(
        None, "File of the master key; `mnemic keys init` makes one. Default: nothing is sealed.", read=path
    )
    key_folder: Path | None = setting(
        None, "Folder of the data keys, to be backed up apart from the store. Default: KEY_FILE.d", read=path
    )
    seal: bool = setting(
        False, "Encrypt the contents of memories with their subject's data key; needs KEY_FILE.", read=switch
    )
    personas: Path | None = setting(
        None, "Folder with a profile for each agent: AGENT.json, AGENT.toml or AGENT.yaml.", read=path
    )
    tracing: bool = setting(
        False, "A span of each write and search, for the program's OpenTelemetry provider.", read=switch
    )
    preference_bias: bool = setting(False, "Give preference keys a bonus so that they reach the top.", read=switch)
    trusted_keys: frozenset[str] | None = setting(
        None, "Sensitive keys of the policy that a chat may write (JSON list).", read=words
    )
    granted_levels: frozenset[str] | None = setting(
        None, "Scope levels in use now (JSON list). Default: those of the policy file, else user.", read=words
    )
    max_seconds: float | None = setting(
        None,
        "Time budget of one turn, in seconds. Default: 25, or what MNEMIC_MODEL_TIMEOUT_SECONDS needs.",
        read=number(above=0),
    )
    max_tokens: int = setting(
        1000,
        "Token budget of the memories in the model call of `run`, and only there: `context` and the adapters "
        "of frameworks take `max_tokens` as an argument (1500).",
        read=whole(least=1),
    )
    tokenizer: str | None = setting(
        None,
        "Tokenizer: an encoding of tiktoken (o200k_base), or model: that of MNEMIC_MODEL; "
        "needs mnemic[tokens]. Default: a conservative estimate.",
    )
    near_duplicate: float = setting(
        0.92, "Cosine above which two memories may be merged.", read=number(above=0, most=1)
    )
    conflict: float = setting(0.85, "Cosine above which opposite statements are flagged.", read=number(above=0, most=1))
    timezone: str = setting(
        "UTC",
        'Zone in which a day in words ("yesterday") counts if a message has no time of its own: Europe/Berlin.',
        read=zone,
    )
    embedder: str = setting(
        "minilm",
        "minilm: in this process. multilingual, fastembed, cohere, voyage, gemini, bedrock, azure, ollama (each needs "
        "the extra of its name). http: an OpenAI-compatible server. Or another plug-in.",
        read=one_of_or_plugin("embedders", "minilm", "http", extras=EMBEDDER_EXTRAS),
    )
    embedder_threads: int = setting(1, "Threads of the embedder in this process.", read=whole(least=1, most=64))
    embedder_url: str | None = setting(
        None,
        "Base URL of an OpenAI-compatible /v1/embeddings server, or of the vendor that MNEMIC_EMBEDDER names; for "
        "fastembed a folder.",
    )
    embedder_model: str | None = setting(None, "Model name at that server, or for onnx the folder of the model.")
    embedder_dimension: int | None = setting(None, "Dimensions of that model's vectors.", read=whole(least=1))
    embedder_key: Secret | None = setting(
        None,
        "Key for that server; no other server gets it. Default: MNEMIC_API_KEY, where the server is the language "
        "model's or no language model is used.",
        read=secret,
    )
    embedder_key_file: Path | None = setting(None, "File with the key for that server.", read=path)
    reranker: str = setting(
        "none",
        "Reranker of search results, by the protocol of its server: cohere (also vLLM, LiteLLM), jina, voyage or tei. "
        "Or onnx, a model of your own (mnemic[onnx]), or the name of another plug-in.",
        read=one_of_or_plugin("rerankers", "none", "cohere", "jina", "voyage", "tei"),
    )
    reranker_url: str | None = setting(
        None, "Base URL of that server, to which /rerank is added: https://api.cohere.com/v2, https://api.jina.ai/v1."
    )
    reranker_model: str | None = setting(
        None, "Model name at that server; TEI needs none. With onnx: its folder, or default."
    )
    reranker_key: Secret | None = setting(None, "Key for that server; no other key is sent to it.", read=secret)
    reranker_key_file: Path | None = setting(None, "File with the key for that server.", read=path)
    model: str | None = setting(
        None,
        "Language model: the name at OpenAI or at MNEMIC_MODEL_URL, or vendor:model (anthropic, gemini, bedrock, "
        "azure, ollama). None is used unless MNEMIC_MODEL or MNEMIC_MODEL_URL is set; OPENAI_MODEL, OPENAI_BASE_URL "
        "and OPENAI_API_KEY change nothing by themselves. Default at a URL: gpt-4.1-mini.",
        names=("MNEMIC_MODEL", _OPENAIS_MODEL),
    )
    model_url: str | None = setting(
        None,
        "Base URL of an OpenAI-compatible server, or of the vendor that MNEMIC_MODEL names; or a URL whose scheme a "
        "plug-in offers.",
        names=("MNEMIC_MODEL_URL", _OPENAIS_ADDRESS),
    )
    model_form: Literal["auto", "labels", "quotes"] = setting(
        "auto",
        "What the language model is asked about a message: labels (words with key, value, subject and time), or quotes "
        "(the words alone, which small models do better). auto: quotes of a model whose name gives at most 3b.",
        read=one_of("auto", "labels", "quotes"),
    )
    api_key: Secret | None = setting(None, "Key for that server.", read=secret, names=("MNEMIC_API_KEY", _OPENAIS_KEY))
    api_key_file: Path | None = setting(None, "File with the key for that server.", read=path)
    background: bool | None = setting(
        None,
        "Chat turns record messages and store what rules read in them; a language model reads them afterwards, in the "
        "background. Default: where there is a language model.",
        read=switch,
    )
    background_seconds: float = setting(
        30.0,
        "Seconds of silence after which the language model reads turns in the background; twelve are read at once. "
        "Until then the recorded messages are found, and the facts that rules read in them.",
        read=number(above=0, most=3600),
    )
    files: Literal["note", "describe", "keep"] = setting(
        "describe",
        "Pictures, recordings and files in messages. describe: the language model, if there is one, says what is in "
        "each; what a picture shows cannot be redacted before. note: no model sees them, only that they were sent is "
        "remembered. keep: as describe, and their bytes are stored with the memory, up to 256 KiB each.",
        read=one_of("note", "describe", "keep"),
    )
    extractor: str = setting(
        "auto",
        "Reader of messages: auto (the language model if one is configured, else rules), rules, or a plug-in.",
        read=one_of_or_plugin("extractors", "auto", "rules"),
    )
    extraction_instructions: str | None = setting(
        None,
        "Instructions to the language model on what to keep from messages and what to leave out, in a few sentences.",
        names=("MNEMIC_EXTRACTION_INSTRUCTIONS", "MNEMIC_WISHES"),
    )
    categories: frozenset[str] | None = setting(
        None,
        "Categories that it may give to memories (JSON list). Default: preference, instruction, fact ...",
        read=words,
    )
    model_timeout_seconds: float = setting(
        MODEL_TIMEOUT_SECONDS,
        "Longest wait for one model call, in seconds; the turn's budget may be shorter.",
        read=number(above=0),
        names=("MNEMIC_MODEL_TIMEOUT_SECONDS", "OPENAI_TIMEOUT_SECONDS"),
    )
    model_prices: tuple[float, float] | None = setting(
        None,
        "Prices of a million tokens into and out of the language model, such as 0.4/1.6: `run`, `capture` and `chat` "
        "print what a turn cost.",
        read=prices,
    )

    def __init__(self, **given: Any) -> None:
        known = {declared.name: declared for declared in fields(self)}
        if unknown := given.keys() - known.keys():
            raise TypeError(f"not a setting: {', '.join(sorted(unknown))}")
        named, origins = _collect_settings(given)
        named |= _secrets(named) | given
        for name, declared in known.items():
            value = value_of(declared, named[name]) if name in named else declared.default
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_named", frozenset(named))
        object.__setattr__(self, "_origins", origins)

    @classmethod
    def load(cls, **overrides: Any) -> Settings:
        """Return the settings of the environment, overridden by `overrides` that are not None. Raises InvalidConfig."""
        return cls(**{name: value for name, value in overrides.items() if value is not None})

    def with_values(self, **values: object) -> Self:
        """Return these settings with other values for some; the environment is not read again. Raises InvalidConfig."""
        changed = copy(self)
        for declared in fields(self):
            if declared.name in values:
                object.__setattr__(changed, declared.name, value_of(declared, values[declared.name]))
        object.__setattr__(changed, "_named", self.named | values.keys())
        origins = {name: said for name, said in self.__dict__["_origins"].items() if name not in values}
        object.__setattr__(changed, "_origins", origins)
        return changed

    @property
    def named(self) -> frozenset[str]:
        """Settings that were set explicitly, even to their default."""
        found: frozenset[str] = self.__dict__["_named"]
        return found

    def key_for(self, address: Literal["model_url", "embedder_url"]) -> str | None:
        """Return the key for the server at this address. OpenAI's own variable is for OpenAI and for the address in
        OpenAI's own variable; any other address of the environment gets the key that was set for mnemic, or none. The
        key of a language model's server is not sent to an embedder at another one.
        """
        if address == "embedder_url":
            if self.embedder_key is not None:
                return self.embedder_key.get_secret_value()
            at_openai = self._has_openais_key and _same_server(OPENAIS_SERVER, self.embedder_url)
            if self.has_model and not at_openai and not _same_server(self._models_server, self.embedder_url):
                return None
        origins: Mapping[str, str] = self.__dict__["_origins"]
        theirs = self._has_openais_key
        named: str | None = getattr(self, address)
        elsewhere = (
            address in origins and origins[address] != _OPENAIS_ADDRESS and not _same_server(OPENAIS_SERVER, named)
        )
        return None if self.api_key is None or (theirs and elsewhere) else self.api_key.get_secret_value()

    def server_for(self, purpose: Literal["model", "embedder"]) -> tuple[str | None, str | None]:
        """Return URL and key of a vendor other than OpenAI, for the language model or the embedder: only values set for
        mnemic and for this purpose, never the variables of OpenAI's client. None for values that are not set.
        """
        origins: Mapping[str, str] = self.__dict__["_origins"]
        if purpose == "embedder":
            key = self.embedder_key
            return self.embedder_url, None if key is None else key.get_secret_value()
        key = None if self._has_openais_key else self.api_key
        url = None if origins.get("model_url") == _OPENAIS_ADDRESS else self.model_url
        return url, None if key is None else key.get_secret_value()

    @property
    def _has_openais_key(self) -> bool:
        """True if the key is that of the variable of OpenAI's client."""
        return self.__dict__["_origins"].get("api_key") == _OPENAIS_KEY and "api_key_file" not in self.named

    @property
    def models_address(self) -> str | None:
        """Address of the language model's server, if one is set. A key that was set for mnemic is not sent to the
        address in the variable of OpenAI's client, but to OpenAI.
        """
        ours = self.api_key is not None and not self._has_openais_key
        theirs: Mapping[str, str] = self.__dict__["_origins"]
        return OPENAIS_SERVER if ours and theirs.get("model_url") == _OPENAIS_ADDRESS else self.model_url

    @property
    def _models_server(self) -> str:
        """Address of the language model's server; empty for a vendor's own address (`anthropic:claude-sonnet-5`)."""
        name = self.model or ""
        is_vendors = ":" in name and not name.startswith("ft:")  # OpenAI's own fine-tuned models
        return self.models_address or ("" if is_vendors else OPENAIS_SERVER)

    @property
    def sets_model_timeout(self) -> bool:
        """True if a language model is configured, and its timeout is not the default."""
        return self.has_model and self.model_timeout_seconds != MODEL_TIMEOUT_SECONDS

    @property
    def has_model(self) -> bool:
        """True if a language model is configured: by name or by URL, in an argument or a variable of mnemic's. The
        variables of OpenAI's client are often set for other programs and do not count.
        """
        origins: Mapping[str, str] = self.__dict__["_origins"]
        return (self.model is not None and origins.get("model") != _OPENAIS_MODEL) or (
            self.model_url is not None and origins.get("model_url") != _OPENAIS_ADDRESS
        )

    @property
    def names_models(self) -> bool:
        """True if anything besides the embedder is configured that would read, rank, answer or count tokens."""
        named = self.reranker != "none" or self.tokenizer is not None or self.extractor != "auto"
        return named or self.has_model


def _same_server(one: str, other: str | None) -> bool:
    return other is None or urlsplit(one)[:2] == urlsplit(other)[:2]


def _collect_settings(given: Mapping[str, object]) -> tuple[dict[str, object], dict[str, str]]:
    """Collect each setting from arguments, environment and env file; also the variables that were used."""
    sources = [_lower_keys(_in_file(os.environ.get(ENV_FILE))), _lower_keys(os.environ)]
    named: dict[str, object] = {}
    origins: dict[str, str] = {}
    for source in sources:
        for declared in fields(Settings):
            said = next((name for name in variables(declared) if source.get(name.lower()) is not None), None)
            if said is not None:
                named[declared.name], origins[declared.name] = source[said.lower()], said
    return {**named, **given}, {name: said for name, said in origins.items() if name not in given}


def _lower_keys(source: Mapping[str, str | None]) -> dict[str, str | None]:
    return {name.lower(): value for name, value in source.items()}


def _in_file(named: str | None) -> Mapping[str, str | None]:
    if not named:
        return {}
    return variables_in(Path(named))


def _secrets(named: Mapping[str, object]) -> dict[str, object]:
    """Return the secrets of the files that are named. Raises InvalidConfig (`<name>_file`)."""
    files = {name: file for name in SECRETS if (file := named.get(f"{name}_file"))}
    if not files:
        return {}
    return {name: secret_in(path(file), f"{name}_file") for name, file in files.items()}


def default_user() -> str:
    """Return the user that `MNEMIC_USER` names, else the login name. Raises InvalidInput (`user`) if neither is a valid
    user id.
    """
    if named := os.environ.get("MNEMIC_USER"):
        return checked_name(named, "user")
    import getpass

    try:
        return checked_name(getpass.getuser(), "user")
    except (InvalidInput, OSError, KeyError, ImportError):
        raise InvalidInput("user", hint="whose memory is it? name a user, or set MNEMIC_USER") from None
