"""Requests about memory in a message: the memories they concern, the rest of the message, and what a request does."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.reading_thread import read_beside
from mnemic.language.sentences.requests_about_memory import Asked, asked_of_memory, things_in
from mnemic.language.text.analyse import terms
from mnemic.language.text.language import common_words, language_of
from mnemic.reason_codes import MEMORY_REQUEST
from mnemic.requests import Forget, Request
from mnemic.types import (
    Actor,
    Deadline,
    Intent,
    Kind,
    Level,
    Memory,
    MemoryRequest,
    Message,
    RequestOutcome,
    Scope,
    Skipped,
    Status,
    Where,
)

if TYPE_CHECKING:
    from mnemic.maintenance.erase import ErasureReceipt
    from mnemic.ports import RecordStore


MAX_NAMED = 20
"""Memories about one subject that a request to see them names."""
MOST = 1_000
"""Memories that a request looks at, newest first."""
ABOUT_FROM = 0.5
"""Minimum relevance of a memory that is shown for a subject with which it shares no word. None is deleted so: there a
memory has words of the subject, whatever a search takes for related.
"""
ENOUGH_WORDS = 0.4
"""Share of the weight of the subject's words in the memory with most of them, from which another is meant as well."""

_FACTS = frozenset(Kind) - {Kind.EPISODIC}
_NO_LONGER_IN_FORCE = frozenset(Status) - {Status.ACTIVE, Status.PENDING_REVIEW}


async def requests_in(
    gateway: MemoryGateway, actor: Actor, message: Message, *, deadline: Deadline
) -> tuple[tuple[MemoryRequest, ...], tuple[Asked, ...]]:
    """Find the message's request about memory, and its place. Raises MnemicError if the memories cannot be searched."""
    asked: tuple[Asked, ...] = ()
    if is_users_own(message):
        asked = await read_beside(message.content, lambda: tuple(asked_of_memory(message.content)))
    found = [(_request(one, await _memories_concerned(gateway, actor, one, message, deadline)), one) for one in asked]
    # A question about the world begins like one about memory: it is about memory if something is known.
    meant = [(made, one) for made, one in found if made.memory_ids or not one.if_known]
    return tuple(made for made, _ in meant), tuple(one for _, one in meant)


def _request(asked: Asked, concerned: Sequence[Memory]) -> MemoryRequest:
    several = things_in(one.content for one in concerned) if asked.subject else []
    return MemoryRequest(
        kind=asked.kind,
        subject=asked.subject,
        memory_ids=tuple(dict.fromkeys(one.memory_id for one in concerned)),
        things=tuple(several) if len(several) > 1 else (),
    )


def remove_requests(extraction: Extraction, asked: Sequence[Asked]) -> Extraction:
    """Return the extraction without the part that belongs to a request about memory."""
    if not asked:
        return extraction
    spans = [one.span for one in asked]
    kept = tuple(one for one in extraction.candidates if not _touches(one.source.span, spans))
    skipped = tuple(one for one in extraction.skipped if not _touches(one.span, spans))
    return replace(
        extraction, candidates=kept, skipped=(*skipped, *(Skipped(reason=MEMORY_REQUEST, span=span) for span in spans))
    )


def _touches(span: tuple[int, int] | None, spans: Sequence[tuple[int, int]]) -> bool:
    return span is not None and any(start < span[1] and end > span[0] for start, end in spans)


async def _memories_concerned(
    gateway: MemoryGateway, actor: Actor, asked: Asked, message: Message, deadline: Deadline
) -> list[Memory]:
    if asked.subject:
        intent = Intent(query=asked.subject, top_k=min(MAX_NAMED, gateway.budget.max_retrieve_top_k))
        result = await gateway.retrieve(intent, actor=actor, deadline=deadline)
        wanted = _words(asked.subject)
        found = [one.memory for one in result.hits if one.memory.content != message.content]
        if asked.kind == "show":
            sure = {hit.memory.memory_id for hit in result.hits if (hit.relevance or 0.0) >= ABOUT_FROM}
            return [one for one in found if one.memory_id in sure or wanted & _stems(one)]
        found += await _newest(gateway, actor, MOST, kinds=_FACTS)
        if asked.kind == "wrong":
            return _about(wanted, found, but=message.content)
        past = await _newest(gateway, actor, MOST, statuses=_NO_LONGER_IN_FORCE)
        recorded = await _newest(gateway, actor, MOST, kinds=frozenset({Kind.EPISODIC}))
        named = _about(wanted, [*found, *past, *recorded], but=message.content)
        named += _replaced_by(named, past)
        read_of = {one.source.quote or one.content for one in named if one.kind is Kind.LONG_TERM}
        # A search leaves out a message whose memory it finds.
        of_these = [one for one in recorded if any(quote in one.content for quote in read_of)]
        return [*named, *(one for one in of_these if one.content != message.content)]
    live = await _newest(gateway, actor, MOST)
    if asked.kind == "wrong":
        facts = [one for one in live if one.kind is Kind.LONG_TERM]
        here = [one for one in facts if message.session and one.source.session == message.session]
        return (here or facts)[:1]
    return live


def _about(wanted: frozenset[str], memories: Iterable[Memory], *, but: str) -> list[Memory]:
    """Return the memories with the words of a subject: a word that many of `memories` have says little, so that "my
    old phone number" names what is said of the phone, not all that is old or has a number.
    """
    shared = {
        one.memory_id: (one, wanted & _stems(one))
        for one in {one.memory_id: one for one in memories}.values()
        if one.content != but
    }
    counts = Counter(word for _, words in shared.values() for word in words)
    weights = {
        memory_id: sum(math.log(len(shared) / counts[word]) for word in words)
        for memory_id, (_, words) in shared.items()
    }
    enough = ENOUGH_WORDS * max(weights.values(), default=0.0)
    return [one for memory_id, (one, words) in shared.items() if words and weights[memory_id] >= enough]


def _replaced_by(named: Sequence[Memory], past: Sequence[Memory]) -> list[Memory]:
    """Return the `past` memories that these replaced, directly or indirectly, and that state the same of an earlier
    time.
    """
    known = {one.memory_id: one for one in past}
    found: dict[str, Memory] = {}
    following = list(named)
    while following:
        later = following.pop()
        for name in later.supersedes:
            earlier = known.get(name)
            if earlier is not None and name not in found and earlier.key == later.key:
                found[name] = earlier
                following.append(earlier)
    return list(found.values())


async def _newest(
    gateway: MemoryGateway,
    actor: Actor,
    limit: int,
    *,
    statuses: frozenset[Status] = frozenset({Status.ACTIVE}),
    kinds: frozenset[Kind] | None = None,
) -> list[Memory]:
    hidden = await gateway.hidden_keys(actor)
    live_at = gateway.clock.now() if Status.ACTIVE in statuses else None
    where = Where(
        scopes=actor.scopes([Level.USER]), kinds=kinds, live_at=live_at, hidden_keys=hidden, statuses=statuses
    )
    return await gateway.searcher.store.newest(where, limit=limit)


def _words(text: str) -> frozenset[str]:
    """Return the search terms of the words with content."""
    common = common_words("english") | common_words(language_of(text) or "english")
    return frozenset(terms(" ".join(word for word in text.split() if word.strip(".,!?").lower() not in common) or " "))


def _stems(memory: Memory) -> frozenset[str]:
    """Return the search terms of a memory's own words: its key and its text, and the words that it was read from."""
    return _words(f"{(memory.key or '').replace('_', ' ')}: {memory.content} {memory.source.quote or ''}")


_SHOWN = frozenset({Status.ACTIVE, Status.SUPERSEDED})


class RequestEngine(Protocol):
    """The verbs of `MemoryEngine` that carry out requests."""

    store: RecordStore

    def reach(self, actor: Actor) -> tuple[Scope, ...]:
        """Return the scopes that the actor's calls reach."""

    async def handle(self, request: Request[Any], *, actor: Actor) -> Any:
        """Answer a request."""

    async def erase(self, subject: str, *, actor: Actor) -> ErasureReceipt:
        """Erase everything about a user."""


async def carried_out(engine: RequestEngine, request: MemoryRequest, actor: Actor) -> RequestOutcome:
    """Return the result; see `MemoryEngine.carry_out`."""
    if not isinstance(request, MemoryRequest):
        raise InvalidInput("memory_request")
    if request.kind == "forget_all":
        return RequestOutcome(erasure=(await engine.erase(actor.user, actor=actor)).as_dict())
    if request.kind == "show":
        found = await engine.store.get_many(request.memory_ids, scopes=engine.reach(actor))
        live = [one for name in request.memory_ids if (one := found.get(name)) and one.status in _SHOWN]
        return RequestOutcome(memories=tuple(live))
    forgotten = []
    for memory_id in request.memory_ids:
        with suppress(MemoryNotFound):
            await engine.handle(Forget(memory_id=memory_id), actor=actor)
            forgotten.append(memory_id)
    return RequestOutcome(forgotten=tuple(forgotten))
