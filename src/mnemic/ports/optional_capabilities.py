"""Offers that a record store may make beside the port."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple, Protocol, runtime_checkable


@runtime_checkable
class Vacuumed(Protocol):
    """By a server that keeps what was removed in its files until it has vacuumed them."""

    async def vacuum(self) -> datetime:
        """Ask the server to vacuum, where the store may; the server's time before that."""

    async def unvacuumed(self, since: datetime) -> int:
        """Return the number of tables with content that the server has not vacuumed since then: these may still hold
        what was removed before. All of them where nobody can tell.
        """


@runtime_checkable
class Adopting(Protocol):
    """To a move of everything from or to another store."""

    async def tenants(self) -> list[str]:
        """Every tenant that the store can name, by name."""

    async def adopt(self, tenant: str, secret: bytes) -> None:
        """Take this for the secret of a tenant that has none yet. Raises InvalidInput (`move:not_empty`) where it has
        another.
        """


class Damage(NamedTuple):
    """One row that is not what was written. `name`: the memory's identifier, with its version where that is an earlier
    one, or the row's number where even that is not to be read.
    """

    table: str
    name: str


@runtime_checkable
class Examined(Protocol):
    """By a store whose rows have checksums."""

    async def damaged(self, tenant: str) -> list[Damage]:
        """Return the first of the tenant's rows that are not what was written; every row is read."""
