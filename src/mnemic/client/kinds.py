"""The kinds of a memory that a service keeps: episodes, entities, structured data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from mnemic.client.answers import episode_of, lesson_of, neighbour_of, node_of, receipt_of, relation_of
from mnemic.client.remote import Remote
from mnemic.kinds.episodic import Ending, Episode, Lesson
from mnemic.maintain.export import from_dict
from mnemic.sync_facade import Face, Ground, M, verb
from mnemic.types import Memory, Neighbour, Node, Relation, WriteReceipt


class _View(Face[M]):
    def __init__(self, ground: Ground[M], remote: Remote) -> None:
        super().__init__(ground)
        self._remote = remote


class RemoteEpisodes(_View[M]):
    """Episodes; see `mnemic.kinds.episodic`."""

    @verb
    async def record(
        self, task: str, steps: Sequence[Mapping[str, Any]], *, outcome: Ending, episode_id: str | None = None
    ) -> WriteReceipt:
        """Keep an episode: all its steps or nothing."""
        body = {"task": task, "steps": [dict(step) for step in steps], "outcome": outcome, "episode_id": episode_id}
        return receipt_of(await self._remote.call("POST", "/v1/episodes", body, repeatable=episode_id is not None))

    @verb
    async def recent(self, *, limit: int = 50, before: str | None = None) -> Sequence[Episode]:
        """The episodes that were recorded last, newest first."""
        told = await self._remote.call("GET", "/v1/episodes", params={"limit": limit, "cursor": before})
        return [episode_of(one) for one in told["episodes"]]

    @verb
    async def similar(self, task: str, *, top_k: int = 5, outcome: Ending | None = None) -> Sequence[Episode]:
        """The episodes whose task is most like `task`, best first."""
        body = {"task": task, "top_k": top_k, "outcome": outcome}
        told = await self._remote.call("POST", "/v1/episodes/similar", body, repeatable=True)
        return [episode_of(one) for one in told["episodes"]]

    @verb
    async def lessons(self, task: str, *, top_k: int = 5) -> Sequence[Lesson]:
        """Return what failed before in the episodes most like `task`, and what worked instead."""
        told = await self._remote.call("POST", "/v1/episodes/lessons", {"task": task, "top_k": top_k}, repeatable=True)
        return [lesson_of(one) for one in told["lessons"]]


class RemoteEntities(_View[M]):
    """People and things that the user speaks of; see `mnemic.kinds.entity`."""

    @verb
    async def mention(self, name: str, *, label: str = "thing", aliases: Sequence[str] = ()) -> Sequence[WriteReceipt]:
        """Remember that there is something of this name."""
        body = {"name": name, "label": label, "aliases": list(aliases)}
        return [receipt_of(one) for one in (await self._remote.call("POST", "/v1/entities", body))["receipts"]]

    @verb
    async def relate(self, source: str, relation: str, target: str) -> WriteReceipt:
        """Remember that `source` (a name, or "me") stands in `relation` to `target`."""
        body = {"source": source, "relation": relation, "target": target}
        return receipt_of(await self._remote.call("POST", "/v1/entities/relations", body))

    @verb
    async def extract(self, text: str) -> Sequence[WriteReceipt]:
        """Remember who and what a text of the user's names; one receipt for each."""
        return await self.extracted(text)

    async def extracted(self, text: str) -> Sequence[WriteReceipt]:
        """The same, awaited."""
        told = await self._remote.call("POST", "/v1/entities/extract", {"text": text})
        return [receipt_of(one) for one in told["receipts"]]

    @verb
    async def of_user(self, label: str | None = None, *, limit: int = 50) -> Sequence[Node]:
        """Return what the user has spoken of, last first."""
        told = await self._remote.call("GET", "/v1/entities", params={"label": label, "limit": limit})
        return [node_of(one) for one in told["entities"]]

    @verb
    async def neighbours(
        self, name: str = "me", *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """Return what is within `hops` relations of `name`, nearest first, each with the way there."""
        asked = {"name": name, "hops": hops, "at": None if at is None else at.isoformat(), "limit": limit}
        told = await self._remote.call("GET", "/v1/entities/neighbours", params=asked)
        return [neighbour_of(one) for one in told["neighbours"]]

    @verb
    async def path(self, source: str, target: str, *, hops: int = 4) -> Sequence[Relation] | None:
        """The shortest way from one to the other; None where there is none."""
        asked = {"source": source, "target": target, "hops": hops}
        told = (await self._remote.call("GET", "/v1/entities/path", params=asked))["path"]
        return None if told is None else [relation_of(one) for one in told]


class RemotePersona(_View[M]):
    """The persona of the credential's agent; see `mnemic.kinds.persona`."""

    @verb
    async def learn(self, trait: str, *, evidence: str | None = None) -> WriteReceipt:
        """Propose a trait, with the words that it was learnt from; it waits for review."""
        body = {"trait": trait, "evidence": evidence}
        return receipt_of(await self._remote.call("POST", "/v1/persona/traits", body))

    @verb
    async def traits(self) -> Sequence[Memory]:
        """The approved traits, newest first."""
        return await self.known()

    async def known(self) -> Sequence[Memory]:
        """The same, awaited."""
        return [from_dict(one) for one in (await self._remote.call("GET", "/v1/persona"))["traits"]]

    @verb
    async def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of a trait, from its proposal on. Raises MemoryNotFound."""
        place = f"/v1/persona/traits/{quote(memory_id, safe='')}/history"
        return [from_dict(one) for one in (await self._remote.call("GET", place))["versions"]]

    @verb
    async def prompt(self, *, max_tokens: int = 400) -> str:
        """The persona as a block of data for a model's input."""
        told = await self._remote.call("GET", "/v1/persona/prompt", params={"max_tokens": max_tokens})
        text: str = told["text"]
        return text


class RemoteData(_View[M]):
    """Data of known shapes; see `mnemic.kinds.structured`."""

    @verb
    async def put(self, name: str, data: Mapping[str, Any]) -> Sequence[WriteReceipt]:
        """Keep data of the shape `name`; one receipt for each memory made or changed."""
        told = await self._remote.call("POST", f"/v1/structured/{name}", {"data": dict(data)})
        return [receipt_of(one) for one in told["receipts"]]

    @verb
    async def query(self, name: str, where: Mapping[str, Any] | None = None, *, limit: int = 50) -> Sequence[Memory]:
        """The newest data of the shape `name` whose fields are as `where` wants them."""
        body = {"where": dict(where or {}), "limit": limit}
        told = await self._remote.call("POST", f"/v1/structured/{name}/query", body, repeatable=True)
        return [from_dict(one) for one in told["memories"]]
