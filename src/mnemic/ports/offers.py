"""What a record store may offer beside the port."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Adopting(Protocol):
    """To a move of everything from or to another store."""

    async def tenants(self) -> list[str]:
        """Every tenant that the store can name, by name."""

    async def adopt(self, tenant: str, secret: bytes) -> None:
        """Take this for the secret of a tenant that has none yet. Raises InvalidInput (`move:not_empty`) where it has
        another.
        """
