"""Optional capabilities of a record store, in addition to the port."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple, Protocol, runtime_checkable

from mnemic.types import Memory, Scope, Where


class Marks(Protocol):
    """Reads of a tenant's marks: of every record store, and of the snapshots of one that `reads_marks`."""

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        """Return the marks with this prefix in the order of their names, at most `limit`, after `after`."""


class MarksAndDuplicate(Protocol):
    """Capability of a store that reads both of what a write asks before it embeds in one call, as of one moment."""

    async def marks_and_duplicate(
        self, tenant: str, prefix: str, scope: Scope, fingerprint: str, *, request: str | None
    ) -> tuple[dict[str, str], Memory | None]:
        """Return the answers of `marks` and of `find_fingerprint`. `request` is the idempotency key about which the
        transaction that writes will ask, for a store that reads it beforehand.
        """


class KnownDamage(Protocol):
    """Capability of a snapshot whose ranked lists name no memory with a damaged row."""

    async def known_damage(self, where: Where) -> bool:
        """Return True if a memory in the scopes of `where`, which it might accept, has a damaged row."""


@runtime_checkable
class VacuumStatus(Protocol):
    """Capability of a server whose files contain removed data until it has vacuumed them."""

    async def vacuum(self) -> datetime:
        """Ask the server to vacuum, if the store may; return the server's time before that."""

    async def count_unvacuumed(self, since: datetime) -> int:
        """Return the number of non-empty tables that the server has not vacuumed since then: these may still contain
        removed data. Returns all of them if that is unknown.
        """


@runtime_checkable
class TenantMigration(Protocol):
    """To a move of everything from or to another store."""

    async def tenants(self) -> list[str]:
        """Every tenant that the store can name, by name."""

    async def adopt(self, tenant: str, secret: bytes) -> None:
        """Take this for the secret of a tenant that has none yet. Raises InvalidInput (`move:not_empty`) where it has
        another.
        """


class Damage(NamedTuple):
    """One damaged row. `name` is the memory's identifier, with its version for an earlier one, or the row's number if
    even that is unreadable.
    """

    table: str
    name: str


@runtime_checkable
class DamageScan(Protocol):
    """Capability of a store with checksums of its rows."""

    async def find_damage(self, tenant: str) -> list[Damage]:
        """Return the first of the tenant's damaged rows; reads every row."""


@runtime_checkable
class SuppliedIdentifiers(Protocol):
    """Capability of a transaction: `insert` looks for an identifier in the memory's own scope only.

    That is enough for an identifier generated for the memory. An imported one is claimed first.
    """

    async def claim(self, memory: Memory) -> None:
        """Look for the identifier in the tenant's other scopes, and keep other transactions from claiming it there.
        Raises VersionConflict if one of them has it or claims it.
        """
