"""The kinds of a memory that a service keeps: episodes, entities, structured data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace
from typing import Any

from mnemic.kinds.entity import EntityExtraction, EntityMemory
from mnemic.kinds.episodic import Episode, EpisodicMemory, Lesson, Step
from mnemic.kinds.persona import PersonaMemory
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, verb
from mnemic.types import Memory, Message, Neighbour, Node, Origin, Relation, WriteReceipt, from_json, lower_origin
from mnemic_client.remote import Remote
from mnemic_client.request_bodies import body_of, memories, message_body, receipts, versions_of
from mnemic_client.response_values import neighbour_of, receipt_of
from mnemic_client.verb_parameters import like, verb_at


def episodes_of(answer: Any) -> Sequence[Episode]:
    """Return the episodes of an answer."""
    return [from_json(Episode, one) for one in answer["episodes"]]


def lessons_of(answer: Any) -> Sequence[Lesson]:
    """Return the lessons of an answer."""
    return [from_json(Lesson, one) for one in answer["lessons"]]


def neighbours_of(answer: Any) -> Sequence[Neighbour]:
    """Return the named things of an answer, each with the way to it."""
    return [neighbour_of(one) for one in answer["neighbours"]]


def nodes_of(answer: Any) -> Sequence[Node]:
    """Return the named things of an answer."""
    return [from_json(Node, one) for one in answer["entities"]]


def path_of(answer: Any) -> Sequence[Relation] | None:
    """Return the path of an answer; None if there is none."""
    return None if answer["path"] is None else [from_json(Relation, one) for one in answer["path"]]


def receipt_in(answer: Any) -> WriteReceipt | None:
    """Return the receipt in an answer; None if nothing was to be written."""
    return None if answer["receipt"] is None else receipt_of(answer["receipt"])


class RemoteView(DualModeApi[M]):
    """One kind of memory at a service."""

    def __init__(self, call_mode: CallMode[M], remote: Remote) -> None:
        super().__init__(call_mode)
        self._remote = remote


class RemoteEpisodes(RemoteView[M]):
    """Episodes; see `mnemic.kinds.episodic`."""

    @verb
    @like(EpisodicMemory.record)
    async def record(self, given: SimpleNamespace) -> WriteReceipt:
        """Keep an episode: all its steps or nothing."""
        told = [asdict(step) if isinstance(step, Step) else dict(step) for step in given.steps]
        body = body_of(given) | {"steps": told}
        repeatable = given.episode_id is not None
        return receipt_of(await self._remote.call("POST", "/v1/episodes", body, repeatable=repeatable))

    @verb
    @like(EpisodicMemory.recent)
    async def recent(self, given: SimpleNamespace) -> Sequence[Episode]:
        """Return the episodes that were recorded last, newest first."""
        asked = {"limit": given.limit, "cursor": given.before}
        return episodes_of(await self._remote.call("GET", "/v1/episodes", params=asked))

    feedback = verb(verb_at(EpisodicMemory.feedback, "POST /v1/episodes/{memory_id}/feedback", receipt_of))
    get = verb(verb_at(EpisodicMemory.get, "GET /v1/episodes/{memory_id}", partial(from_json, Episode)))
    walk = verb(verb_at(EpisodicMemory.walk, "GET /v1/episodes/{memory_id}/walk", neighbours_of))
    similar = verb(verb_at(EpisodicMemory.similar, "POST /v1/episodes/similar", episodes_of, repeatable=True))
    lessons = verb(verb_at(EpisodicMemory.lessons, "POST /v1/episodes/lessons", lessons_of, repeatable=True))


class RemoteEntities(RemoteView[M]):
    """People and things that the user speaks of; see `mnemic.kinds.entity`."""

    mention = verb(verb_at(EntityMemory.mention, "POST /v1/entities", receipts))
    relate = verb(verb_at(EntityMemory.relate, "POST /v1/entities/relations", receipt_of))
    end = verb(verb_at(EntityMemory.end, "POST /v1/entities/relations/end", receipt_in))
    same = verb(verb_at(EntityMemory.same, "POST /v1/entities/same", receipt_of))
    separate = verb(verb_at(EntityMemory.separate, "POST /v1/entities/apart", receipt_in))
    of_user = verb(verb_at(EntityMemory.of_user, "GET /v1/entities", nodes_of))
    neighbours = verb(verb_at(EntityMemory.neighbours, "GET /v1/entities/neighbours", neighbours_of))
    path = verb(verb_at(EntityMemory.path, "GET /v1/entities/path", path_of))

    @verb
    @like(EntityMemory.extract)
    async def extract(self, given: SimpleNamespace) -> EntityExtraction:
        """Remember the people and things in a text of the user, and their relations."""
        return await self.extracted(given.text, given.idempotency_key)

    async def extracted(self, text: str | Message, idempotency_key: str | None = None) -> EntityExtraction:
        """Return the same, awaited."""
        body = {"message": message_body(text)} if isinstance(text, Message) else {"text": text}
        headers = {"Idempotency-Key": idempotency_key}
        answer = await self._remote.call("POST", "/v1/entities/extract", body, headers=headers)
        told = {name: answer[name] for name in ("unresolved", "degraded")}
        return EntityExtraction(receipts=tuple(receipts(answer)), skipped=tuple(answer["skipped"]), **told)


class RemotePersona(RemoteView[M]):
    """The persona of the credential's agent; see `mnemic.kinds.persona`."""

    @verb
    @like(PersonaMemory.learn)
    async def learn(self, given: SimpleNamespace) -> WriteReceipt:
        """Propose a trait. A service takes it for an inference of the agent's, or for less."""
        body = body_of(given) | {"origin": lower_origin(Origin.AGENT_INFERRED, given.origin).value}
        return receipt_of(await self._remote.call("POST", "/v1/persona/traits", body))

    @verb
    @like(PersonaMemory.traits)
    async def traits(self, _: SimpleNamespace) -> Sequence[Memory]:
        """Return the approved traits, newest first."""
        return await self.known()

    async def known(self) -> Sequence[Memory]:
        """Return the same, awaited."""
        return memories((await self._remote.call("GET", "/v1/persona"))["traits"])

    history = verb(verb_at(PersonaMemory.history, "GET /v1/persona/traits/{memory_id}/history", versions_of))
    prompt = verb(verb_at(PersonaMemory.prompt, "GET /v1/persona/prompt", lambda answer: str(answer["text"])))
