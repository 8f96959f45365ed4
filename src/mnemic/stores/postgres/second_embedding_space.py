"""Second vector space, on all servers of a store: one, or those behind a router."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.stores.postgres import embedding_spaces
from mnemic.stores.postgres.rows import Bodies
from mnemic.types import Memory, Vector, VectorSpace

AsOwners = Callable[[Callable[[Any], Awaitable[Any]]], Awaitable[list[Any]]]
"""The results of work with the owner's rights on each server."""


async def unfilled(as_owners: AsOwners, bodies: Bodies, limit: int) -> list[Memory]:
    """Return the port's `unfilled`."""
    found: list[Memory] = []
    for one in await as_owners(partial(embedding_spaces.unfilled, bodies=bodies, limit=limit)):
        found += one
    return found[: max(0, limit)]


async def fill(as_owners: AsOwners, filled: Sequence[tuple[Memory, Vector]]) -> int:
    """Implement the port's `fill`. Raises InvalidInput (`space`)."""
    await _check(as_owners)
    return sum(await as_owners(partial(embedding_spaces.fill, filled=filled)))


async def switch(as_owners: AsOwners) -> VectorSpace | None:
    """Implement the port's `switch_space`, server by server; None if a memory still has no vector: then no server is
    switched unless the memory was written meanwhile. Raises InvalidInput (`space`).
    """
    await _check(as_owners)
    if not all(await as_owners(embedding_spaces.filled_whole)):
        return None
    switched: list[VectorSpace | None] = await as_owners(embedding_spaces.switch)
    return None if None in switched else switched[0]


async def _check(as_owners: AsOwners) -> None:
    if not any(await as_owners(embedding_spaces.filling)):
        raise InvalidInput("space", hint="no vector space is being filled")
