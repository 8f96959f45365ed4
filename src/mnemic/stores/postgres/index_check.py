"""Indexes in which an entry is missing or out of place, found by PostgreSQL's extension `amcheck`."""

from __future__ import annotations

from typing import Any

import asyncpg

from mnemic.ports.optional_capabilities import Damage

_CHECK = """
    SELECT quote_ident(n.nspname) || '.bt_index_check' AS name
    FROM pg_extension e
    JOIN pg_proc p ON p.pronamespace = e.extnamespace AND p.proname = 'bt_index_check' AND p.pronargs = 2
    JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'amcheck' AND has_function_privilege(p.oid, 'EXECUTE')
"""
_INDEXES = """
    SELECT c.oid, c.relname AS name
    FROM pg_class c
    JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'
    JOIN pg_index i ON i.indexrelid = c.oid AND i.indisready AND i.indisvalid
    WHERE c.relkind = 'i' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'memory'::regclass)
    ORDER BY c.relname
"""


async def find_index_damage(connection: Any) -> list[Damage]:
    """Return the indexes that lack an entry of their table, or have one out of place; each table is read. None if the
    extension is missing, or this login may not call it.
    """
    check = await connection.fetchval(_CHECK)
    if check is None:
        return []
    found = []
    for row in await connection.fetch(_INDEXES):
        try:
            await connection.execute(f"SELECT {check}($1::oid::regclass, true)", row["oid"])
        except (asyncpg.DataCorruptedError, asyncpg.IndexCorruptedError):
            found.append(Damage("index", row["name"]))
    return found
