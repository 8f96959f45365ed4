"""Neighbours of a new memory, as they were when the transaction that writes it began."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from mnemic.stores.codec import cosines
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.indexes import Indexes
from mnemic.stores.postgres.rows import Bodies, ScopeState, place_of, places_of, vector_parameter
from mnemic.stores.postgres.scope_access import GroupState
from mnemic.stores.postgres.statements import load
from mnemic.stores.scope_index import ScopeIndex
from mnemic.stores.transaction_work import Step
from mnemic.types import Memory, Scope, Status, Vector, Where

_READING = load("reading")
_WRITING = load("writing")


class Nearest:
    """Search for neighbours inside a transaction: by the loaded index, else by the database.

    `before` maps tenant and memory_id of each memory that the transaction changed to its state before, None if new.
    `flush` writes the inserts that wait.
    """

    def __init__(
        self,
        session: Session,
        common: GroupState,
        before: Mapping[tuple[str, str], Memory | None],
        bodies: Bodies,
        indexes: Indexes,
        flush: Callable[[], Awaitable[None]],
    ) -> None:
        self._flush = flush
        self._session = session
        self._common = common
        self._before = before
        self._bodies = bodies
        self._indexes = indexes

    async def find(
        self, scope: Scope, place: ScopeState, vector: Vector, limit: int, at_least: float, *, indexed: bool
    ) -> list[tuple[Memory, float]]:
        """Return up to `limit` neighbours in a locked scope with their cosines, the nearest first."""
        index = await self._index(scope, place) if indexed else None
        if index is None:
            return await self._nearest_in_table(scope, place, vector, limit, at_least)
        return await self._nearest_by_index(scope, index, vector, limit, at_least)

    async def _nearest_by_index(
        self, scope: Scope, index: ScopeIndex, vector: Vector, limit: int, at_least: float
    ) -> list[tuple[Memory, float]]:
        """Return the nearest by an index without the changes of earlier members of the group."""
        changed = self._common.changed
        replaced = sum(memory is None or memory.version > 1 for memory in changed.values())
        where = Where(scopes=(scope,))
        places, scores = index.near_places(where, vector, limit=limit + replaced, at_least=at_least)
        found = await self._as_before(scope, index, places, scores) if places else []
        if changed:
            near = _nearest_of(changed.values(), scope, vector)
            found += [(self._began(memory), score) for memory, score in near if score >= at_least]
            found.sort(key=_rank, reverse=True)
        return found[:limit]

    def _began(self, memory: Memory) -> Memory:
        """Return a memory as it was when this member began."""
        return self._before.get((memory.scope.tenant, memory.memory_id)) or memory

    async def _index(self, scope: Scope, place: ScopeState) -> ScopeIndex | None:
        """Return the index as of the group's beginning: the scope is locked, and was unchanged when it was found."""
        indexes = self._common.indexes
        if scope not in indexes:
            touched = any(tenant == scope.tenant for tenant, _ in [*self._common.changed, *self._before])
            current = partial(self._indexes.current, self._session, scope.tenant, place)
            indexes[scope] = None if touched else await Step(current)
        return indexes[scope]

    async def _as_before(
        self, scope: Scope, index: ScopeIndex, places: Sequence[int], scores: Sequence[float]
    ) -> list[tuple[Memory, float]]:
        """Return the memories at these places of the index as they were when the transaction began, without those that
        earlier members changed.
        """
        names = [(scope.tenant, memory_id) for memory_id in index.ids_at(places)]
        known: dict[tuple[str, str], Memory | None] = dict(zip(names, index.recalled.memories_at(places), strict=True))
        # What this transaction has changed is known from before it did; what it has read stays, as the scope is locked.
        known |= {name: self._before.get(name) or self._common.known.get(name) or known[name] for name in names}
        changed = self._common.changed
        if unknown := [name[1] for name in names if name not in changed and known[name] is None]:
            rows = await self._ask(_READING["get_many"], *places_of(scope.tenant, [scope]), unknown)
            read = self._bodies.whole(rows)
            # What this transaction changed is not what the index has at its place.
            self._bodies.recall(
                index, [memory for memory in read if (scope.tenant, memory.memory_id) not in self._before]
            )
            self._common.known |= (found := {(scope.tenant, memory.memory_id): memory for memory in read})
            known |= found
        near = ((known[name], score) for name, score in zip(names, scores, strict=True) if name not in changed)
        return [(memory, score) for memory, score in near if memory is not None]

    async def _nearest_in_table(
        self, scope: Scope, place: ScopeState, vector: Vector, limit: int, at_least: float
    ) -> list[tuple[Memory, float]]:
        await self._flush()
        changed = [memory_id for tenant, memory_id in self._before if tenant == scope.tenant]
        given = (*place_of(scope), vector_parameter(vector), changed, at_least, limit)
        await Step(partial(self._session.approximate, place.large))
        rows = await self._ask(_WRITING["approximate_in_scope" if place.large else "nearest_in_scope"], *given)
        await Step(partial(self._session.approximate, False))
        near = {row["memory_id"]: row["score"] for row in rows}
        found = [(memory, near[memory.memory_id]) for memory in self._bodies.whole(rows)]
        found += [
            (memory, score) for memory, score in _nearest_of(self._before.values(), scope, vector) if score >= at_least
        ]
        found.sort(key=_rank, reverse=True)
        return found[:limit]

    async def _ask(self, statement: str, *values: Any) -> list[Any]:
        rows: list[Any] = await Step(partial(self._session.fetch, statement, *values))
        return rows


def _rank(found: tuple[Memory, float]) -> tuple[float, str]:
    """Return the order of the nearest: among equals the newer memory comes first."""
    return found[1], found[0].memory_id


def _nearest_of(memories: Iterable[Memory | None], scope: Scope, vector: Vector) -> list[tuple[Memory, float]]:
    """Return the given memories that are active in the scope, with their similarity."""
    active = [
        memory for memory in memories if memory is not None and memory.scope == scope and memory.status is Status.ACTIVE
    ]
    # While the store changes to other vectors, some have another length.
    near = [(memory, memory.vector) for memory in active if memory.vector and len(memory.vector) == len(vector)]
    scores = cosines([held for _, held in near], vector) if near else []
    return [(memory, score) for (memory, _), score in zip(near, scores, strict=True)]
