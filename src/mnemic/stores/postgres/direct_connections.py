"""Servers with the tenants, each reached directly: for work on a server as a whole, such as its outbox."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.stores.postgres.backoff import Backoff
from mnemic.stores.postgres.connections import Connections
from mnemic.stores.postgres.owner_maintenance import OwnerConnection

T = TypeVar("T")

SHORTEST_REST, LONGEST_REST = 1.0, 30.0
"""Seconds for which a server that failed is not asked; twice as long each time."""


class Server:
    """One server: connections that work as the application does, and one with the owner's rights."""

    def __init__(self, connections: Connections, owner: OwnerConnection) -> None:
        self.connections = connections
        self.owner = owner
        self.backoff = Backoff(SHORTEST_REST, LONGEST_REST)


class Servers:
    """All servers of a store: one, or those behind a router."""

    def __init__(self, members: Sequence[Server]) -> None:
        self._members = members

    def __len__(self) -> int:
        return len(self._members)

    @property
    def failing(self) -> bool:
        """True if one of several does not answer."""
        return len(self) > 1 and any(member.backoff.failing for member in self._members)

    async def each(self, work: Callable[[Connections], Awaitable[T]]) -> list[T]:
        """Return the result of `work` on every server, one after the other. Raises the first error."""
        return [await work(member.connections) for member in self._members]

    async def reached(self, work: Callable[[Connections], Awaitable[T]]) -> list[T]:
        """Return the results of the servers that answer; one that does not answer fails only if none does. Raises
        StoreUnavailable or StoreBusy then.
        """
        found: list[T] = []
        failure: StoreUnavailable | StoreBusy | None = None
        for member in self._members:
            if len(self) > 1 and member.backoff.pausing:
                continue
            try:
                found.append(await work(member.connections))
                member.backoff.answered()
            except (StoreUnavailable, StoreBusy) as error:
                failure = error
                member.backoff.failed()
        if not found:
            raise failure or StoreUnavailable(hint="no server answers")
        return found

    async def ask_any(self, statement: str) -> list[Any]:
        """Return the rows of a statement whose answer is the same on every server, from one that answers."""
        failure: StoreUnavailable | StoreBusy | None = None
        for member in self._members:
            try:
                return await member.connections.ask(statement)
            except (StoreUnavailable, StoreBusy) as error:
                failure = error
        assert failure is not None
        raise failure

    async def as_owners(self, work: Callable[[Any], Awaitable[T]]) -> list[T]:
        """Return the result of `work` with the owner's rights on every server, one after the other. For the loop of the
        connections. Raises StoreFailed.
        """
        return [await member.owner.run(work) for member in self._members]

    def close_owners(self) -> None:
        """Close the connections with the owner's rights."""
        for member in self._members:
            member.owner.close()

    async def close(self, but: Connections) -> None:
        """Release the connections, `but` for those that are closed elsewhere."""
        self.close_owners()
        for member in self._members:
            if member.connections is not but:
                await member.connections.close()
