"""Servers that share the tenants behind a router: alike in everything a store relies on, each with a distinct range of
row numbers.

Nothing here assigns tenants to servers. The router does that; it also manages copies of a server and failover.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mnemic.errors import InvalidConfig, StoreFailed, StoreUnavailable
from mnemic.stores.postgres import embedding_spaces
from mnemic.stores.postgres.failures import DRIVER_ERRORS, typed
from mnemic.stores.postgres.pool import connect, unbound
from mnemic.stores.postgres.routing import differing
from mnemic.stores.postgres.schema import Prepared, prepare
from mnemic.types import VectorSpace

STEP = 1024
"""Increment of every sequence. All numbers of a server have the same remainder, so that rows of a tenant can move to
another server and entries of all outboxes stay distinct.
"""
_MARGIN = 1000 * STEP
"""Numbers skipped when a server in use gets its own: other processes take some meanwhile."""
_SETTING_UP = 0x6D6E656D6964
"""Advisory lock, on the first server, for a process that sets up all of them."""

_KNOWN = "SELECT to_regclass('mnemic.salt') IS NOT NULL"
_OPEN_TABLES = """
    SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant'
    WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
"""
_PROJECTIONS = "SELECT name FROM mnemic.projection"
_REGISTER = "INSERT INTO mnemic.projection (name) VALUES ($1) ON CONFLICT DO NOTHING"
_SEQUENCES = """
    SELECT format('%I.%I', schemaname, sequencename) AS name, increment_by AS step, start_value AS first,
           coalesce(last_value, 0) AS last
    FROM pg_sequences WHERE schemaname = 'mnemic' ORDER BY sequencename
"""


@asynccontextmanager
async def connected(dsns: Sequence[str], seconds: float) -> AsyncIterator[list[Any]]:
    """Yield a connection to each server. Raises StoreUnavailable with the number of a server that cannot be reached."""
    connections: list[Any] = []
    try:
        for number, dsn in enumerate(dsns, 1):
            try:
                connections.append(await connect(dsn, seconds, {"application_name": "mnemic"}))
            except StoreFailed as failed:
                hint = f"server {number} of {len(dsns)} behind the router: {failed.hint}"
                raise StoreUnavailable("server", hint=hint) from None
        yield connections
    finally:
        for connection in connections:
            connection.terminate()


async def prepare_all(connections: Sequence[Any], space: VectorSpace | None) -> list[Prepared]:
    """Migrate every server, set up new ones like the others, and check that all have the same configuration. Raises the
    errors of `prepare`, and InvalidConfig (`invalid_config:postgres_servers`, `invalid_config:postgres_role`).
    """
    try:
        # One process at a time sets servers up. The first server's lock covers all, and ends with its connection.
        await connections[0].execute(f"SELECT pg_advisory_lock({_SETTING_UP})")
        known = [await connection.fetchval(_KNOWN) for connection in connections]
        # A server that is already set up is the model: with another salt a new one would not find words.
        first = known.index(True) if True in known else 0
        found = [await embedding_spaces.present(one) for one, there in zip(connections, known, strict=True) if there]
        if len({one for one in found if one is not None}) > 1:
            hint = "their vector spaces differ; finish `mnemic maintain --reembed` at each server's own address"
            raise differing(hint)
        model = await prepare(connections[first], space)
        space = space or await embedding_spaces.present(connections[first])
        ready = []
        for connection in connections:
            same = connection is connections[first]
            ready.append(model if same else await prepare(connection, space, salt=model.salt))
        await _check(connections, ready)
        await _register(connections)
        await _number(connections)
    except DRIVER_ERRORS as error:
        raise typed(error) from None
    return ready


async def _check(connections: Sequence[Any], ready: Sequence[Prepared]) -> None:
    versions = set()
    for connection, one in zip(connections, ready, strict=True):
        if one.salt != ready[0].salt:
            raise differing("their salts differ, so that words would not be found; they were set up separately")
        versions.add(await connection.fetchval("SELECT max(version) FROM mnemic.schema_version"))
        if await connection.fetchval(_OPEN_TABLES):
            raise unbound()
    if len(versions) > 1:
        raise differing("their schemas differ")


async def _register(connections: Sequence[Any]) -> None:
    """Register the projections of all servers on each of them: a server that does not know a projection would empty its
    outbox.
    """
    found = [{name for (name,) in await connection.fetch(_PROJECTIONS)} for connection in connections]
    for connection, known in zip(connections, found, strict=True):
        for name in sorted(set().union(*found) - known):
            await connection.execute(_REGISTER, name)


async def _number(connections: Sequence[Any]) -> None:
    """Assign a distinct remainder to each server that has none yet."""
    found = [await connection.fetch(_SEQUENCES) for connection in connections]
    numbers = [_number_of(rows) for rows in found]
    taken = [number for number in numbers if number is not None]
    if len(set(taken)) < len(taken):
        raise differing("two of them give the same numbers to rows; one is a copy of another")
    free = iter(sorted(set(range(1, STEP)) - set(taken)))
    for connection, rows, known in zip(connections, found, numbers, strict=True):
        number = next(free) if known is None else known
        # All sequences or none: a server with two remainders is refused.
        async with connection.transaction():
            for row in rows:
                if row["step"] != STEP:
                    await connection.execute(_numbered(row, number))


def _number_of(rows: Sequence[Any]) -> int | None:
    found = {row["first"] % STEP for row in rows if row["step"] == STEP}
    if len(found) > 1:
        raise InvalidConfig("postgres_servers", hint="the sequences of a server were changed")
    return found.pop() if found else None


def _numbered(row: Any, number: int) -> str:
    """Return the command by which a sequence continues with numbers of this remainder only."""
    beyond = row["last"] + _MARGIN if row["last"] else 0
    following = number + -(-(beyond - number) // STEP) * STEP if beyond > number else number
    return f"ALTER SEQUENCE {row['name']} INCREMENT BY {STEP} START WITH {number} RESTART WITH {following}"
