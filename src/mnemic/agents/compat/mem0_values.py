"""Values that pass through the facade of mem0: identifiers, filters, dates, and memories as its answers show them."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

from mnemic.config import Settings
from mnemic.config.settings import OPENAIS_SERVER
from mnemic.engine.message_forms import message_content
from mnemic.errors import (
    InvalidCandidates,
    InvalidInput,
    MnemicError,
    ModelEmpty,
    ModelFailed,
    ModelInvalidJson,
    ModelInvalidSchema,
    NotSupported,
)
from mnemic.ports import RecordStore
from mnemic.retrieve.export import plain
from mnemic.types import Actor, Hit, Memory, Message, Origin
from mnemic.types.filter_language import meets
from mnemic.types.search import MESSAGE_CATEGORY

_LOG = logging.getLogger(__name__)
IDS = ("user_id", "agent_id", "run_id")
_PROMOTED = ("agent_id", "run_id", "actor_id", "role", "attributed_to", "expiration_date")
_ATTRIBUTED: Mapping[Origin, str] = MappingProxyType({Origin.USER_STATED: "user", Origin.AGENT_INFERRED: "assistant"})
"""Speakers of memories, in mem0's words."""
_IDENTITY = frozenset({*IDS, "actor_id"})
_DELETIONS = frozenset({"forgotten", "deleted", "purged", "erased"})
_PAGE = 500
_OPERATORS = frozenset({"eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "icontains"})
_LISTS = {"AND": "$and", "OR": "$or", "NOT": "$or"}


class ValidationError(InvalidInput):
    """A call that mem0 would refuse, too. `str()` begins with the reason."""


class LLMError(ModelFailed):
    """The language model failed: it could not be reached, or refused the call. `__cause__` is the reason."""


def is_unreadable(failure: MnemicError) -> bool:
    """Return True, and log it, if the model answered something that cannot be read: mem0 remembers nothing then."""
    if isinstance(failure, ModelEmpty | ModelInvalidJson | ModelInvalidSchema | InvalidCandidates):
        _LOG.error("Error parsing extraction response: %s", failure.reason)
        return True
    return False


def argument_error(name: str, hint: str) -> ValidationError:
    """Return the error for an argument that cannot be used; its text gives the reason."""
    error = ValidationError(name, hint=hint)
    error.args = (f"{error.reason}: {hint}",)
    return error


@dataclass(frozen=True, slots=True)
class Ids:
    """The identifiers under which something is remembered or looked for."""

    user_id: str | None = None
    agent_id: str | None = None
    run_id: str | None = None

    @classmethod
    def from_arguments(cls, **given: object) -> Ids:
        """Return the identifiers, trimmed, numbers as text. Raises ValidationError for an empty one or white space."""
        return cls(**{name: _identifier(name, value) for name, value in given.items()})

    @property
    def known(self) -> dict[str, str]:
        """Those that are given."""
        return {name: value for name in IDS if (value := getattr(self, name)) is not None}

    def require_any(self, hint: str) -> Ids:
        """Return these. Raises ValidationError if none is given."""
        if not self.known:
            raise argument_error("ids", hint)
        return self

    @property
    def owner(self) -> str:
        """Owner of the memory: the user, else the agent or the run alone."""
        if self.user_id is not None:
            return self.user_id
        return f"agent:{self.agent_id}" if self.agent_id is not None else f"run:{self.run_id}"

    def actor(self, tenant: str) -> Actor:
        """Return the actor that the engine is called for."""
        return Actor(tenant=tenant, user=self.owner, agent=self.agent_id or "default", session=self.run_id)

    @property
    def data(self) -> dict[str, str]:
        """Return the data that is stored with a memory; its user is its owner."""
        return {name: value for name, value in self.known.items() if name != "user_id"}


def _identifier(name: str, value: object) -> str | None:
    if value is None:
        return None
    text = str(value).strip()
    if not text:
        raise argument_error(name, f"Invalid {name}: cannot be empty or whitespace-only.")
    if any(one.isspace() for one in text):
        raise argument_error(name, f"Invalid {name}: cannot contain whitespace.")
    return text


# -- filters -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wanted:
    """Parsed filter: the owner of the memories, and a condition on their data (`mnemic.types.filter_language`).

    `owner` None means any user.
    """

    owner: Ids | None
    where: dict[str, Any] = field(default_factory=dict)


def parse_filters(filters: Mapping[str, Any] | None, *, show_expired: bool, today: date) -> Wanted:
    """Read the filters of a search or a list. Raises ValidationError if they name no identifier."""
    given = dict(filters or {})
    for name in IDS:
        if name in given and not isinstance(given[name], Mapping) and given[name] != "*":
            given[name] = _identifier(name, given[name])
    within = [one for one in given.get("AND", ()) if isinstance(one, Mapping)] if "AND" in given else []
    if not any(name in one for name in IDS for one in (given, *within)):
        hint = "filters must contain at least one of: user_id, agent_id, run_id. Example: filters={'user_id': 'u1'}"
        raise argument_error("filters", hint)
    user = given.get("user_id")
    owner = None
    if isinstance(user, str) and user != "*":
        owner = Ids(user_id=user)
        del given["user_id"]
    where = condition(given)
    if not show_expired:
        live = {"$or": [{"expiration_date": None}, {"expiration_date": {"$gte": today.isoformat()}}]}
        where = {"$and": [where, live]} if where else live
    return Wanted(owner, where)


def condition(filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a filter of mem0 as one of mnemic. Raises ValidationError for an unknown operator."""
    parts = [_part(name, value) for name, value in filters.items()]
    if len(parts) == 1:
        return parts[0]
    return {"$and": parts} if parts else {}


def _part(name: str, value: Any) -> dict[str, Any]:
    if name in _LISTS:
        if not isinstance(value, list) or not value or not all(isinstance(one, Mapping) for one in value):
            raise argument_error("filters", f"{name} operator requires a non-empty list of conditions")
        joined = {_LISTS[name]: [condition(one) for one in value]}
        return {"$not": joined} if name == "NOT" else joined
    if value == "*":
        return {name: {"$exists": True}}
    if not isinstance(value, Mapping):
        return {name: value}
    unknown = next((one for one in value if one not in _OPERATORS), None)
    if unknown is not None:
        raise argument_error("filters", f"Unsupported metadata filter operator: {str(unknown)[:32]}")
    return {name: {f"${operator}": operand for operator, operand in value.items()}}


def checked_call(name: str, top_k: object, others: Mapping[str, Any]) -> int:
    """Return the maximum number of results of a call. Raises ValidationError for one that cannot be used, and for
    arguments that belong into the filters.
    """
    if others:
        hint = f"Top-level entity parameters {set(others)} are not supported in {name}(). Use filters={{...}} instead."
        raise argument_error("filters", hint)
    if isinstance(top_k, bool) or not isinstance(top_k, int):
        raise argument_error("top_k", "top_k must be a valid integer")
    if top_k < 0:
        raise argument_error("top_k", f"Invalid top_k: {top_k}. Must be a non-negative integer.")
    return top_k


def of_user(where: Mapping[str, Any], user_id: str | None) -> dict[str, Any]:
    """Return a filter of mnemic for the memories of one user, in whose data the user is not named."""
    fields = {} if user_id is None else {"user_id": user_id}
    found: dict[str, Any] = {}
    for name, value in where.items():
        if name in ("$and", "$or"):
            found[name] = [of_user(one, user_id) for one in value]
        elif name == "$not":
            found[name] = of_user(value, user_id)
        elif name != "user_id":
            found[name] = value
        elif not meets(fields, {name: value}):
            # The empty filter meets every memory, so its negation meets none.
            return {"$not": {}}
    return found


def expiration(value: object) -> str | None:
    """Return a date as `YYYY-MM-DD`. Raises ValidationError for anything else."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if value is None:
        return None
    try:
        return date.fromisoformat(value).isoformat()  # type: ignore[arg-type]  # what is no text is refused below
    except (TypeError, ValueError):
        raise argument_error("expiration_date", "expiration_date must be a date in YYYY-MM-DD format.") from None


def own_metadata(metadata: object) -> dict[str, Any]:
    """Return metadata without the names of identifiers: the call determines the owner of a memory."""
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise argument_error("metadata", "metadata must be a dict")
    for name in sorted(_IDENTITY & metadata.keys()):
        _LOG.warning("ignoring metadata['%s']: identity fields cannot be set through metadata", name)
    return {name: value for name, value in metadata.items() if name not in _IDENTITY}


def moment(timestamp: object) -> datetime | None:
    """Return a Unix time or a time in ISO 8601. Raises ValidationError for anything else."""
    if timestamp is None:
        return None
    try:
        if isinstance(timestamp, int | float):
            return datetime.fromtimestamp(timestamp, UTC)
        parsed = timestamp if isinstance(timestamp, datetime) else datetime.fromisoformat(str(timestamp))
    except (ValueError, OverflowError, OSError):
        raise argument_error("timestamp", "timestamp must be a Unix time or a time in ISO 8601.") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


# -- messages ----------------------------------------------------------------------------------------------------------


def message_list(messages: object) -> list[Mapping[str, Any]]:
    """Return the messages as a list of objects; a text is a message of the user, and an object without role and content
    is left out.
    """
    if isinstance(messages, str):
        return [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, Sequence):
        raise argument_error("messages", "messages must be str, dict, or list[dict]")
    return [one for one in messages if isinstance(one, Mapping) and one.get("role") and one.get("content") is not None]


def written_in(given: Mapping[str, Any]) -> str:
    """Return the text of a message; a picture or a file of the user's is a line of it."""
    return message_content(str(given["role"]), _parts_of(given))[0]


def _parts_of(given: Mapping[str, Any]) -> str | Sequence[Any]:
    content = given["content"]
    return [content] if isinstance(content, Mapping) else content


def message_of(given: Mapping[str, Any], text: str, ids: Ids, sent_at: datetime | None) -> Message:
    """Return a message of the conversation as mnemic's."""
    role, name = str(given["role"]), given.get("name")
    return Message(
        role=role,
        content=text,
        session=ids.run_id,
        speaker=name if isinstance(name, str) else None,
        sent_at=sent_at,
        origin=Origin.USER_STATED if role == "user" else Origin.AGENT_INFERRED,
        files=message_content(role, _parts_of(given))[1],
    )


# -- answers -----------------------------------------------------------------------------------------------------------


def payload(memory: Memory) -> dict[str, Any]:
    """Return the data of a memory with its user, for filters."""
    owner, data = memory.scope.owner, memory.data
    alone = owner in (f"agent:{data.get('agent_id')}", f"run:{data.get('run_id')}")
    return dict(data) if alone else {**data, "user_id": owner}


def text_of(memory: Memory) -> str:
    """Return the text of a memory; for a value, preceded by its key."""
    return key_shown(memory) + memory.content


def key_shown(memory: Memory) -> str:
    """Return what precedes the text of a memory with a key."""
    return "" if memory.key is None else f"{memory.key.replace('_', ' ')}: "


def times(memory: Memory) -> dict[str, str]:
    """Return when a memory was made and last changed. A time of creation in its metadata counts, and for a message the
    time at which it was said.
    """
    said = memory.occurred_at if memory.category == MESSAGE_CATEGORY else None
    given, changed = memory.data.get("created_at", said and said.isoformat()), memory.updated_at.isoformat()
    try:
        datetime.fromisoformat(str(given))
    except ValueError:
        return {"created_at": memory.created_at.isoformat(), "updated_at": changed}
    return {"created_at": str(given), "updated_at": changed if memory.version > 1 else str(given)}


def item(memory: Memory, **more: Any) -> dict[str, Any]:
    """Return a memory as mem0 shows it."""
    payload_of, text, at = payload(memory), text_of(memory), times(memory)
    hidden = {
        *_PROMOTED,
        "user_id",
        "mem0",
        *(["created_at"] if payload_of.get("created_at") == at["created_at"] else []),
    }
    rest = {name: value for name, value in payload_of.items() if name not in hidden}
    found: dict[str, Any] = {
        "id": memory.memory_id,
        "memory": text,
        "hash": hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest(),
        "metadata": plain(rest) or None,
        "score": None,
        **at,
    }
    if "mem0" not in payload_of:  # an imported memory is shown as mem0 showed it
        found["attributed_to"] = _ATTRIBUTED.get(memory.source.origin)
    found |= {name: payload_of[name] for name in ("user_id", *_PROMOTED) if payload_of.get(name) is not None}
    return found | more


def score_details(hit: Hit, score: float, threshold: float) -> dict[str, Any]:
    """Return how a hit was found: mem0's parts of the score, and the rank in each list."""
    ranks = {name: {"position": rank.position, "score": rank.score} for name, rank in hit.ranks.items()}
    parts = {"semantic_score": "vector", "bm25_score": "keyword", "entity_boost": "graph"}
    named = {name: hit.ranks[own].score if own in hit.ranks else 0.0 for name, own in parts.items()}
    return {**named, "final_score": score, "threshold": threshold, "why": hit.why, "ranks": ranks}


def change(memory: Memory, before: Memory | None) -> dict[str, Any]:
    """Return one version of a memory as a row of its history."""
    return {
        "id": f"{memory.memory_id}:{memory.version}",
        "memory_id": memory.memory_id,
        "old_memory": None if before is None else text_of(before),
        "new_memory": text_of(memory),
        "event": "ADD" if before is None else "UPDATE",
        **times(memory),
        "is_deleted": False,
        "actor_id": memory.data.get("actor_id"),
        "role": memory.data.get("role"),
    }


async def deletions(store: RecordStore, tenant: str, memory_id: str) -> AsyncIterator[dict[str, Any]]:
    """Yield the row of a deleted memory, as the audit knows it."""
    after, made = 0, None
    while lines := await store.audit(tenant, after=after, limit=_PAGE):
        for line in (one for one in lines if one.memory_id == memory_id):
            if line.action == "created":
                made = line.at.astimezone(UTC)
            elif line.action in _DELETIONS:
                yield _deletion(memory_id, line.version or 0, made, line.at.astimezone(UTC))
        after = lines[-1].sequence


def _deletion(memory_id: str, version: int, made: datetime | None, at: datetime) -> dict[str, Any]:
    """Return the row of a history for a deleted memory, without its content. `made` is None for an imported one."""
    return {
        "id": f"{memory_id}:{version}",
        "memory_id": memory_id,
        "old_memory": None,
        "new_memory": None,
        "event": "DELETE",
        "created_at": made.isoformat() if made else None,
        "updated_at": at.isoformat(),
        "is_deleted": True,
        "actor_id": None,
        "role": None,
    }


_READ = frozenset({"mnemic", "llm", "embedder", "reranker", "custom_instructions", "version"})
_COHERES_RERANKER = "https://api.cohere.com/v2"


class MemoryConfig(dict[str, Any]):
    """mem0's configuration as an object: its parts as named arguments, each a dictionary."""


@dataclass(frozen=True, slots=True)
class _Provider:
    """A provider of mem0's: the vendor before the name of a model or an embedder here ("" for a server with OpenAI's
    protocol), the server's address, the variable of its key where mnemic does not read it itself, and the model where
    none is named.
    """

    vendor: str = ""
    url: str | None = None
    variable: str = ""
    model: str | None = None


_LLMS: Mapping[str, _Provider] = MappingProxyType(
    {
        "openai": _Provider(model="gpt-5-mini"),
        "openai_structured": _Provider(model="gpt-5-mini"),
        "anthropic": _Provider("anthropic", model="claude-sonnet-4-6"),
        "gemini": _Provider("gemini", model="gemini-2.0-flash"),
        "ollama": _Provider("ollama", model="llama3.1:70b"),
        "aws_bedrock": _Provider("bedrock", model="anthropic.claude-3-5-sonnet-20240620-v1:0"),
        "azure_openai": _Provider("azure"),
        "azure_openai_structured": _Provider("azure"),
        "groq": _Provider(
            url="https://api.groq.com/openai/v1", variable="GROQ_API_KEY", model="llama-3.3-70b-versatile"
        ),
        "deepseek": _Provider(url="https://api.deepseek.com", variable="DEEPSEEK_API_KEY", model="deepseek-chat"),
        "together": _Provider(
            url="https://api.together.xyz/v1", variable="TOGETHER_API_KEY", model="MiniMaxAI/MiniMax-M3"
        ),
        "xai": _Provider(url="https://api.x.ai/v1", variable="XAI_API_KEY", model="grok-4.3"),
        "minimax": _Provider(url="https://api.minimax.io/v1", variable="MINIMAX_API_KEY", model="MiniMax-M2.7"),
        "sarvam": _Provider(url="https://api.sarvam.ai/v1", variable="SARVAM_API_KEY", model="sarvam-m"),
        "lmstudio": _Provider(url="http://localhost:1234/v1"),
        "vllm": _Provider(url="http://localhost:8000/v1", variable="VLLM_API_KEY", model="Qwen/Qwen2.5-32B-Instruct"),
    }
)
_EMBEDDERS: Mapping[str, _Provider] = MappingProxyType(
    {
        "openai": _Provider("http", OPENAIS_SERVER, "OPENAI_API_KEY", "text-embedding-3-small"),
        "ollama": _Provider("ollama", model="nomic-embed-text"),
        "gemini": _Provider("gemini", model="gemini-embedding-001"),
        "aws_bedrock": _Provider("bedrock", model="amazon.titan-embed-text-v1"),
        "azure_openai": _Provider("azure"),
        "fastembed": _Provider("fastembed", model="thenlper/gte-large"),
        "together": _Provider(
            "http", "https://api.together.xyz/v1", "TOGETHER_API_KEY", "intfloat/multilingual-e5-large-instruct"
        ),
        "lmstudio": _Provider("http", "http://localhost:1234/v1"),
        "huggingface": _Provider("http", model="tei"),
    }
)
_DIMENSIONS: Mapping[str, int] = MappingProxyType(
    {
        "text-embedding-3-small": 1536,
        "text-embedding-3-large": 3072,
        "text-embedding-ada-002": 1536,
        "nomic-embed-text": 768,
        "mxbai-embed-large": 1024,
        "gemini-embedding-001": 768,
        "amazon.titan-embed-text-v1": 1536,
        "amazon.titan-embed-text-v2:0": 1024,
        "thenlper/gte-large": 1024,
        "intfloat/multilingual-e5-large-instruct": 1024,
    }
)
"""Values of a vector of the models in mem0's own pages, where a configuration does not tell."""


def settings_of(config: Any) -> Settings:
    """Return the settings that a configuration names: those of mnemic under `mnemic`, which come first, language model,
    embedder, reranker and instructions as mem0 names them. Settings that only mem0 has, such as its vector store, are
    ignored. Raises NotSupported (`mem0:llm`, `mem0:embedder`) for a provider that is not offered here.
    """
    given = _as_mapping(config)
    named: dict[str, Any] = {}
    if section := given.get("llm"):
        named |= _language_model(section)
    if section := given.get("embedder"):
        named |= _embedder(section, given.get("vector_store"))
    if section := given.get("reranker"):
        named |= _reranker(section)
    if given.get("custom_instructions"):
        named["extraction_instructions"] = given["custom_instructions"]
    for ignored in given.keys() - _READ:
        _LOG.info("the part %s of the configuration is mem0's own and is not used", ignored)
    return Settings.load(**(named | dict(given.get("mnemic") or {})))


def _as_mapping(config: Any) -> Mapping[str, Any]:
    """Return the configuration as a mapping; of mem0's `MemoryConfig` only the fields that were set, no defaults."""
    if hasattr(config, "model_dump"):
        found: Mapping[str, Any] = config.model_dump(exclude_unset=True)
        return found
    return config if isinstance(config, Mapping) else {}


def _language_model(section: Mapping[str, Any]) -> dict[str, Any]:
    provider, asked = _provider("llm", section, _LLMS)
    model = asked.get("model") or provider.model
    if provider.vendor == "azure":
        asked = _azures(asked)
        model = asked["model"] or model
    if not model:
        raise NotSupported("mem0:llm", hint="the configuration names no model")
    url, key = _server(section, provider, asked)
    name = f"{provider.vendor}:{str(model).removeprefix('models/')}" if provider.vendor else model
    return _drop_none(model=name, model_url=url, api_key=key)


def _embedder(section: Mapping[str, Any], vector_store: Any) -> dict[str, Any]:
    provider, asked = _provider("embedder", section, _EMBEDDERS)
    model = asked.get("model") or provider.model
    if provider.vendor == "azure":
        asked = _azures(asked)
        model = asked["model"] or model
    url, key = _server(section, provider, asked)
    if provider.vendor == "http" and url is None:
        raise NotSupported("mem0:embedder", hint="a server (huggingface_base_url), or mnemic[fastembed]")
    model = str(model or "").removeprefix("models/")
    store = (vector_store or {}).get("config") or {}
    size = asked.get("embedding_dims") or _DIMENSIONS.get(model) or store.get("embedding_model_dims")
    if not (model and size):
        raise NotSupported("mem0:embedder", hint="the configuration must name the model and its embedding_dims")
    return _drop_none(
        embedder=provider.vendor, embedder_model=model, embedder_url=url, embedder_key=key, embedder_dimension=size
    )


def _reranker(section: Mapping[str, Any]) -> dict[str, Any]:
    asked = section.get("config") or {}
    if section.get("provider") != "cohere":
        _LOG.warning("the reranker %s is not offered: see MNEMIC_RERANKER", section.get("provider"))
        return {}
    key = asked.get("api_key") or os.environ.get("COHERE_API_KEY")
    model = asked.get("model") or "rerank-v3.5"
    return _drop_none(reranker="cohere", reranker_url=_COHERES_RERANKER, reranker_model=model, reranker_key=key)


def _provider(
    part: str, section: Mapping[str, Any], known: Mapping[str, _Provider]
) -> tuple[_Provider, Mapping[str, Any]]:
    name = section.get("provider") or "openai"
    if name not in known:
        raise NotSupported(f"mem0:{part}", hint=f"{name} is not offered; an OpenAI-compatible server is, or `mnemic`")
    return known[name], section.get("config") or {}


def _server(section: Mapping[str, Any], provider: _Provider, asked: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return address and key. A key of the environment goes to the vendor's own address alone."""
    name = str(section.get("provider") or "openai").removesuffix("_structured")
    own = asked.get(f"{name}_base_url")
    key = asked.get("api_key")
    if key is None and own is None and provider.url is not None and provider.variable:
        key = os.environ.get(provider.variable)
    return own or provider.url, key


def _azures(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of Azure's client by the names of the others'."""
    own = asked.get("azure_kwargs") or {}
    return {
        **asked,
        "model": own.get("azure_deployment") or asked.get("model"),
        "azure_openai_base_url": own.get("azure_endpoint"),
        "api_key": own.get("api_key") or asked.get("api_key"),
    }


def _drop_none(**named: Any) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}
