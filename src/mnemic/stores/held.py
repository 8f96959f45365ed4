"""Reads over memories that are all in this process: plain and complete, the meaning that every index must keep.

The in-process store reads so; every store does where it is asked what was believed at an earlier moment, for which it
keeps no index.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import mul
from typing import NamedTuple

from mnemic.ports import Snapshot
from mnemic.stores.codec import checked_vector, fields_of, to_micros
from mnemic.text.analyse import analyse, parse_query
from mnemic.text.bm25 import Bm25
from mnemic.text.cues import read_cues
from mnemic.types import Memory, Scope, Scored, Signals, Status, Vector, Where
from mnemic.types.facets import facets_of, held_by


@dataclass(slots=True)
class Held:
    """Memories by tenant and memory_id in their current version, the versions before it, oldest first, and the number
    of each message in its session.
    """

    memories: dict[tuple[str, str], Memory] = field(default_factory=dict)
    history: dict[tuple[str, str], tuple[Memory, ...]] = field(default_factory=dict)
    turns: dict[tuple[str, str], int] = field(default_factory=dict)

    def get(self, memory_id: str, scopes: Sequence[Scope]) -> Memory | None:
        """The current version in one of `scopes`."""
        found = (self.memories.get((scope.tenant, memory_id)) for scope in scopes)
        return next((memory for memory in found if memory is not None and memory.scope in scopes), None)

    def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        """The active memory with this fingerprint."""
        return next((m for m in self.active(scope) if m.fingerprint == fingerprint != ""), None)

    def active(self, scope: Scope) -> list[Memory]:
        """Oldest first: identifiers sort by creation."""
        inside = (memory for memory in self.memories.values() if memory.scope == scope)
        return sorted((m for m in inside if m.status is Status.ACTIVE), key=lambda memory: memory.memory_id)


class HeldSnapshot:
    """The port's `Snapshot` on `held`, which nobody changes while it is read."""

    def __init__(self, held: Held, *, dimension: int, bm25: Bm25) -> None:
        self._held = held
        self._dimension = dimension
        self._bm25 = bm25

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        found = {memory_id: self._held.get(memory_id, scopes) for memory_id in memory_ids}
        return {memory_id: memory for memory_id, memory in found.items() if memory is not None}

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        return self._held.find_fingerprint(scope, fingerprint)

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        current = self._held.get(memory_id, scopes)
        return [] if current is None else [*self._held.history.get((current.scope.tenant, memory_id), ()), current]

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        accepted = sorted(self._accepted(where), key=lambda memory: memory.memory_id, reverse=True)
        following = (memory for memory in accepted if before is None or memory.memory_id < before)
        return [memory for memory in following if not facets or held_by(facets_of(memory), facets)][:limit]

    async def count(self, where: Where) -> int:
        return len(self._accepted(where))

    async def nearest(self, where: Where, vector: Vector, *, limit: int) -> list[Scored]:
        checked_vector(vector, self._dimension)
        ranked = by_cosine(self._accepted(where), vector)
        return [Scored(memory_id=memory.memory_id, score=score) for memory, score in ranked[:limit]]

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        accepted = {memory.memory_id for memory in self._accepted(where)}
        scores: dict[str, float] = {}
        for scope in dict.fromkeys(where.scopes):
            inside = [memory for memory in self._held.memories.values() if memory.scope == scope]
            scores |= _by_words(inside, query, self._bm25)
        found = ((memory_id, score) for memory_id, score in scores.items() if memory_id in accepted and score > 0)
        return _best(found, limit)

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        times = ((memory.memory_id, (to_micros(memory.happened_at) or 0) / 1e6) for memory in self._accepted(where))
        return _best(times, limit)

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        found = await self.get_many(memory_ids, scopes=where.scopes)
        return {
            memory_id: Signals(
                memory_id=memory_id,
                happened_at=memory.happened_at,
                session=memory.source.session,
                turn=self._held.turns.get((memory.scope.tenant, memory_id), -1),
                speaker=memory.source.speaker,
                cues=read_cues(memory.content),
            )
            for memory_id, memory in found.items()
        }

    async def speakers(self, where: Where) -> frozenset[str]:
        said = (memory.source.speaker for scope in where.scopes for memory in self._held.active(scope))
        return frozenset(speaker for speaker in said if speaker is not None)

    async def believed(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await believed(self, scopes, known_at, live_at, dimension=self._dimension, bm25=self._bm25)

    def _accepted(self, where: Where) -> list[Memory]:
        return [memory for memory in self._held.memories.values() if where.accepts(memory)]


async def believed(
    moment: Snapshot,
    scopes: Sequence[Scope],
    known_at: datetime,
    live_at: datetime | None,
    *,
    dimension: int,
    bm25: Bm25,
) -> HeldSnapshot:
    """What `moment` knows of `scopes` as it was believed at `known_at`: the port's `Snapshot.believed` for every store.

    Only what has changed since is looked up in the history.
    """
    held = Held()
    if scopes:
        where = Where(scopes=tuple(scopes), statuses=frozenset(Status), live_at=live_at)
        everything = await moment.newest(where, limit=await moment.count(where))
        signals = await moment.signals(where, [memory.memory_id for memory in everything])
        for memory in everything:
            versions = [memory]
            if memory.updated_at > known_at and memory.version > 1:
                versions = await moment.versions(memory.memory_id, scopes=[memory.scope])
            known = [version for version in versions if version.updated_at <= known_at]
            if known:
                place = (memory.scope.tenant, memory.memory_id)
                held.memories[place] = _with_vector(known[-1], memory)
                held.history[place] = tuple(known[:-1])
                if memory.memory_id in signals:
                    held.turns[place] = signals[memory.memory_id].turn
    return HeldSnapshot(held, dimension=dimension, bm25=bm25)


def _with_vector(version: Memory, current: Memory) -> Memory:
    """An earlier version with the vector of the current one, while the two say the same: vectors have no history."""
    return replace(version, vector=current.vector if version.content == current.content else None)


def _best(scores: Iterable[tuple[str, float]], limit: int) -> list[Scored]:
    """Best first; among equals the newer memory."""
    ranked = sorted(scores, key=lambda entry: (entry[1], entry[0]), reverse=True)
    return [Scored(memory_id=memory_id, score=score) for memory_id, score in ranked[: max(0, limit)]]


def by_cosine(memories: Iterable[Memory], vector: Vector) -> list[tuple[Memory, float]]:
    """Those with a vector, nearest first; among equals the newer memory."""
    wanted = array("f", vector)
    scored = [(m, sum(map(mul, array("f", m.vector), wanted))) for m in memories if m.vector is not None]
    return sorted(scored, key=lambda entry: (entry[1], entry[0].memory_id), reverse=True)


class _Fields(NamedTuple):
    """The terms of one memory, field by field: in order for phrases, counted for scores."""

    spellings: tuple[list[str], list[str]]
    counts: tuple[Counter[str], Counter[str]]


def _by_words(memories: Sequence[Memory], query: str, bm25: Bm25) -> dict[str, float]:
    """BM25 scores of the memories of one scope; its statistics count the active ones."""
    wanted, phrases = parse_query(query)
    analysed = {memory.memory_id: _analyse(memory) for memory in memories}
    active = [analysed[memory.memory_id].counts for memory in memories if memory.status is Status.ACTIVE]
    averages = [sum(counts[side].total() for counts in active) / (len(active) or 1) or 1.0 for side in (0, 1)]
    idfs = {
        term: bm25.idf(len(active), sum(term in content or term in context for content, context in active))
        for term in wanted
    }
    scores = {}
    for memory_id, fields in analysed.items():
        if all(any(_holds(spelling, phrase) for spelling in fields.spellings) for phrase in phrases):
            gains = (bm25.gain(idf, _frequency(term, fields, averages, bm25)) for term, idf in idfs.items())
            scores[memory_id] = sum(gains)
    return scores


def _analyse(memory: Memory) -> _Fields:
    content, context = (analyse(text) for text in fields_of(memory))
    counts = Counter(content.sequence + content.extras), Counter(context.sequence + context.extras)
    spellings = [*content.sequence, "", *content.extras], [*context.sequence, "", *context.extras]
    return _Fields(spellings, counts)


def _frequency(term: str, fields: _Fields, averages: Sequence[float], bm25: Bm25) -> float:
    weights = bm25.content_weight, bm25.context_weight
    sides = zip(weights, fields.counts, averages, strict=True)
    parts = [bm25.frequency(weight, counts[term], counts.total(), average) for weight, counts, average in sides]
    return math.fsum(parts)


def _holds(spelling: Sequence[str], phrase: tuple[str, ...]) -> bool:
    return any(tuple(spelling[start : start + len(phrase)]) == phrase for start in range(len(spelling)))
