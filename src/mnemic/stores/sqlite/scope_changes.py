"""Changes of one scope, for in-process caches of the data of its memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

from mnemic.errors import StoreCorrupt
from mnemic.stores.sqlite.rows import Rows, find_place
from mnemic.types import Scope
from mnemic.types.scope_changes import ScopeChanges

_CHANGED = "SELECT row_id, memory_id, CAST(body AS BLOB), checksum FROM memory WHERE scope_id = ? AND changed > ?"
_IDS = "SELECT memory_id FROM memory WHERE scope_id = ?"


def changes_since(connection: apsw.Connection, rows: Rows, scope: Scope, seen: int) -> ScopeChanges:
    """Return the port's `changed`: one statement if the scope has changed, none otherwise."""
    place = find_place(connection, scope)
    if place is None or place.changes <= seen:
        return ScopeChanges(seen=seen)
    data: dict[str, Mapping[str, Any]] = {}
    for row_id, memory_id, body, checksum in connection.execute(_CHANGED, (place.scope_id, seen)):
        try:
            data[memory_id] = rows.sealer.data(body, checksum, scope)
        except StoreCorrupt:
            rows.noted.note(row_id)
    kept = None
    if 0 < seen < place.removed_at:
        kept = frozenset(one for (one,) in connection.execute(_IDS, (place.scope_id,)))
    return ScopeChanges(seen=place.changes, data=data, kept=kept)
