"""Reads over memories that are all in this process: the reference implementation that every index must agree with.

The in-process store uses it, and so does every store for reads as of an earlier moment, for which it has no index.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple, Self

from mnemic.errors import SpaceMismatch
from mnemic.language.text.analyse import analyse, parse_query
from mnemic.language.text.bm25 import BM25
from mnemic.language.text.cues import read_cues
from mnemic.ports import Snapshot
from mnemic.stores.codec import checked_vector, cosines, damage_error, fields_of, to_micros
from mnemic.types import Memory, Scope, Scored, Signals, Status, Vector, VectorSpace, Where
from mnemic.types.facets import facets_of, has_facets


@dataclass(slots=True)
class StoredMemories:
    """Memories by tenant and memory_id in their current version, the versions before it, oldest first, and the number
    of each message in its session. `terms` are those of current versions that words were searched in.
    """

    memories: dict[tuple[str, str], Memory] = field(default_factory=dict)
    terms: dict[tuple[str, str], TermCounts] = field(default_factory=dict)
    history: dict[tuple[str, str], tuple[Memory, ...]] = field(default_factory=dict)
    turns: dict[tuple[str, str], int] = field(default_factory=dict)
    damaged: set[tuple[str, str]] = field(default_factory=set)
    """Memories of which only the fields for their removal are known: they are in no list."""

    @classmethod
    def join_memories(cls, several: Sequence[StoredMemories]) -> StoredMemories:
        """Return the memories of several scopes."""
        if len(several) == 1:
            return several[0]
        found = cls()
        for one in several:
            found.memories |= one.memories
            found.terms |= one.terms
            found.history |= one.history
            found.turns |= one.turns
            found.damaged |= one.damaged
        return found

    def copy(self) -> StoredMemories:
        """Return a copy that may be changed."""
        return StoredMemories(
            dict(self.memories), dict(self.terms), dict(self.history), dict(self.turns), set(self.damaged)
        )

    def drop(self, place: tuple[str, str]) -> None:
        """Remove a memory with all that is known of it."""
        del self.memories[place]
        for kept in (self.terms, self.history, self.turns):
            kept.pop(place, None)
        self.damaged.discard(place)

    def whole(self, memory: Memory | None) -> Memory | None:
        """Return the memory. Raises StoreCorrupt (`memory`) if its row is damaged."""
        if memory is not None and (memory.scope.tenant, memory.memory_id) in self.damaged:
            raise damage_error("memory")
        return memory

    def next_turn(self, scope: Scope, session: str | None) -> int:
        """Return the number of a further message of the session."""
        inside = (
            turn
            for place, turn in self.turns.items()
            if self.memories[place].scope == scope and self.memories[place].source.session == session
        )
        return max(inside, default=-1) + 1

    def get(self, memory_id: str, scopes: Sequence[Scope]) -> Memory | None:
        """Return the current version in one of `scopes`."""
        found = (self.memories.get((scope.tenant, memory_id)) for scope in scopes)
        return next((memory for memory in found if memory is not None and memory.scope in scopes), None)

    def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        """Return the active memory with this fingerprint."""
        same = (m for m in self.memories.values() if m.fingerprint == fingerprint != "" and m.scope == scope)
        active = (memory for memory in same if memory.status is Status.ACTIVE)
        return min(active, key=lambda memory: memory.memory_id, default=None)

    def inside(self, scope: Scope) -> dict[str, tuple[Memory, TermCounts]]:
        """Return the memories of a scope by memory_id, with their terms."""
        inside = [one for one in self.memories.items() if one[1].scope == scope and one[0] not in self.damaged]
        # Analysed once, and only where words are searched for: a write reads memories, too.
        for place, memory in inside:
            if place not in self.terms:
                self.terms[place] = TermCounts.from_memory(memory)
        return {memory.memory_id: (memory, self.terms[place]) for place, memory in inside}

    def active(self, scope: Scope) -> list[Memory]:
        """Oldest first: identifiers sort by creation."""
        inside = (memory for memory in self.memories.values() if memory.scope == scope)
        return sorted((m for m in inside if m.status is Status.ACTIVE), key=lambda memory: memory.memory_id)


class InMemorySnapshot:
    """The port's `Snapshot` on `stored`, which must not change while it is read."""

    def __init__(self, stored: StoredMemories, *, space: VectorSpace) -> None:
        self._stored = stored
        self._space = space

    async def _memories_in(self, scopes: Sequence[Scope]) -> StoredMemories:
        """Return the memories of these scopes, and perhaps of others."""
        return self._stored

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        stored = await self._memories_in(scopes)
        found = {memory_id: stored.get(memory_id, scopes) for memory_id in memory_ids}
        return {
            one: memory
            for one, memory in found.items()
            if memory is not None and (memory.scope.tenant, one) not in stored.damaged
        }

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        stored = await self._memories_in([scope])
        return stored.whole(stored.find_fingerprint(scope, fingerprint))

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        stored = await self._memories_in(scopes)
        current = stored.get(memory_id, scopes)
        return [] if current is None else [*stored.history.get((current.scope.tenant, memory_id), ()), current]

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        accepted = sorted(await self._accepted_memories(where), key=lambda memory: memory.memory_id, reverse=True)
        following = (memory for memory in accepted if before is None or memory.memory_id < before)
        return [memory for memory in following if not facets or has_facets(facets_of(memory), facets)][:limit]

    async def count(self, where: Where) -> int:
        return len(await self._accepted_memories(where))

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        if space not in (None, self._space):
            raise SpaceMismatch(hint="the vectors were made by another model")
        checked_vector(vector, self._space.dimension)
        ranked = by_cosine(await self._accepted_memories(where), vector)
        return [Scored(memory_id=memory.memory_id, score=score) for memory, score in ranked[:limit]]

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        accepted = {memory.memory_id for memory in await self._accepted_memories(where)}
        scores: dict[str, float] = {}
        for scope in dict.fromkeys(where.scopes):
            inside = (await self._memories_in(where.scopes)).inside(scope)
            scores |= _by_words(inside, query)
        found = ((memory_id, score) for memory_id, score in scores.items() if memory_id in accepted and score > 0)
        return _best(found, limit)

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        times = (
            (memory.memory_id, (to_micros(memory.happened_at) or 0) / 1e6)
            for memory in await self._accepted_memories(where)
        )
        return _best(times, limit)

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        found, stored = await self.get_many(memory_ids, scopes=where.scopes), await self._memories_in(where.scopes)
        return {
            memory_id: Signals(
                memory_id=memory_id,
                happened_at=memory.happened_at,
                session=memory.source.session,
                turn=stored.turns.get((memory.scope.tenant, memory_id), -1),
                speaker=memory.source.speaker,
                cues=read_cues(memory.content),
            )
            for memory_id, memory in found.items()
        }

    async def speakers(self, where: Where) -> frozenset[str]:
        stored = await self._memories_in(where.scopes)
        said = (memory.source.speaker for scope in where.scopes for memory in stored.active(scope))
        return frozenset(speaker for speaker in said if speaker is not None)

    async def as_known_at(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await snapshot_known_at(self, scopes, known_at, live_at, space=self._space)

    async def known_damage(self, where: Where) -> bool:
        """Return the answer of the capability `KnownDamage`."""
        stored = await self._memories_in(where.scopes)
        return any(
            stored.memories[place].scope in where.scopes and stored.memories[place].status in where.statuses
            for place in stored.damaged
            if place in stored.memories
        )

    async def _accepted_memories(self, where: Where) -> list[Memory]:
        stored = await self._memories_in(where.scopes)
        return [one for place, one in stored.memories.items() if place not in stored.damaged and where.accepts(one)]


async def snapshot_known_at(
    snapshot: Snapshot,
    scopes: Sequence[Scope],
    known_at: datetime,
    live_at: datetime | None,
    *,
    space: VectorSpace,
) -> InMemorySnapshot:
    """Return the state of `scopes` as it was known at `known_at`: the port's `Snapshot.believed` for every store.

    Only memories that have changed since are looked up in the history.
    """
    stored = StoredMemories()
    if scopes:
        where = Where(scopes=tuple(scopes), statuses=frozenset(Status), live_at=live_at)
        everything = await snapshot.newest(where, limit=await snapshot.count(where))
        signals = await snapshot.signals(where, [memory.memory_id for memory in everything])
        for memory in everything:
            versions = [memory]
            if memory.updated_at > known_at and memory.version > 1:
                versions = await snapshot.versions(memory.memory_id, scopes=[memory.scope])
            known = [version for version in versions if version.updated_at <= known_at]
            if known:
                place = (memory.scope.tenant, memory.memory_id)
                stored.memories[place] = _with_vector(known[-1], memory)
                stored.history[place] = tuple(known[:-1])
                if memory.memory_id in signals:
                    stored.turns[place] = signals[memory.memory_id].turn
    return InMemorySnapshot(stored, space=space)


def _with_vector(version: Memory, current: Memory) -> Memory:
    """Return an earlier version with the vector of the current one, while the two have the same content: vectors have
    no history.
    """
    return replace(version, vector=current.vector if version.content == current.content else None)


def _best(scores: Iterable[tuple[str, float]], limit: int) -> list[Scored]:
    """Best first; among equals the newer memory."""
    ranked = sorted(scores, key=lambda entry: (entry[1], entry[0]), reverse=True)
    return [Scored(memory_id=memory_id, score=score) for memory_id, score in ranked[: max(0, limit)]]


def by_cosine(memories: Iterable[Memory], vector: Vector) -> list[tuple[Memory, float]]:
    """Those with a vector, nearest first; among equals the newer memory."""
    seen = [(memory, memory.vector) for memory in memories if memory.vector is not None]
    scores = cosines([one for _, one in seen], vector)
    scored = [(memory, score) for (memory, _), score in zip(seen, scores, strict=True)]
    return sorted(scored, key=lambda entry: (entry[1], entry[0].memory_id), reverse=True)


class TermCounts(NamedTuple):
    """Number of times that content and context of one memory contain each term, and how many terms they have."""

    counts: tuple[Counter[str], Counter[str]]
    lengths: tuple[int, int]

    @classmethod
    def from_memory(cls, memory: Memory) -> Self:
        """Return cues of the memory's current content."""
        content, context = (analyse(text, stems=True) for text in fields_of(memory))
        counts = Counter(content.sequence + content.extras), Counter(context.sequence + context.extras)
        return cls(counts, (counts[0].total(), counts[1].total()))

    def holds(self, term: str) -> bool:
        """Return True if either field contains the term."""
        return term in self.counts[0] or term in self.counts[1]


def _by_words(memories: Mapping[str, tuple[Memory, TermCounts]], query: str) -> dict[str, float]:
    """Return the BM25 scores, by id, of the memories of one scope that contain a word of the query and all its phrases;
    statistics are those of the active ones.
    """
    wanted, phrases = parse_query(query)
    active = [terms for memory, terms in memories.values() if memory.status is Status.ACTIVE]
    averages = [sum(terms.lengths[side] for terms in active) / (len(active) or 1) or 1.0 for side in (0, 1)]
    idfs = {term: BM25.idf(len(active), sum(terms.holds(term) for terms in active)) for term in wanted}
    scores = {}
    for memory_id, (memory, terms) in memories.items():
        present = {term: idf for term, idf in idfs.items() if terms.holds(term)}
        if present and _says(memory, phrases):
            scores[memory_id] = sum(BM25.gain(idf, _frequency(term, terms, averages)) for term, idf in present.items())
    return scores


def _frequency(term: str, terms: TermCounts, averages: Sequence[float]) -> float:
    weights = BM25.content_weight, BM25.context_weight
    sides = zip(weights, terms.counts, terms.lengths, averages, strict=True)
    return math.fsum(BM25.frequency(weight, counts[term], length, average) for weight, counts, length, average in sides)


def _says(memory: Memory, phrases: Sequence[tuple[str, ...]]) -> bool:
    """Check whether each phrase occurs in one of its fields, word after word."""
    if not phrases:
        return True
    fields = [analyse(text, stems=True) for text in fields_of(memory)]
    spellings = [[*field.sequence, "", *field.extras] for field in fields]
    return all(any(_holds(spelling, phrase) for spelling in spellings) for phrase in phrases)


def _holds(spelling: Sequence[str], phrase: tuple[str, ...]) -> bool:
    return any(tuple(spelling[start : start + len(phrase)]) == phrase for start in range(len(spelling)))
