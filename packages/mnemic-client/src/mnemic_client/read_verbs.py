"""Read verbs of a memory on a service. Each corresponds to the library's verb of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from mnemic.engine.lineage import Lineage, Use
from mnemic.facade.verbs import MemoryVerbs
from mnemic.kinds.retrieval import KindRetrieval
from mnemic.retrieve.export import from_dict
from mnemic.runtime.sync_facade import M
from mnemic.types import Memory
from mnemic_client.maintenance_verbs import RemoteUpkeep
from mnemic_client.remote import json_of
from mnemic_client.request_bodies import (
    Context,
    Found,
    body_of,
    found_in,
    iso,
    memories,
    memory_address,
    names,
    narrowing_fields,
    use,
)
from mnemic_client.response_values import hit_of, kind_hit_of
from mnemic_client.verb_parameters import like

PAGE = 200
"""Page size of a list of memories."""


class RemoteReading(RemoteUpkeep[M]):
    """Results of searches, contexts and lists."""

    @like(MemoryVerbs.search)
    async def search(self, given: SimpleNamespace) -> Found:
        """Return the best memories for `query`, each with why it was found."""
        body = body_of(given, happened_from="window", happened_to="window")
        if given.asked_at is None:  # a service of an earlier release does not know it
            del body["asked_at"]
        return found_in(await self._remote.call("POST", "/v1/search", body, repeatable=True))

    @like(MemoryVerbs.context)
    async def context(self, given: SimpleNamespace) -> Context:
        """Return a block of memories, ready to be put into one model call as data; it is logged as injected."""
        body = {"query": given.query, "top_k": given.top_k, "max_tokens": given.max_tokens}
        answer = await self._remote.call("POST", "/v1/context", body | narrowing_fields(given))
        plain = {name: answer[name] for name in ("text", "reason", "degraded", "abstained", "digest")}
        return Context(**plain, hits=tuple(hit_of(hit) for hit in answer["hits"]))

    @like(MemoryVerbs.retrieve)
    async def retrieve(self, given: SimpleNamespace) -> KindRetrieval:
        """Return the best results across kinds (None: all), best first, with failures in `errors`. A client has no
        working memory, only a `MemoryManager` has.
        """
        body = {"query": given.query, "kinds": names(given.kinds), "top_k": given.top_k}
        answer = await self._remote.call("POST", "/v1/retrieve", body, repeatable=True)
        return KindRetrieval([kind_hit_of(one) for one in answer["hits"]], answer["errors"])

    async def redact_text(self, text: str) -> str:
        """`text` without personal data, as the policy of the service has it; nothing is kept."""
        answer: str = (await self._remote.call("POST", "/v1/redactions", {"text": text}, repeatable=True))["text"]
        return answer

    @like(MemoryVerbs.get)
    async def get(self, given: SimpleNamespace) -> Memory:
        """One memory. Raises MemoryNotFound."""
        return from_dict(await self._remote.call("GET", memory_address(given.memory_id), params=_times(given)))

    @like(MemoryVerbs.list)
    async def list(self, given: SimpleNamespace) -> Sequence[Memory]:
        """Active memories, newest first; `before` is the memory_id that ended the previous page."""
        asked = _filter(given) | {"before": given.before}
        found: list[Memory] = []
        while True:
            asked["limit"] = min(given.limit - len(found), PAGE)
            answer = await self._remote.call("GET", "/v1/memories", params=asked)
            found += memories(answer["memories"])
            if answer["next"] is None or len(found) >= given.limit:
                return found
            asked["before"] = answer["next"]

    @like(MemoryVerbs.count)
    async def count(self, given: SimpleNamespace) -> int:
        """Return the number of active memories that meet a filter."""
        count: int = (await self._remote.call("GET", "/v1/memories/count", params=_filter(given)))["count"]
        return count

    @like(MemoryVerbs.history)
    async def history(self, given: SimpleNamespace) -> Sequence[Memory]:
        """All versions of a memory, oldest first. Raises MemoryNotFound."""
        answer = await self._remote.call("GET", f"{memory_address(given.memory_id)}/history", params=_times(given))
        return memories(answer["versions"])

    @like(MemoryVerbs.lineage)
    async def lineage(self, given: SimpleNamespace) -> Lineage:
        """Return the predecessors of a memory, newest first, and its successors, in order."""
        answer = await self._remote.call("GET", f"{memory_address(given.memory_id)}/lineage")
        earlier, later = (tuple(memories(answer[name])) for name in ("earlier", "later"))
        return Lineage(memory=from_dict(answer["memory"]), earlier=earlier, later=later, complete=answer["complete"])

    @like(MemoryVerbs.uses)
    async def uses(self, given: SimpleNamespace) -> tuple[Sequence[Use], int | None]:
        """Return the audit of a memory, newest first, and the start of the next page. A service reveals of the `actor`
        only whether it was the caller (`me`, else empty).
        """
        page = {"before": given.before, "limit": given.limit}
        answer = await self._remote.call("GET", f"{memory_address(given.memory_id)}/uses", params=page)
        return [use(one) for one in answer["uses"]], answer["next"]


def _filter(given: SimpleNamespace) -> dict[str, Any]:
    """Return the filter of a list or a count as the parameters of a request."""
    return {
        "kinds": names(given.kinds),
        "categories": given.categories,
        "keys": given.keys,
        "where": None if given.where is None else json_of(dict(given.where), "where"),
        "happened_from": iso(given.happened_from, "window"),
        "happened_to": iso(given.happened_to, "window"),
        **_times(given),
    }


def _times(given: SimpleNamespace) -> dict[str, str | None]:
    """Return the times of a read in the form that the service takes."""
    return {"as_of": iso(given.as_of, "as_of"), "known_at": iso(given.known_at, "known_at")}
