"""Statements that both databases share, in a transaction of a server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.rows import storable
from mnemic.stores.relational.statements import Ask

T = TypeVar("T")


def asking(fetch: Callable[..., Awaitable[list[Any]]], statements: Mapping[str, str]) -> Ask:
    """Return an `Ask` for these statements; `fetch` runs any statement. Lists contain texts: those that no row can
    contain are left out.
    """

    async def ask(name: str, *values: Any) -> list[Any]:
        return await fetch(statements[name], *(storable(one) if isinstance(one, list) else one for one in values))

    return ask


def inside(
    tenant: str, statements: Mapping[str, str], work: Callable[[Ask], Awaitable[T]]
) -> Callable[[Session], Awaitable[T]]:
    """Return `work` as a transaction that sees only the rows of `tenant`."""

    async def run(session: Session) -> T:
        await session.enter(tenant)
        return await work(asking(session.fetch, statements))

    return run
