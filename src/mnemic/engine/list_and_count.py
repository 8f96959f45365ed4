"""Lists and counts of memories that meet a filter, in the order of time and without a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple, Protocol

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.ports import Clock, RecordStore, Snapshot
from mnemic.retrieve.data_filter import count_meeting, first_meeting
from mnemic.retrieve.search import Searcher
from mnemic.types import Actor, JsonValue, Kind, Memory, Scope, Where, aware, window_of
from mnemic.types.memory import without_bytes
from mnemic.types.memory_kinds import kind_of


class Bounds(NamedTuple):
    """Filter of a list, as a caller gives it; the fields are those of `mnemic.requests.List`."""

    kinds: Sequence[Kind | str] | None
    categories: Sequence[str] | None
    keys: Sequence[str] | None
    where: Mapping[str, JsonValue] | None
    happened_from: datetime | None
    happened_to: datetime | None
    as_of: datetime | None
    known_at: datetime | None


class Reads(Protocol):
    """Parts of an engine that a list needs."""

    @property
    def store(self) -> RecordStore:
        """Store of the memories."""

    @property
    def clock(self) -> Clock:
        """Clock by which memories expire."""

    @property
    def gateway(self) -> MemoryGateway:
        """Gateway, which knows the keys that an actor may not see."""

    @property
    def searcher(self) -> Searcher:
        """Searcher, for its index of data."""

    def reach(self, actor: Actor) -> tuple[Scope, ...]:
        """Return the scopes that an actor reaches."""


async def visible(engine: Reads, actor: Actor, kinds: Sequence[Kind | str] | None) -> Where:
    """Return the filter for the active memories of these kinds that the actor may see. Raises InvalidInput (`kind`)."""
    chosen = None if kinds is None else frozenset(kind_of(kind) for kind in kinds)
    hidden = await engine.gateway.hidden_keys(actor)
    return Where(scopes=engine.reach(actor), kinds=chosen, live_at=engine.clock.now(), hidden_keys=hidden)


async def list_memories(
    engine: Reads, actor: Actor, bounds: Bounds, *, facets: Sequence[frozenset[str]], limit: int, before: str | None
) -> Sequence[Memory]:
    """Return the newest `limit` memories after `before` within the bounds, without the bytes of files. Raises
    InvalidInput (`kind`, `window`, `as_of`, `known_at`, `where`, `operator`).
    """
    then, asked = await _moment(engine, await _bounded_filter(engine, actor, bounds), bounds)
    if bounds.where is None:
        return [without_bytes(one) for one in await then.newest(asked, limit=limit, before=before, facets=facets)]
    data, index = await engine.gateway.as_stored(bounds.where, actor), engine.searcher.data
    meeting = partial(first_meeting, where=asked, data=data or {}, limit=limit, before=before, index=index)
    found = await (engine.store.read(meeting) if bounds.known_at is None else meeting(then))
    return [without_bytes(one) for one in found]


async def count_memories(engine: Reads, actor: Actor, bounds: Bounds) -> int:
    """Return the number of memories within the bounds. Raises as `listed` does."""
    then, asked = await _moment(engine, await _bounded_filter(engine, actor, bounds), bounds)
    if bounds.where is None:
        return await then.count(asked)
    data = await engine.gateway.as_stored(bounds.where, actor)
    meeting = partial(count_meeting, where=asked, data=data or {}, index=engine.searcher.data)
    return await (engine.store.read(meeting) if bounds.known_at is None else meeting(then))


async def _bounded_filter(engine: Reads, actor: Actor, bounds: Bounds) -> Where:
    happened_from, happened_to = window_of(bounds.happened_from, bounds.happened_to)
    return replace(
        await visible(engine, actor, bounds.kinds),
        categories=None if bounds.categories is None else frozenset(bounds.categories),
        keys=None if bounds.keys is None else frozenset(bounds.keys),
        happened_from=happened_from,
        happened_to=happened_to,
        as_of=None if bounds.as_of is None else aware(bounds.as_of, "as_of"),
    )


async def _moment(engine: Reads, where: Where, bounds: Bounds) -> tuple[Snapshot, Where]:
    """Return the store, or its state as believed at `known_at`, and the matching filter."""
    if bounds.known_at is None:
        return engine.store, where
    known_at = aware(bounds.known_at, "known_at")
    past = await engine.store.as_known_at(where.scopes, known_at, live_at=where.live_at)
    return past, replace(where, live_at=known_at)
