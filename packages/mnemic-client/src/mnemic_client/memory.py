"""The verbs of a memory that a service keeps. Each does what the library's verb of the same name does; see there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote

from mnemic.catalog import CATALOG
from mnemic.errors import MemoryNotFound
from mnemic.maintain.export import from_dict
from mnemic.maintain.lineage import Lineage, Use
from mnemic.maintain.undo import UndoReceipt
from mnemic.sync_facade import Ground, M, verb
from mnemic.trace import RunReport
from mnemic.types import Candidate, CarriedOut, Kind, Level, Memory, MemoryRequest, Message, WriteReceipt, from_json
from mnemic.types.recalling import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS
from mnemic_client.answers import receipt_of, report_of
from mnemic_client.bodies import (
    Context,
    Found,
    ImportState,
    at,
    found_in,
    import_state,
    iso,
    memories,
    message_body,
    names,
    proposed,
    receipts,
    told_ttl,
    use,
)
from mnemic_client.failures import failure_of
from mnemic_client.governance import carried_out
from mnemic_client.kinds import RemoteData, RemoteEntities, RemoteEpisodes, RemotePersona
from mnemic_client.remote import events
from mnemic_client.upkeep import RemoteUpkeep

K = TypeVar("K")

PART = 100
"""Memories that an import sends at once."""


class MemoryClient(RemoteUpkeep[M]):
    """The memory of the credential's user. Errors are the library's, and ServiceRefused for what the
    service itself refuses (`service_refused:unauthenticated`, `:role_required:...`, `:rate_limited`, `:unreachable`).
    """

    # -- writing ------------------------------------------------------------------------------------------------------

    @verb
    async def add(
        self,
        content: str | Candidate,
        kind: Kind | str = Kind.LONG_TERM,
        *,
        key: str | None = None,
        level: Level | str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        confidence: float = 0.8,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
        ttl_days: int | None = None,
    ) -> WriteReceipt:
        """Remember one thing; of a ready `Candidate` the other arguments are ignored. `ttl_days` is the `ttl` of
        earlier releases.
        """
        candidate = content if isinstance(content, Candidate) else None
        body = (
            proposed(candidate)
            if candidate is not None
            else {
                "content": content,
                "kind": str(kind),
                "key": key,
                "level": str(level or CATALOG[Kind(kind)].level),
                "category": category,
                "data": dict(data or {}),
                "ttl": told_ttl(timedelta(days=ttl_days) if ttl is None and ttl_days is not None else ttl),
                "confidence": confidence,
                "occurred_at": iso(occurred_at, "occurred_at"),
            }
        )
        headers = {"Idempotency-Key": idempotency_key}
        return receipt_of(await self._remote.call("POST", "/v1/memories", body, headers=headers))

    @verb
    async def add_many(
        self, candidates: Sequence[Candidate], *, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """Remember many things; one receipt each, in order."""
        body = {
            "memories": [proposed(candidate) for candidate in candidates],
            "idempotency_keys": None if idempotency_keys is None else [*idempotency_keys],
        }
        return receipts(await self._remote.call("POST", "/v1/memories/batch", body))

    @verb
    async def record(self, messages: Sequence[Message]) -> Sequence[WriteReceipt]:
        """Keep the messages of a conversation themselves, as episodic memories."""
        body = {"messages": [message_body(message) for message in messages]}
        return receipts(await self._remote.call("POST", "/v1/messages", body))

    @verb
    async def capture(self, message: str | Message, *, idempotency_key: str | None = None) -> RunReport:
        """Remember what is worth it in something the user said."""
        said = message if isinstance(message, Message) else Message(role="user", content=message)
        headers = {"Idempotency-Key": idempotency_key}
        return report_of(await self._remote.call("POST", "/v1/capture", message_body(said), headers=headers))

    @verb
    async def update(
        self,
        memory_id: str,
        content: str,
        *,
        data: Mapping[str, Any] | None = None,
        context: str | None = None,
        expected_version: int | None = None,
    ) -> WriteReceipt:
        """Correct a memory: its next version says something else. Raises VersionConflict, MemoryNotFound."""
        headers = {"If-Match": None if expected_version is None else f'"{expected_version}"'}
        body = {"content": content, "data": None if data is None else dict(data), "context": context}
        return receipt_of(await self._remote.call("PATCH", at(memory_id), body, headers=headers))

    @verb
    async def forget(self, memory_id: str) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self._remote.call("DELETE", at(memory_id))

    @verb
    async def carry_out(self, request: MemoryRequest) -> CarriedOut:
        """Do what a message asked of memory, once its user has confirmed it. Returns once an erasure has ended."""
        told = await self._remote.call("POST", "/v1/memory-requests", request.to_dict())
        return await carried_out(self._remote, told)

    @verb
    async def undo(self, memory_id: str) -> UndoReceipt:
        """Take back what a memory replaced: a merge, a new value under a key, an approval."""
        return from_json(UndoReceipt, await self._remote.call("POST", f"{at(memory_id)}/undo"))

    @verb
    async def rollback(self, memory_id: str, version: int) -> WriteReceipt:
        """Make a memory say again what it said in `version`."""
        return receipt_of(await self._remote.call("POST", f"{at(memory_id)}/rollback", {"version": version}))

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
            state = import_state(await self._remote.call("GET", place))
        except MemoryNotFound:
            state = ImportState(import_id=import_id, taken=0, outcomes={})
        source = islice(iter(memories), state.taken, None)
        while some := list(islice(source, part)):
            body = {"at": state.taken, "memories": [dict(one) for one in some]}
            told = await self._remote.call("POST", place, body, repeatable=True)
            state, before = import_state(told), state.taken
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
        levels: Sequence[str] | None = None,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        preference_bias: bool = False,
    ) -> Found:
        """Return the best memories for `query`, each with why it was found."""
        body = {
            "query": query,
            "top_k": top_k,
            "levels": levels,
            "kinds": names(kinds),
            "categories": categories,
            "keys": keys,
            "where": None if where is None else dict(where),
            "happened_from": iso(happened_from, "window"),
            "happened_to": iso(happened_to, "window"),
            "as_of": iso(as_of, "as_of"),
            "known_at": iso(known_at, "known_at"),
            "min_score": min_score,
            "max_tokens": max_tokens,
            "preference_bias": preference_bias,
        }
        return found_in(await self._remote.call("POST", "/v1/search", body, repeatable=True))

    @verb
    async def context(
        self, query: str, *, top_k: int = DEFAULT_MAX_ENTRIES, max_tokens: int = DEFAULT_MAX_TOKENS
    ) -> Context:
        """Return a block of memories, ready to be put into one model call as data; it is logged as injected."""
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
        times = {"as_of": iso(as_of, "as_of"), "known_at": iso(known_at, "known_at")}
        return from_dict(await self._remote.call("GET", at(memory_id), params=times))

    @verb
    async def list(
        self,
        *,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[Memory]:
        """Active memories, newest first; `before` is the memory_id that ended the previous page."""
        asked = {
            "kinds": names(kinds),
            "categories": categories,
            "keys": keys,
            "where": None if where is None else json.dumps(dict(where)),
            "as_of": iso(as_of, "as_of"),
            "known_at": iso(known_at, "known_at"),
            "limit": limit,
            "before": before,
        }
        return memories((await self._remote.call("GET", "/v1/memories", params=asked))["memories"])

    @verb
    async def count(self, *, as_of: datetime | None = None, known_at: datetime | None = None) -> int:
        """Return the number of active memories."""
        times = {"as_of": iso(as_of, "as_of"), "known_at": iso(known_at, "known_at")}
        count: int = (await self._remote.call("GET", "/v1/memories/count", params=times))["count"]
        return count

    @verb
    async def history(
        self, memory_id: str, *, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Sequence[Memory]:
        """All versions of a memory, oldest first. Raises MemoryNotFound."""
        times = {"as_of": iso(as_of, "as_of"), "known_at": iso(known_at, "known_at")}
        return memories((await self._remote.call("GET", f"{at(memory_id)}/history", params=times))["versions"])

    @verb
    async def lineage(self, memory_id: str) -> Lineage:
        """Return what a memory took the place of, newest first, and what took its place, in order."""
        told = await self._remote.call("GET", f"{at(memory_id)}/lineage")
        earlier, later = (tuple(memories(told[name])) for name in ("earlier", "later"))
        return Lineage(memory=from_dict(told["memory"]), earlier=earlier, later=later, complete=told["complete"])

    @verb
    async def uses(
        self, memory_id: str, *, before: int | None = None, limit: int = 50
    ) -> tuple[Sequence[Use], int | None]:
        """Return what was done with a memory, newest first, and where the next page begins. Of the `actor` a service
        only tells whether it was oneself (`me`, else empty).
        """
        told = await self._remote.call("GET", f"{at(memory_id)}/uses", params={"before": before, "limit": limit})
        return [use(one) for one in told["uses"]], told["next"]

    @verb
    async def run(
        self,
        *,
        message: str | Message | None = None,
        goal: str | None = None,
        context: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> RunReport:
        """One memory-augmented turn."""
        text = message.content if isinstance(message, Message) else message
        body = {"message": text, "goal": goal, "context": dict(context or {})}
        headers = {"Idempotency-Key": idempotency_key}
        return report_of(await self._remote.call("POST", "/v1/runs", body, headers=headers))

    async def user(self) -> str | None:
        """Return the user of the credential; None for an application."""
        user: str | None = (await self._remote.call("GET", "/v1/whoami"))["user"]
        return user

    def kinds_on(
        self, ground: Ground[K]
    ) -> tuple[RemotePersona[K], RemoteEpisodes[K], RemoteEntities[K], RemoteData[K]]:
        """Return the kinds of this memory, called as `ground` says."""
        remote = self._remote
        views = (RemotePersona(ground, remote), RemoteEpisodes(ground, remote), RemoteEntities(ground, remote))
        return (*views, RemoteData(ground, remote))

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
