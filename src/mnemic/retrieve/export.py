"""Memories as plain JSON data, out and in again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mnemic.errors import InvalidInput
from mnemic.ports import RecordStore
from mnemic.types import Candidate, JsonValue, Kind, Level, Memory, Origin, Scope, Source, Status, Trust, Where, aware

PAGE = 500
FORMAT = "mnemic/1"


def plain(value: JsonValue) -> Any:
    """Frozen JSON data as ordinary dicts and lists."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def as_dict(memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON data, without vector, fingerprint and index text. Times are ISO 8601 in UTC."""
    source = memory.source
    return {
        "format": FORMAT,
        "memory_id": memory.memory_id,
        "version": memory.version,
        "kind": memory.kind.value,
        "status": memory.status.value,
        "tenant": memory.scope.tenant,
        "level": memory.scope.level.value,
        "owner": memory.scope.owner,
        "key": memory.key,
        "category": memory.category,
        "content": memory.content,
        "context": memory.context,
        "data": plain(memory.data),
        "confidence": memory.confidence,
        "trust": memory.trust.name.lower(),
        "source": _source_dict(source),
        **{name: _iso(getattr(memory, name)) for name in _TIMES},
        "supersedes": list(memory.supersedes),
        "conflicts_with": list(memory.conflicts_with),
    }


def _source_dict(source: Source) -> dict[str, Any]:
    return {
        "origin": source.origin.value,
        "ref": source.ref,
        "session": source.session,
        "speaker": source.speaker,
        "quote": source.quote,
        "span": list(source.span) if source.span else None,
    }


def candidate_dict(candidate: Candidate) -> dict[str, Any]:
    """Return the export that `as_candidate` reads as this candidate, its lifetime and what it replaces left out."""
    return {
        "format": FORMAT,
        **{name: getattr(candidate, name) for name in ("key", "level", "category", "content", "context", "confidence")},
        "kind": candidate.kind.value,
        "data": plain(candidate.data),
        "source": _source_dict(candidate.source),
        **{name: _iso(getattr(candidate, name)) for name in ("occurred_at", "valid_from", "valid_to")},
    }


def from_dict(data: Mapping[str, Any]) -> Memory:
    """Return the memory of `as_dict`, without vector and fingerprint; with `agent` and `author` if known.

    Raises InvalidInput (`export:<field>`).
    """
    if data.get("format") != FORMAT:
        raise InvalidInput("export:format", hint=f"expected {FORMAT}")
    name = "scope"
    try:
        scope = Scope(tenant=data["tenant"], level=Level(data["level"]), owner=data["owner"])
        fields: dict[str, Any] = {
            "scope": scope,
            "agent": str(data.get("agent", "default")),
            "author": data.get("author"),
        }
        for name, read in _READ.items():
            fields[name] = read(data[name])
        for name in _TIMES:
            fields[name] = _moment(data, name)
            if name in ("created_at", "updated_at") and fields[name] is None:
                raise TypeError
        return Memory(**fields)
    except InvalidInput:
        raise
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
        raise InvalidInput(f"export:{name}") from None


def _source(data: Mapping[str, Any]) -> Source:
    span = data["span"]
    texts = {name: _optional(data[name]) for name in ("ref", "session", "speaker", "quote")}
    return Source(origin=Origin(data["origin"]), span=None if span is None else (int(span[0]), int(span[1])), **texts)


def _require_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _optional(value: object) -> str | None:
    return None if value is None else _require_text(value)


def _memory_id(value: object) -> str:
    return str(UUID(_require_text(value)))


def _lineage(value: Sequence[object]) -> tuple[str, ...]:
    return tuple(map(_memory_id, value))


_TIMES = ("created_at", "updated_at", "occurred_at", "valid_from", "valid_to", "expires_at")
_READ: Mapping[str, Callable[[Any], Any]] = {
    "memory_id": _memory_id,
    "version": int,
    "kind": Kind,
    "status": Status,
    "key": _optional,
    "category": _optional,
    "content": _require_text,
    "context": _require_text,
    "data": dict,
    "confidence": float,
    "trust": lambda name: Trust[name.upper()],
    "source": _source,
    "supersedes": _lineage,
    "conflicts_with": _lineage,
}


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


async def accepted_memories(store: RecordStore, where: Where) -> AsyncIterator[Memory]:
    """All memories that `where` accepts, newest first, page by page."""
    before: str | None = None
    while page := await store.newest(where, limit=PAGE, before=before):
        before = page[-1].memory_id
        for memory in page:
            yield memory


async def export_lines(store: RecordStore, where: Where) -> AsyncIterator[dict[str, Any]]:
    """Memories that `where` accepts, newest first, page by page; one dict each."""
    async for memory in accepted_memories(store, where):
        yield as_dict(memory)


def everything(where: Where) -> Where:
    """`where` widened to memories of every status."""
    return Where(scopes=where.scopes, kinds=where.kinds, statuses=frozenset(Status))


def as_candidate(data: Mapping[str, Any]) -> Candidate:
    """Return an exported memory as a candidate for another store. Its origin becomes `import` unless it was already
    less trusted.

    Raises InvalidInput (`invalid_input:export:<field>`).
    """
    if data.get("format") != FORMAT:
        raise InvalidInput("export:format", hint=f"expected {FORMAT}")
    source = data.get("source")
    if not isinstance(source, Mapping):
        raise InvalidInput("export:source")
    try:
        origin = Origin(source.get("origin", Origin.IMPORT))
        return Candidate(
            content=_text(data, "content"),
            key=data.get("key"),
            kind=Kind(data.get("kind", Kind.LONG_TERM)),
            level=str(data.get("level", "user")),
            category=data.get("category"),
            context=str(data.get("context") or ""),
            data=data.get("data") or {},
            confidence=data.get("confidence", 0.8),
            source=Source(
                origin=origin if origin in {Origin.TOOL_OUTPUT, Origin.WEB} else Origin.IMPORT,
                ref=source.get("ref"),
                session=source.get("session"),
                speaker=source.get("speaker"),
                quote=source.get("quote"),
            ),
            occurred_at=_moment(data, "occurred_at"),
            valid_from=_moment(data, "valid_from"),
            valid_to=_moment(data, "valid_to"),
        )
    except (ValueError, TypeError, AttributeError) as wrong:
        if isinstance(wrong, InvalidInput):
            raise
        raise InvalidInput("export:field") from None


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"export:{name}")
    return value


def _moment(data: Mapping[str, Any], name: str) -> datetime | None:
    value = data.get(name)
    return aware(datetime.fromisoformat(value), name) if value is not None else None
