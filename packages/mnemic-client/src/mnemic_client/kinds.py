"""The kinds of a memory that a service keeps: episodes, entities, structured data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mnemic.errors import NotSupported
from mnemic.kinds.entity import Extracted
from mnemic.kinds.episodic import Ending, Episode, Lesson, Step
from mnemic.maintain.export import from_dict
from mnemic.sync_facade import Face, Ground, M, verb
from mnemic.types import Memory, Message, Neighbour, Node, Relation, WriteReceipt
from mnemic_client.answers import episode_of, lesson_of, neighbour_of, node_of, receipt_of, relation_of
from mnemic_client.bodies import at as place_of
from mnemic_client.bodies import iso, memories, receipts
from mnemic_client.remote import Remote

if TYPE_CHECKING:
    from mnemic.extract.structured.shape import Shape


class _View(Face[M]):
    def __init__(self, ground: Ground[M], remote: Remote) -> None:
        super().__init__(ground)
        self._remote = remote


class RemoteEpisodes(_View[M]):
    """Episodes; see `mnemic.kinds.episodic`."""

    @verb
    async def record(
        self,
        task: str,
        steps: Sequence[Step | Mapping[str, Any]],
        *,
        outcome: Ending,
        episode_id: str | None = None,
        occurred_at: datetime | None = None,
    ) -> WriteReceipt:
        """Keep an episode: all its steps or nothing."""
        body = {
            "task": task,
            "steps": [asdict(step) if isinstance(step, Step) else dict(step) for step in steps],
            "outcome": outcome,
            "episode_id": episode_id,
            "occurred_at": iso(occurred_at, "occurred_at"),
        }
        return receipt_of(await self._remote.call("POST", "/v1/episodes", body, repeatable=episode_id is not None))

    @verb
    async def feedback(self, memory_id: str, content: str) -> WriteReceipt:
        """Add what somebody said of an episode afterwards. Raises MemoryNotFound."""
        place = f"/v1/episodes/{quote(memory_id, safe='')}/feedback"
        return receipt_of(await self._remote.call("POST", place, {"content": content}))

    @verb
    async def get(self, memory_id: str) -> Episode:
        """One episode with its feedback. Raises MemoryNotFound."""
        return episode_of(await self._remote.call("GET", f"/v1/episodes/{quote(memory_id, safe='')}"))

    @verb
    async def walk(self, memory_id: str) -> Sequence[Neighbour]:
        """Raise NotSupported: a service does not tell the graph of an episode; `get` has its steps in order."""
        raise NotSupported("walk:remote", hint="`episodic.get` has the steps in order")

    @verb
    async def recent(self, *, limit: int = 50, before: str | None = None) -> Sequence[Episode]:
        """Return the episodes that were recorded last, newest first."""
        told = await self._remote.call("GET", "/v1/episodes", params={"limit": limit, "cursor": before})
        return [episode_of(one) for one in told["episodes"]]

    @verb
    async def similar(self, task: str, *, top_k: int = 5, outcome: Ending | None = None) -> Sequence[Episode]:
        """Return the episodes whose task is most like `task`, best first."""
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
    async def relate(
        self,
        source: str,
        relation: str,
        target: str,
        *,
        since: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember that `source` (a name, or "me") stands in `relation` to `target`. Raises NotSupported for an
        `idempotency_key`.
        """
        _refuse("idempotency_key", idempotency_key)
        body = {"source": source, "relation": relation, "target": target, "since": iso(since, "since")}
        return receipt_of(await self._remote.call("POST", "/v1/entities/relations", body))

    @verb
    async def end(self, source: str, relation: str, target: str) -> WriteReceipt | None:
        """Remember that the relation holds no more; None where it was not known to hold."""
        body = {"source": source, "relation": relation, "target": target}
        told = (await self._remote.call("POST", "/v1/entities/relations/end", body))["receipt"]
        return None if told is None else receipt_of(told)

    @verb
    async def same(self, name: str, other: str) -> WriteReceipt:
        """Raise NotSupported: a service joins no two names."""
        raise NotSupported("same:remote")

    @verb
    async def apart(self, name: str, other: str) -> WriteReceipt | None:
        """Raise NotSupported: a service joins no two names."""
        raise NotSupported("apart:remote")

    @verb
    async def extract(self, text: str | Message, *, idempotency_key: str | None = None) -> Extracted:
        """Remember who and what a text of the user's names. Raises NotSupported for a message, whose role and time a
        service does not take here, and for an `idempotency_key`.
        """
        if isinstance(text, Message):
            raise NotSupported("message:remote", hint="give its text")
        _refuse("idempotency_key", idempotency_key)
        return await self.extracted(text)

    async def extracted(self, text: str) -> Extracted:
        """Return the same, awaited."""
        told = await self._remote.call("POST", "/v1/entities/extract", {"text": text})
        return Extracted(receipts=tuple(receipts(told)), unresolved=told["unresolved"], skipped=tuple(told["skipped"]))

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
        asked = {"name": name, "hops": hops, "at": iso(at, "at"), "limit": limit}
        told = await self._remote.call("GET", "/v1/entities/neighbours", params=asked)
        return [neighbour_of(one) for one in told["neighbours"]]

    @verb
    async def path(
        self, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> Sequence[Relation] | None:
        """Return the shortest way from one to the other now, or `at` another time; None where there is none."""
        asked = {"source": source, "target": target, "hops": hops, "at": iso(at, "at")}
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
        """Return the approved traits, newest first."""
        return await self.known()

    async def known(self) -> Sequence[Memory]:
        """Return the same, awaited."""
        return [from_dict(one) for one in (await self._remote.call("GET", "/v1/persona"))["traits"]]

    @verb
    async def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of a trait, from its proposal on. Raises MemoryNotFound."""
        place = f"/v1/persona/traits/{quote(memory_id, safe='')}/history"
        return [from_dict(one) for one in (await self._remote.call("GET", place))["versions"]]

    @verb
    async def prompt(self, *, max_tokens: int = 400) -> str:
        """Return the persona as a block of data for a model's input."""
        told = await self._remote.call("GET", "/v1/persona/prompt", params={"max_tokens": max_tokens})
        text: str = told["text"]
        return text


class RemoteData(_View[M]):
    """Data of known shapes; see `mnemic.kinds.structured`. The shapes are those of the service."""

    @property
    def shapes(self) -> dict[str, Shape]:
        """Raises NotSupported: the schemas stay with the service."""
        raise NotSupported("shapes:remote", hint="GET /v1/structured names them")

    def define(self, name: str, schema: Mapping[str, Any], *, identity: Sequence[str] = ()) -> Shape:
        """Raise NotSupported: the shapes are those of the packages that the service has."""
        raise NotSupported("define:remote")

    @verb
    async def put(self, name: str, data: Mapping[str, Any]) -> Sequence[WriteReceipt]:
        """Keep data of the shape `name`; one receipt for each memory made or changed."""
        told = await self._remote.call("POST", f"/v1/structured/{name}", {"data": dict(data)})
        return [receipt_of(one) for one in told["receipts"]]

    @verb
    async def query(self, name: str, where: Mapping[str, Any] | None = None, *, limit: int = 50) -> Sequence[Memory]:
        """Return the newest data of the shape `name` whose fields are as `where` wants them."""
        body = {"where": dict(where or {}), "limit": limit}
        told = await self._remote.call("POST", f"/v1/structured/{name}/query", body, repeatable=True)
        return [from_dict(one) for one in told["memories"]]

    @verb
    async def extract(
        self, text: str, name: str | None = None, *, sent_at: datetime | None = None
    ) -> Sequence[Mapping[str, Any]]:
        """Find what `text` tells of known shapes, ready to be put; nothing is stored. Raises NotSupported for a `name`:
        a service reads all its shapes.
        """
        _refuse("name", name)
        told = await self._remote.call("POST", "/v1/structured/extract", _text(text, sent_at), repeatable=True)
        return [dict(one) for one in told["data"]]

    @verb
    async def capture(
        self, text: str, name: str | None = None, *, sent_at: datetime | None = None
    ) -> Sequence[WriteReceipt]:
        """Put what `extract` finds in `text`. Raises what `extract` and `put` do."""
        _refuse("name", name)
        return receipts(await self._remote.call("POST", "/v1/structured/capture", _text(text, sent_at)))

    @verb
    async def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of it, oldest first. Raises MemoryNotFound."""
        return memories((await self._remote.call("GET", f"{place_of(memory_id)}/history"))["versions"])


def _text(text: str, sent_at: datetime | None) -> dict[str, Any]:
    return {"text": text, "sent_at": iso(sent_at, "sent_at")}


def _refuse(name: str, given: object) -> None:
    """Raise NotSupported for an argument that a service does not take."""
    if given is not None:
        raise NotSupported(f"{name}:remote")
