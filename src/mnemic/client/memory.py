"""The verbs of a memory that a service keeps. Each does what the library's verb of the same name does; see there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import quote

from mnemic.client.answers import hit_of, receipt_of, report_of
from mnemic.client.failures import failure_of
from mnemic.client.remote import Remote, events
from mnemic.errors import MemoryNotFound
from mnemic.face import Face, Ground, M, verb
from mnemic.maintain.export import from_dict
from mnemic.trace import RunReport
from mnemic.types import Hit, Kind, Memory, Message, WriteReceipt
from mnemic.types.recalling import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS

PART = 100
"""Memories that an import sends at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, best first, and the lists that failed (`name: reason`). `abstains`: probably nothing about
    the query is known, by its `relevance` (0 to 1; None where that cannot be told).
    """

    hits: tuple[Hit, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    relevance: float | None = None
    abstains: bool = False

    @property
    def degraded(self) -> bool:
        """True when a list failed, so that a missing memory does not mean that there is none."""
        return bool(self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A block of memories for a model's input, as data, and which memories are in it. `digest` is in the audit.
    `abstained`: probably nothing about the query is known.
    """

    text: str = field(repr=False)
    memory_ids: tuple[str, ...]
    reason: str | None
    degraded: bool
    digest: str | None
    abstained: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportState:
    """How far an import has come: how many were taken, and what became of them by outcome."""

    import_id: str
    taken: int
    outcomes: Mapping[str, int]


class MemoryClient(Face[M]):
    """The memory of whoever the credential stands for. Errors are the library's, and ServiceRefused for what the
    service itself refuses (`service_refused:unauthenticated`, `:role_required:...`, `:rate_limited`, `:unreachable`).
    """

    def __init__(self, ground: Ground[M], remote: Remote) -> None:
        super().__init__(ground)
        self._remote = remote

    # -- writing ------------------------------------------------------------------------------------------------------

    @verb
    async def add(
        self,
        content: str,
        kind: Kind | str = Kind.LONG_TERM,
        *,
        key: str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl_days: int | None = None,
        confidence: float = 0.8,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember one thing."""
        body = {
            "content": content,
            "kind": str(kind),
            "key": key,
            "category": category,
            "data": dict(data or {}),
            "ttl_days": ttl_days,
            "confidence": confidence,
            "occurred_at": _iso(occurred_at),
        }
        headers = {"Idempotency-Key": idempotency_key}
        return receipt_of(await self._remote.call("POST", "/v1/memories", body, headers=headers))

    @verb
    async def record(self, messages: Sequence[Message]) -> Sequence[WriteReceipt]:
        """Keep the messages of a conversation themselves, as episodic memories."""
        body = {"messages": [_said(message) for message in messages]}
        return _receipts(await self._remote.call("POST", "/v1/messages", body))

    @verb
    async def capture(self, message: str | Message, *, idempotency_key: str | None = None) -> RunReport:
        """Remember what is worth it in something the user said."""
        said = message if isinstance(message, Message) else Message(role="user", content=message)
        headers = {"Idempotency-Key": idempotency_key}
        return report_of(await self._remote.call("POST", "/v1/capture", _said(said), headers=headers))

    @verb
    async def update(self, memory_id: str, content: str, *, expected_version: int | None = None) -> WriteReceipt:
        """Correct a memory: its next version says something else. Raises VersionConflict, MemoryNotFound."""
        headers = {"If-Match": None if expected_version is None else f'"{expected_version}"'}
        return receipt_of(await self._remote.call("PATCH", _at(memory_id), {"content": content}, headers=headers))

    @verb
    async def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self._remote.call("DELETE", _at(memory_id))

    @verb
    async def undo(self, memory_id: str) -> Sequence[str]:
        """Take back what a memory replaced; the memories that are active again."""
        restored: Sequence[str] = (await self._remote.call("POST", f"{_at(memory_id)}/undo"))["restored"]
        return restored

    @verb
    async def rollback(self, memory_id: str, version: int) -> WriteReceipt:
        """Make a memory say again what it said in `version`."""
        return receipt_of(await self._remote.call("POST", f"{_at(memory_id)}/rollback", {"version": version}))

    @verb
    async def import_all(
        self, import_id: str, memories: Iterable[Mapping[str, Any]], *, part: int = PART
    ) -> ImportState:
        """Take in memories (as `add` takes them: `content`, `key`, ...), `part` (at most 500) at a time. Called again
        with the same memories after it was cut off, it goes on where it stopped. Raises what the service's store or
        embedder failed with (StoreFailed, EmbedderFailed): the memories from there on are not taken yet.
        """
        place = f"/v1/imports/{quote(import_id, safe='')}"
        try:
            state = _state(await self._remote.call("GET", place))
        except MemoryNotFound:
            state = ImportState(import_id=import_id, taken=0, outcomes={})
        source = islice(iter(memories), state.taken, None)
        while some := list(islice(source, part)):
            body = {"at": state.taken, "memories": [dict(one) for one in some]}
            told = await self._remote.call("POST", place, body, repeatable=True)
            state, before = _state(told), state.taken
            if state.taken < before + len(some):
                raise failure_of(told["receipts"][state.taken - before], None)
        return state

    # -- reading ------------------------------------------------------------------------------------------------------

    @verb
    async def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
    ) -> Found:
        """The best memories for `query`, each with why it was found."""
        body = {
            "query": query,
            "top_k": top_k,
            "kinds": None if kinds is None else [str(kind) for kind in kinds],
            "categories": categories,
            "keys": keys,
            "happened_from": _iso(happened_from),
            "happened_to": _iso(happened_to),
            "as_of": _iso(as_of),
            "known_at": _iso(known_at),
            "min_score": min_score,
            "max_tokens": max_tokens,
        }
        told = await self._remote.call("POST", "/v1/search", body, repeatable=True)
        return Found(
            hits=tuple(hit_of(hit) for hit in told["hits"]),
            errors=told["errors"],
            relevance=told["relevance"],
            abstains=told["abstains"],
        )

    @verb
    async def context(
        self, query: str, *, top_k: int = DEFAULT_MAX_ENTRIES, max_tokens: int = DEFAULT_MAX_TOKENS
    ) -> Context:
        """A block of memories, ready to be put into one model call as data; it is logged as injected."""
        told = await self._remote.call(
            "POST", "/v1/context", {"query": query, "top_k": top_k, "max_tokens": max_tokens}
        )
        return Context(
            text=told["text"],
            memory_ids=tuple(one["memory_id"] for one in told["memories"]),
            reason=told["reason"],
            degraded=told["degraded"],
            digest=told["digest"],
            abstained=told.get("abstained", False),
        )

    @verb
    async def get(self, memory_id: str, *, as_of: datetime | None = None, known_at: datetime | None = None) -> Memory:
        """One memory. Raises MemoryNotFound."""
        times = {"as_of": _iso(as_of), "known_at": _iso(known_at)}
        return from_dict(await self._remote.call("GET", _at(memory_id), params=times))

    @verb
    async def list(
        self, *, kinds: Sequence[Kind | str] | None = None, limit: int = 50, before: str | None = None
    ) -> Sequence[Memory]:
        """Active memories, newest first; `before` is the memory_id that ended the previous page."""
        asked = {"kind": None if kinds is None else [str(kind) for kind in kinds], "limit": limit, "cursor": before}
        return _memories((await self._remote.call("GET", "/v1/memories", params=asked))["memories"])

    @verb
    async def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of a memory, oldest first. Raises MemoryNotFound."""
        return _memories((await self._remote.call("GET", f"{_at(memory_id)}/history"))["versions"])

    @verb
    async def lineage(self, memory_id: str) -> tuple[Sequence[Memory], Sequence[Memory]]:
        """What a memory took the place of, newest first, and what took its place, in order."""
        told = await self._remote.call("GET", f"{_at(memory_id)}/lineage")
        return _memories(told["earlier"]), _memories(told["later"])

    @verb
    async def run(
        self,
        *,
        message: str | None = None,
        goal: str | None = None,
        context: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> RunReport:
        """One memory-augmented turn."""
        body = {"message": message, "goal": goal, "context": dict(context or {})}
        headers = {"Idempotency-Key": idempotency_key}
        return report_of(await self._remote.call("POST", "/v1/runs", body, headers=headers))

    # -- one's own ----------------------------------------------------------------------------------------------------

    @verb
    async def consents(self) -> dict[str, bool]:
        """What the user has decided, by key."""
        decided: dict[str, bool] = (await self._remote.call("GET", "/v1/consents"))["consents"]
        return decided

    @verb
    async def grant_consent(self, key: str) -> None:
        """From now on memories under `key` may be written and found."""
        await self._remote.call("PUT", f"/v1/consents/{quote(key, safe='')}")

    @verb
    async def revoke_consent(self, key: str, *, erase_held: bool = False) -> int:
        """From now on nothing is written or found under `key`; how many memories are hidden now."""
        asked = {"erase": str(erase_held).lower()}
        hidden: int = (await self._remote.call("DELETE", f"/v1/consents/{quote(key, safe='')}", params=asked))["hidden"]
        return hidden

    @verb
    async def erase(self, subject: str | None = None, *, block: bool = False) -> dict[str, Any]:
        """Erase everything about oneself, or as an operator about `subject`; the receipt, which can be verified."""
        receipt: dict[str, Any] = await self._remote.call(
            "POST", "/v1/erasures", {"subject": subject, "block": block}, repeatable=True
        )
        return receipt

    # -- as it comes --------------------------------------------------------------------------------------------------

    def exported(self) -> AsyncIterator[str]:
        """Everything held about oneself, as JSON lines."""
        return self._remote.lines("GET", "/v1/export")

    def changes(self, *, after: str | None = None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """Each change of one's memories with its id, from behind `after` (now), until the service stops. Never any
        content.
        """
        return self._changes(after)

    async def _changes(self, after: str | None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        headers = {} if after is None else {"Last-Event-ID": after}
        async for name, data, event_id in events(self._remote.lines("GET", "/v1/changes", headers=headers)):
            if name == "change" and event_id is not None:
                yield event_id, data


def _at(memory_id: str) -> str:
    return f"/v1/memories/{quote(memory_id, safe='')}"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _said(message: Message) -> dict[str, Any]:
    names = ("role", "content", "message_id", "session", "speaker")
    return {name: getattr(message, name) for name in names} | {"sent_at": _iso(message.sent_at)}


def _state(said: Mapping[str, Any]) -> ImportState:
    return ImportState(import_id=said["import_id"], taken=said["taken"], outcomes=said["outcomes"])


def _memories(said: Sequence[Mapping[str, Any]]) -> Sequence[Memory]:
    return [from_dict(one) for one in said]


def _receipts(said: Mapping[str, Any]) -> Sequence[WriteReceipt]:
    return [receipt_of(one) for one in said["receipts"]]
