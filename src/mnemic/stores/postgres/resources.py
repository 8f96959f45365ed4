"""Resources of an open PostgreSQL store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from mnemic.stores.postgres.audit_chain import AuditAppender
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.database_access import OpenDatabase
from mnemic.stores.postgres.group_commit import GroupCommit
from mnemic.stores.postgres.indexes import Indexes, Promotions
from mnemic.stores.postgres.loose_reads import LooseReads
from mnemic.stores.postgres.lru_mapping import LruMapping
from mnemic.stores.postgres.rows import Bodies, HashedTerms
from mnemic.stores.postgres.transaction import GroupState, PostgresTransaction
from mnemic.types import VectorSpace

T = TypeVar("T")

_SECRETS = 10_000
"""Maximum secrets of tenants cached in memory."""


@dataclass(slots=True)
class Resources:
    """Resources of an open store."""

    database: OpenDatabase
    bodies: Bodies
    promotions: Promotions
    indexes: Indexes
    terms: HashedTerms
    space: VectorSpace
    next_space: VectorSpace | None = None
    secrets: LruMapping[str, bytes] = field(default_factory=lambda: LruMapping(_SECRETS))
    trails: AuditAppender = field(default_factory=AuditAppender)
    groups: GroupCommit = field(init=False)
    loose: LooseReads | None = field(init=False)

    def __post_init__(self) -> None:
        self.groups = GroupCommit(self.connections, self.database.thread, self._transaction)
        # A replica says whether a whole read was overtaken.
        self.loose = LooseReads(self.connections) if self.database.replica is None else None

    def _transaction(self, session: Session, common: GroupState) -> PostgresTransaction:
        return PostgresTransaction(
            session,
            common,
            terms=self.terms,
            bodies=self.bodies,
            dimensions=self.dimensions,
            indexes=self.indexes,
            trails=self.trails,
        )

    @property
    def connections(self) -> Connections:
        return self.database.connections

    @property
    def dimensions(self) -> list[int]:
        """Dimensions of the present vectors and of those being filled."""
        return [space.dimension for space in (self.space, self.next_space) if space is not None]

    @property
    def failing(self) -> Iterator[str]:
        """Parts that do not answer: the replica, whose reads go to the primary."""
        if self.database.replica is not None and self.database.replica.failing:
            yield "replica"

    async def as_owner(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Return the result of `work` on the owner's connection, which sees every tenant. Raises StoreFailed."""
        result = await self.database.thread.run(self.database.owner.run(work))
        if self.database.replica is not None:
            await self.connections.write(self.database.replica.note)
        return result

    async def stop(self) -> None:
        """End the background tasks."""

        async def on_end() -> None:
            self.database.owner.close()
            await self.groups.stop()
            await self.promotions.moves.stop()
            await self.indexes.loads.stop()

        await self.database.thread.run(on_end())
