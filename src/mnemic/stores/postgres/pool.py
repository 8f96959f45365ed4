"""Connection pool whose connections work as the application's role."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from mnemic.errors import InvalidConfig, MnemicError, StoreFailed, StoreNewer, StoreUnavailable
from mnemic.stores.postgres.failures import DRIVER_ERRORS, as_mnemic_error

APP_ROLE = "mnemic_app"
BOUND = f"SELECT CASE current_user WHEN '{APP_ROLE}' THEN 0 ELSE current_user::text::integer END"
"""Statement that fails unless row-level security applies to the connection, since the name of another role is not a
number: a pooler may have given this connection to somebody else meanwhile.
"""
_SET = "SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS made(name, value)"
UNBOUND = "22P02"
"""Failure of `BOUND`."""

_PLANNING = {
    # One plan for all: every statement reads an index, whatever its parameters and however many rows there are today.
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "random_page_cost": "1.1",
    "jit": "off",
}
_QUERIES = 5000
"""Statements after which a connection is replaced, so that plans are made for the tables as they are by then."""
_OTHER_SCHEMA = "22012"
"""Division by zero, which only the check of the schema causes, where a transaction begins."""
_ROLE_REFUSED = {"22023", "42501"}


async def connect(dsn: str, seconds: float, settings: Mapping[str, str]) -> Any:
    """Open one connection outside the pool. Raises StoreUnavailable."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncpg.connect(dsn, timeout=seconds, server_settings=dict(settings))
    except (*DRIVER_ERRORS, ValueError) as error:
        raise _unreachable(dsn, error) from None


async def open_pool(dsn: str, *, size: int, seconds: float, settings: Mapping[str, str]) -> Any:
    """Return a pool whose connections work as the application's role.

    Raises InvalidConfig (`invalid_config:postgres_role`) and StoreUnavailable.
    """
    made = session_settings(seconds, settings)

    async def set_up(connection: Any) -> None:
        # Not as parameters of the start: a pooler refuses those that it does not know.
        await connection.execute(_SET, list(made), list(made.values()))

    async def reset_nothing(connection: Any) -> None:
        """Nothing to reset: every setting ends with its transaction."""

    pool = asyncpg.create_pool(
        dsn,
        min_size=0,
        max_size=size,
        max_queries=_QUERIES,
        timeout=seconds,
        init=set_up,
        reset=reset_nothing,
    )
    try:
        async with asyncio.timeout(seconds):
            await pool
            await pool.execute(BOUND)
    except (*DRIVER_ERRORS, ValueError) as error:
        pool.terminate()
        if isinstance(error, asyncpg.PostgresError) and error.sqlstate == UNBOUND:
            raise unbound() from None
        if isinstance(error, asyncpg.PostgresError) and error.sqlstate in _ROLE_REFUSED:
            raise InvalidConfig("postgres_role", hint=f"GRANT {APP_ROLE} to the user of the connection") from None
        raise _unreachable(dsn, error) from None
    return pool


def session_settings(seconds: float, settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a new connection, the role first."""
    milliseconds = str(int(seconds * 1000))
    limits = {"statement_timeout": milliseconds, "idle_in_transaction_session_timeout": milliseconds}
    return {"role": APP_ROLE, **_PLANNING, **limits, **settings}


def transaction_error(cause: BaseException | None, failed: StoreFailed) -> MnemicError:
    """Return the error to raise if the beginning of a transaction failed."""
    state = getattr(cause, "sqlstate", None)
    if state == _OTHER_SCHEMA:
        return StoreNewer(hint="the database was migrated by a newer mnemic; update this one")
    return unbound() if state == UNBOUND else failed


def unbound() -> InvalidConfig:
    """Return the error of a connection that works as another role."""
    return InvalidConfig(
        "postgres_role",
        hint=f"the server did not take the role {APP_ROLE}, without which tenants are not kept apart: "
        "a pooler must pool by session",
    )


def _unreachable(dsn: str, error: BaseException) -> MnemicError:
    if isinstance(error, asyncpg.PostgresError):
        return as_mnemic_error(error)
    try:
        address = urlsplit(dsn)
        server = f"{address.hostname or 'localhost'}:{address.port or 5432}"
    except ValueError:
        return StoreUnavailable(hint="check the address of the server")
    return StoreUnavailable(hint=f"nothing answers at {server}: check the address, and that the server runs")
