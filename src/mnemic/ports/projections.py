"""Requests of the engine to derived copies, which the outbox feeds."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from mnemic.module_aliases import renamed
from mnemic.types import Change, Memory, Scope, Scored, Vector, Where


class Projection(Protocol):
    """A derived copy that the outbox feeds: hot set, graph, search index. It can be rebuilt from the record store.

    Changes come in order, at least once, and with the memory as it is; applying twice changes nothing.
    """

    @property
    def name(self) -> str:
        """Its name in the outbox, in receipts and in reports. Constant."""

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply these changes to the copy, at most one of each memory; all of them are delivered again if it raises.

        Only `Change.shown` may ever be readable in the copy. Whatever `entry.action` is: a memory that is no longer
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
        """Return the service's ranking inside `where`."""


def __getattr__(name: str) -> Any:
    return renamed(__name__, name)
