"""Conditions that a database must meet before the store works on it: migrated, of the right vector space, and isolating
tenants.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from mnemic.errors import InvalidConfig, SpaceMismatch, StoreCorrupt, StoreNewer, StoreOlder, StoreUnavailable
from mnemic.stores.postgres.connections import APP_ROLE, DRIVER_ERRORS, as_mnemic_error
from mnemic.types import VectorSpace

OLDEST_SERVER = 160000
LONGEST_INDEXED = 2000
"""Dimensions that pgvector's HNSW takes of single-precision vectors."""

_LOCK = 0x6D6E656D6963  # "mnemic"
_NUMBERED = re.compile(r"(\d{4})_\w+\.sql")

_STATE = """
    SELECT to_regclass('mnemic.schema_version') IS NOT NULL AS known,
           EXISTS (
               SELECT FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid WHERE n.nspname = 'mnemic'
           ) AS used,
           to_regclass('mnemic.restoring') IS NOT NULL
           AND coalesce(current_setting('mnemic.restoring', true), '') <> 'on' AS restoring
"""
_NEW = "SELECT to_regclass('mnemic.salt') IS NULL"
_SERVER = """
    SELECT current_setting('server_version_num')::integer AS number, current_setting('server_encoding') AS encoding,
           current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on' AS safe,
           current_setting('synchronous_commit') AS synchronous
"""
_ROLE = """
    SELECT rolsuper OR rolbypassrls AS exempt FROM pg_roles WHERE rolname = $1
"""
_VECTOR = """
    SELECT quote_ident(n.nspname) AS quoted
    FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typname = 'vector'
"""
_TYPED = "SELECT format('ALTER TABLE mnemic.memory ALTER COLUMN vector TYPE vector(%s)', dimension) FROM mnemic.space"
_INDEXED = """
    CREATE INDEX memory_by_vector ON mnemic.memory USING hnsw (vector vector_ip_ops) WHERE large
"""


class Migration(NamedTuple):
    """One step of the schema: its number, from 1, and its SQL."""

    number: int
    sql: str


@cache
def migrations() -> tuple[Migration, ...]:
    """Return all steps in order."""
    folder = files("mnemic.stores.postgres") / "migrations"
    found = [(_NUMBERED.fullmatch(entry.name), entry) for entry in folder.iterdir()]
    steps = [Migration(int(name[1]), entry.read_text(encoding="utf-8")) for name, entry in found if name]
    return tuple(sorted(steps))


@dataclass(frozen=True, slots=True)
class Prepared:
    """Facts that the store needs about a ready database. `durable`: its commits survive power loss."""

    salt: bytes
    search_path: str
    durable: bool
    synchronous: str


async def prepare(connection: Any, space: VectorSpace | None, *, salt: bytes | None = None) -> Prepared:
    """Migrate the database, claim it for `space` if one is given, and check that row-level security binds the
    application. A new one takes the `salt`. Needs the owner's rights only for changes. Raises StoreNewer, StoreOlder,
    StoreCorrupt, SpaceMismatch, InvalidConfig (`invalid_config:postgres_<what>`), StoreUnavailable.
    """
    try:
        server = await connection.fetchrow(_SERVER)
        _check_server(server)
        await connection.execute("SET search_path = mnemic, public")
        if not await _ready(connection, space):
            async with connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", _LOCK)
                new = salt is not None and await connection.fetchval(_NEW)
                await migrate(connection)
                if new:
                    await connection.execute("UPDATE mnemic.salt SET value = $1", salt)
                if space is not None:
                    await claim(connection, space)
        await _check_role(connection)
        vector = await connection.fetchrow(_VECTOR)
        salt = await connection.fetchval("SELECT value FROM mnemic.salt")
    except DRIVER_ERRORS as error:
        raise as_mnemic_error(error) from None
    return Prepared(
        salt=salt,
        search_path=f"mnemic, {vector['quoted']}",
        durable=server["safe"],
        synchronous=server["synchronous"],
    )


def _check_server(server: Any) -> None:
    if server["number"] < OLDEST_SERVER:
        raise InvalidConfig("postgres_version", hint="PostgreSQL 16 or newer is needed")
    if server["encoding"] != "UTF8":
        raise InvalidConfig("postgres_encoding", hint="create the database with ENCODING 'UTF8'")


async def _ready(connection: Any, space: VectorSpace | None) -> bool:
    """Return True if there is nothing to do. Raises StoreNewer, StoreOlder, StoreCorrupt and SpaceMismatch."""
    state = await connection.fetchrow(_STATE)
    if not state["known"]:
        if state["used"]:
            raise StoreCorrupt("not_mnemic", hint="the schema mnemic contains tables of another program")
        return False
    if state["restoring"]:
        raise StoreUnavailable("restoring", hint="a restore has not ended; cut off, drop the schema and restore again")
    version = await connection.fetchval("SELECT max(version) FROM mnemic.schema_version")
    newest = migrations()[-1].number
    if version > newest:
        raise StoreNewer(hint=f"the database has schema {version}, this mnemic knows {newest}")
    if version < migrations()[0].number:
        raise StoreOlder
    return bool(version == newest) and (space is None or await _claim_space(connection, space))


async def _claim_space(connection: Any, space: VectorSpace) -> bool:
    known = await connection.fetchrow("SELECT model, dimension FROM mnemic.space")
    if known is not None and tuple(known) != (space.model, space.dimension):
        raise SpaceMismatch(hint=reopen_with(known["model"], known["dimension"]))
    return known is not None


def reopen_with(model: str, dimension: int) -> str:
    """Return the hint for a store of another vector space."""
    return (
        f"open it with the model {model} of dimension {dimension}, "
        "or change to this one with `mnemic maintain --reembed`"
    )


async def migrate(connection: Any, *, up_to: int | None = None) -> None:
    """Apply missing migrations, up to the newest step or this one; the caller's transaction makes them atomic."""
    await connection.execute("CREATE SCHEMA IF NOT EXISTS mnemic")
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS mnemic.schema_version "
        "(version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    version = await connection.fetchval("SELECT coalesce(max(version), 0) FROM mnemic.schema_version")
    for step in migrations():
        if version < step.number <= (up_to or step.number):
            await connection.execute(step.sql)
            await connection.execute("INSERT INTO mnemic.schema_version (version) VALUES ($1)", step.number)


async def claim(connection: Any, space: VectorSpace) -> None:
    """Make `space` the database's vector space, if it has none. Raises SpaceMismatch if it has another."""
    if await _claim_space(connection, space):
        return
    values = (space.model, space.dimension)
    await connection.execute("INSERT INTO mnemic.space (model, dimension) VALUES ($1, $2)", *values)
    await connection.execute(await connection.fetchval(_TYPED))
    if space.dimension <= LONGEST_INDEXED:
        await connection.execute(_INDEXED)


async def _check_role(connection: Any) -> None:
    role = await connection.fetchrow(_ROLE, APP_ROLE)
    if role is None or role["exempt"]:
        raise InvalidConfig("postgres_role", hint=f"the role {APP_ROLE} must exist and must not bypass row security")
