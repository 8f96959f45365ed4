"""The outbox, and requests of the engine to the derived copies that it feeds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, runtime_checkable

from mnemic.types import Change, Memory, OutboxEntry, Scope, Scored, Vector, Where


class Outbox(Protocol):
    """Changes that were committed, until every registered projection has taken them."""

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        """Outbox entries, oldest first; with `projection` those that it has not taken yet.

        Two entries of one memory come in the order in which it changed.
        """

    async def acknowledge(self, sequences: Sequence[int], *, projection: str | None = None) -> None:
        """Note that `projection` has taken these entries: one leaves the outbox when every registered projection has.
        Without `projection` they leave at once.
        """

    async def register(self, projection: str) -> None:
        """From now on an entry stays until this projection has taken it too. Registering again changes nothing."""

    async def unregister(self, projection: str) -> None:
        """Unregister this projection; entries that only this projection had not consumed leave the outbox."""

    async def projections(self) -> dict[str, int]:
        """Return the registered projections, and how many entries each has not taken yet."""


class Projection(Protocol):
    """A derived copy that the outbox feeds: hot set, graph, search index. It can be rebuilt from the record store.

    Changes come in order, at least once, and with the memory as it is; applying twice changes nothing.
    """

    @property
    def name(self) -> str:
        """Its name in the outbox, in receipts and in reports. Constant."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply these changes to the copy, at most one of each memory; all of them are delivered again if it raises.

        Only `Change.shown` may ever be readable in the copy. Regardless of `entry.action`, a memory that is no longer
        shown is removed, and of a deleted one nothing may remain.
        """

    async def clear(self, tenant: str) -> None:
        """Forget everything of the tenant, before a rebuild."""

    async def close(self) -> None:
        """Release everything. May be called twice."""


@runtime_checkable
class ErasureScan(Protocol):
    """A projection that can be scanned for erased data at the end of an erasure."""

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        """Return the number of remains of these memories of the tenant, in any scope. Raises StoreFailed."""


@runtime_checkable
class SearchIndex(Protocol):
    """An outside search service fed from the outbox: a projection, rebuildable from the record store."""

    async def upsert(self, memories: Sequence[Memory]) -> None:
        """Index these memories. Raises if any one of them was refused."""

    async def remove(self, scope: Scope, memory_ids: Sequence[str]) -> None:
        """Take these out of the index."""

    async def search(self, where: Where, query: str, vector: Vector | None, *, limit: int) -> list[Scored]:
        """Return the service's ranking within `where`."""
