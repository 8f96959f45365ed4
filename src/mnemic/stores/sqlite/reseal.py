"""An existing file sealed: plain rows written anew, a batch in each transaction."""

from __future__ import annotations

import apsw

from mnemic.stores.sqlite.failures import immediate
from mnemic.stores.sqlite.rows import MEMORY, SOURCES, Rows, fetch, mark_facets, tokens
from mnemic.types import Level, Scope

BATCH = 256

_PLAIN = f"""
    SELECT m.row_id, m.scope_id, s.content, s.context, {MEMORY} FROM {SOURCES}
    WHERE m.tenant = ? AND m.body ->> '$.sealed' IS NULL LIMIT {BATCH}
"""  # noqa: S608
_PLAIN_VERSIONS = f"""
    SELECT v.memory_id, v.version, v.body, c.level, c.owner
    FROM memory_version v JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
    JOIN scope c ON c.scope_id = m.scope_id
    WHERE v.tenant = ? AND v.body ->> '$.sealed' IS NULL LIMIT {BATCH}
"""  # noqa: S608
_SEARCH = """
    UPDATE memory_search SET vector = ?, content = ?, context = ?, speaker = ?, cues = ?, next_vector = NULL
    WHERE row_id = ?
"""
_PHRASES = "INSERT INTO phrase (phrase, rowid, content, context) VALUES ('delete', ?, ?, ?)"
_VERSION = "UPDATE memory_version SET body = ? WHERE tenant = ? AND memory_id = ? AND version = ?"


def seal_batch(connection: apsw.Connection, rows: Rows, tenant: str) -> int:
    """Seal some plain rows of the tenant, or where there are none some earlier versions; how many."""
    with immediate(connection):
        plain = fetch(connection, _PLAIN, (tenant,))
        for row_id, scope_id, content, context, *row in plain:
            memory = rows.memory(row)
            connection.execute("UPDATE memory SET body = ? WHERE row_id = ?", (rows.sealer.body(memory), row_id))
            connection.execute(_SEARCH, (*rows.searched(memory), row_id))
            connection.execute(_PHRASES, (row_id, tokens(scope_id, content), tokens(scope_id, context)))
            mark_facets(connection, rows, scope_id, row_id, memory)
        versions = [] if plain else fetch(connection, _PLAIN_VERSIONS, (tenant,))
        for memory_id, version, body, level, owner in versions:
            memory = rows.sealer.memory(body, Scope(tenant=tenant, level=Level(level), owner=owner), None)
            connection.execute(_VERSION, (rows.sealer.body(memory), tenant, memory_id, version))
    return len(plain) + len(versions)
