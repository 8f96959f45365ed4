"""The kinds of a memory that a service keeps: episodes, entities, structured data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any
from urllib.parse import quote

from mnemic.kinds.entity import EntityExtraction
from mnemic.kinds.episodic import Ending, Episode, Lesson, Step
from mnemic.language.entities.relations import THING
from mnemic.retrieve.export import from_dict
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, verb
from mnemic.types import Memory, Message, Neighbour, Node, Origin, Relation, WriteReceipt, from_json, lower_origin
from mnemic_client.remote import Remote
from mnemic_client.request_bodies import iso, message_body, receipts
from mnemic_client.response_values import neighbour_of, receipt_of


class RemoteView(DualModeApi[M]):
    """One kind of memory at a service."""

    def __init__(self, call_mode: CallMode[M], remote: Remote) -> None:
        super().__init__(call_mode)
        self._remote = remote


class RemoteEpisodes(RemoteView[M]):
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
        told = [asdict(step) if isinstance(step, Step) else dict(step) for step in steps]
        body = {"task": task, "steps": told, "outcome": outcome, "episode_id": episode_id}
        body |= {"occurred_at": iso(occurred_at, "occurred_at")}
        repeatable = episode_id is not None
        return receipt_of(await self._remote.call("POST", "/v1/episodes", body, repeatable=repeatable))

    @verb
    async def feedback(self, memory_id: str, content: str) -> WriteReceipt:
        """Add a later comment on an episode. Raises MemoryNotFound."""
        place = f"/v1/episodes/{quote(memory_id, safe='')}/feedback"
        return receipt_of(await self._remote.call("POST", place, {"content": content}))

    @verb
    async def get(self, memory_id: str) -> Episode:
        """One episode with its feedback. Raises MemoryNotFound."""
        return from_json(Episode, await self._remote.call("GET", f"/v1/episodes/{quote(memory_id, safe='')}"))

    @verb
    async def walk(self, memory_id: str) -> Sequence[Neighbour]:
        """Return the steps of an episode in order and how it ended, each with the way there from its task, as the
        graph has them. Raises MemoryNotFound, NotSupported (`graph`).
        """
        answer = await self._remote.call("GET", f"/v1/episodes/{quote(memory_id, safe='')}/walk")
        return [neighbour_of(one) for one in answer["neighbours"]]

    @verb
    async def recent(self, *, limit: int = 50, before: str | None = None) -> Sequence[Episode]:
        """Return the episodes that were recorded last, newest first."""
        answer = await self._remote.call("GET", "/v1/episodes", params={"limit": limit, "cursor": before})
        return [from_json(Episode, one) for one in answer["episodes"]]

    @verb
    async def similar(self, task: str, *, top_k: int = 5, outcome: Ending | None = None) -> Sequence[Episode]:
        """Return the episodes whose task is most like `task`, best first."""
        body = {"task": task, "top_k": top_k, "outcome": outcome}
        answer = await self._remote.call("POST", "/v1/episodes/similar", body, repeatable=True)
        return [from_json(Episode, one) for one in answer["episodes"]]

    @verb
    async def lessons(self, task: str, *, top_k: int = 5) -> Sequence[Lesson]:
        """Return the failures in the episodes most similar to `task`, and the steps that worked instead."""
        body = {"task": task, "top_k": top_k}
        answer = await self._remote.call("POST", "/v1/episodes/lessons", body, repeatable=True)
        return [from_json(Lesson, one) for one in answer["lessons"]]


class RemoteEntities(RemoteView[M]):
    """People and things that the user speaks of; see `mnemic.kinds.entity`."""

    @verb
    async def mention(self, name: str, *, label: str = THING, aliases: Sequence[str] = ()) -> Sequence[WriteReceipt]:
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
        """Remember a `relation` from `source` (a name, or "me") to `target`."""
        body = {"source": source, "relation": relation, "target": target, "since": iso(since, "since")}
        headers = {"Idempotency-Key": idempotency_key}
        return receipt_of(await self._remote.call("POST", "/v1/entities/relations", body, headers=headers))

    @verb
    async def end(self, source: str, relation: str, target: str) -> WriteReceipt | None:
        """Remember that the relation has ended; return None if it was unknown."""
        body = {"source": source, "relation": relation, "target": target}
        answer = (await self._remote.call("POST", "/v1/entities/relations/end", body))["receipt"]
        return None if answer is None else receipt_of(answer)

    @verb
    async def same(self, name: str, other: str) -> WriteReceipt:
        """Remember that `name` is another name of `other`; `apart` takes them apart again."""
        return receipt_of(await self._remote.call("POST", "/v1/entities/same", {"name": name, "other": other}))

    @verb
    async def separate(self, name: str, other: str) -> WriteReceipt | None:
        """Separate two names that were joined; return None if they were not."""
        answer = (await self._remote.call("POST", "/v1/entities/apart", {"name": name, "other": other}))["receipt"]
        return None if answer is None else receipt_of(answer)

    @verb
    async def extract(self, text: str | Message, *, idempotency_key: str | None = None) -> EntityExtraction:
        """Remember the people and things in a text of the user, and their relations."""
        return await self.extracted(text, idempotency_key)

    async def extracted(self, text: str | Message, idempotency_key: str | None = None) -> EntityExtraction:
        """Return the same, awaited."""
        body = {"message": message_body(text)} if isinstance(text, Message) else {"text": text}
        headers = {"Idempotency-Key": idempotency_key}
        answer = await self._remote.call("POST", "/v1/entities/extract", body, headers=headers)
        told = {name: answer[name] for name in ("unresolved", "degraded")}
        return EntityExtraction(receipts=tuple(receipts(answer)), skipped=tuple(answer["skipped"]), **told)

    @verb
    async def of_user(self, label: str | None = None, *, limit: int = 50) -> Sequence[Node]:
        """Return the nodes that the user has mentioned, last first."""
        answer = await self._remote.call("GET", "/v1/entities", params={"label": label, "limit": limit})
        return [from_json(Node, one) for one in answer["entities"]]

    @verb
    async def neighbours(
        self, name: str = "me", *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """Return the nodes within `hops` relations of `name`, nearest first, each with its path."""
        asked = {"name": name, "hops": hops, "at": iso(at, "at"), "limit": limit}
        answer = await self._remote.call("GET", "/v1/entities/neighbours", params=asked)
        return [neighbour_of(one) for one in answer["neighbours"]]

    @verb
    async def path(
        self, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> Sequence[Relation] | None:
        """Return the shortest path from one to the other, now or `at` another time; None if there is none."""
        asked = {"source": source, "target": target, "hops": hops, "at": iso(at, "at")}
        answer = (await self._remote.call("GET", "/v1/entities/path", params=asked))["path"]
        return None if answer is None else [from_json(Relation, one) for one in answer]


class RemotePersona(RemoteView[M]):
    """The persona of the credential's agent; see `mnemic.kinds.persona`."""

    @verb
    async def learn(
        self, trait: str, *, evidence: str | None = None, origin: Origin = Origin.AGENT_INFERRED
    ) -> WriteReceipt:
        """Propose a trait, with the words that it was learnt from; it waits for review. A service takes it for an
        inference of the agent's, or for less.
        """
        lowered = lower_origin(Origin.AGENT_INFERRED, origin).value
        body = {"trait": trait, "evidence": evidence, "origin": lowered}
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
        answer = await self._remote.call("GET", "/v1/persona/prompt", params={"max_tokens": max_tokens})
        text: str = answer["text"]
        return text
