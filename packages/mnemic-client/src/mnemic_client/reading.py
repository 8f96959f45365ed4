"""The verbs that read a memory that a service keeps. Each does what the library's verb of the same name does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from mnemic.kinds.seven import Retrieved
from mnemic.maintain.export import from_dict
from mnemic.maintain.lineage import Lineage, Use
from mnemic.runtime.sync_facade import M, verb
from mnemic.types import Kind, Memory
from mnemic.types.defaults import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS
from mnemic_client.answers import hit_of, kind_hit_of
from mnemic_client.bodies import Context, Found, at, found_in, iso, memories, names, use
from mnemic_client.upkeep import RemoteUpkeep

PAGE = 200
"""Memories that a service lists at once; more are asked for page by page."""


class RemoteReading(RemoteUpkeep[M]):
    """Results of searches, contexts and lists."""

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
        body = {"query": query, "top_k": top_k, "max_tokens": max_tokens}
        told = await self._remote.call("POST", "/v1/context", body)
        plain = {name: told[name] for name in ("text", "reason", "degraded", "abstained", "digest")}
        return Context(**plain, hits=tuple(hit_of(hit) for hit in told["hits"]))

    @verb
    async def retrieve(self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10) -> Retrieved:
        """Return the best across kinds (None: all), best first, with what failed in `errors`. Working memory is that of
        a `MemoryManager`; a client has none.
        """
        body = {"query": query, "kinds": names(kinds), "top_k": top_k}
        told = await self._remote.call("POST", "/v1/retrieve", body, repeatable=True)
        return Retrieved([kind_hit_of(one) for one in told["hits"]], told["errors"])

    async def redacted(self, text: str) -> str:
        """`text` without personal data, as the policy of the service has it; nothing is kept."""
        told: str = (await self._remote.call("POST", "/v1/redactions", {"text": text}, repeatable=True))["text"]
        return told

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
        asked: dict[str, Any] = {
            "kinds": names(kinds),
            "categories": categories,
            "keys": keys,
            "where": None if where is None else json.dumps(dict(where)),
            "as_of": iso(as_of, "as_of"),
            "known_at": iso(known_at, "known_at"),
            "before": before,
        }
        found: list[Memory] = []
        while True:
            asked["limit"] = min(limit - len(found), PAGE)
            told = await self._remote.call("GET", "/v1/memories", params=asked)
            found += memories(told["memories"])
            if told["next"] is None or len(found) >= limit:
                return found
            asked["before"] = told["next"]

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
