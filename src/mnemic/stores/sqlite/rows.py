"""A memory as rows, and its texts as term hashes."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import apsw

from mnemic.errors import StoreCorrupt
from mnemic.language.text.analyse import Analysis, analyse
from mnemic.stores.codec import (
    LoggedDamage,
    blob_check,
    body_check,
    checked_marks,
    cues_of,
    damage_error,
    dump,
    fields_of,
    packed_vector,
    placeholder,
    to_micros,
    with_fingerprint,
    with_id,
    words_check,
)
from mnemic.stores.encryption import Sealer, SearchData
from mnemic.stores.relational.statements import Ask, in_json
from mnemic.types import Memory, Scope, VectorSpace
from mnemic.types.facets import ANY, facets_of
from mnemic.types.scope import scope_named

ANY_FACET = 0
"""Placeholder for every facet."""

MEMORY = "m.row_id, CAST(m.body AS BLOB), m.checksum, s.vector, s.vector_check, c.tenant, c.level, c.owner"
"""The columns that `Rows.memory` reads, from `memory m`, its `scope c` and its `memory_search s`. The body as
bytes, for a flipped bit may have made no text of it.
"""

SOURCES = "memory m JOIN scope c ON c.scope_id = m.scope_id JOIN memory_search s ON s.row_id = m.row_id"

IN_SCOPES = """
    m.tenant IN (SELECT value ->> 0 FROM json_each(:scopes))
    AND EXISTS (
        SELECT 1 FROM json_each(:scopes) w
        WHERE c.tenant = w.value ->> 0 AND c.level = w.value ->> 1 AND c.owner = w.value ->> 2
    )
"""

GET_MANY = (
    f"SELECT {MEMORY} FROM {SOURCES} "  # noqa: S608
    f"WHERE m.memory_id IN (SELECT value FROM json_each(:memory_ids)) AND {IN_SCOPES}"
)
"""The memories of `wanted_memories`."""


ACTIVE = (
    f"SELECT {MEMORY} FROM {SOURCES} "  # noqa: S608
    "WHERE m.tenant = :tenant AND c.tenant = :tenant AND c.level = :level AND c.owner = :owner AND m.status = 'active' "
)
"""The active memories of one scope, with the parameters of `place`."""

_SAME = "AND m.fingerprint = :fingerprint AND m.fingerprint <> ''"
BY_FINGERPRINT = ACTIVE + _SAME
PENDING_BY_FINGERPRINT = ACTIVE.replace("'active'", "'pending_review'") + _SAME + " ORDER BY m.memory_id LIMIT 1"


# No byte of a text is ff: the index ends where the prefix does.
_MARKS = """
    SELECT name, value, checksum FROM mark
    WHERE tenant = :tenant AND name >= max(:prefix, :after) AND name < CAST(:prefix AS BLOB) || x'ff' AND name <> :but
    AND substr(CAST(name AS BLOB), 1, length(CAST(:prefix AS BLOB))) = CAST(:prefix AS BLOB) ORDER BY name LIMIT :limit
"""
_PRESENT = "SELECT model, dimension FROM space"


ROW_COLUMNS = (
    *("tenant", "memory_id", "version", "kind", "status", "key", "category", "fingerprint"),
    *("happened_at", "began_at", "ended_at", "expires_at", "session"),
)
_TEXTS = frozenset({"tenant", "memory_id", "kind", "status", "key", "category", "fingerprint", "session"})
# As bytes: damage may leave text that is no UTF-8, and decoding it inside SQLite's driver would raise for the whole
# row.
ROW_VALUES = ", ".join(f"CAST(m.{name} AS BLOB)" if name in _TEXTS else f"m.{name}" for name in ROW_COLUMNS)
_PLACEHOLDER = (
    f"SELECT {ROW_VALUES}, c.tenant, c.level, c.owner FROM memory m JOIN scope c USING (scope_id) WHERE row_id = ?"  # noqa: S608
)


def place(scope: Scope) -> dict[str, Any]:
    """Return the parameters that name a scope."""
    return {"tenant": scope.tenant, "level": scope.level, "owner": scope.owner}


def fetch(
    connection: apsw.Connection, sql: str, parameters: Mapping[str, Any] | Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows of a statement."""
    return connection.execute(sql, parameters).fetchall()


def present(connection: apsw.Connection, sql: str = _PRESENT) -> VectorSpace | None:
    """Return the file's embedding space, or the one that `sql` selects; None if there is none yet."""
    rows = fetch(connection, sql)
    return VectorSpace(model=rows[0][0], dimension=rows[0][1]) if rows else None


def marks(
    connection: apsw.Connection, tenant: str, prefix: str, after: str | None, limit: int | None
) -> dict[str, str]:
    """Return the port's `marks`."""
    after, but = after or "", b"" if after is None else after
    asked = {"tenant": tenant, "prefix": prefix, "after": after, "but": but, "limit": -1 if limit is None else limit}
    return checked_marks(fetch(connection, _MARKS, asked))


def wanted_memories(memory_ids: Sequence[str], scopes: Iterable[Scope]) -> dict[str, Any]:
    """Return the parameters of `GET_MANY`."""
    return {
        "memory_ids": dump(list(memory_ids)),
        "scopes": dump([[scope.tenant, scope.level, scope.owner] for scope in scopes]),
    }


def _read_columns(connection: apsw.Connection, row_id: int) -> Memory:
    """Return the memory of a damaged row, with the fields that its columns give and `DAMAGED` as its content. Raises
    StoreCorrupt (`memory`) if they are damaged as well.
    """
    found: Any = connection.execute(_PLACEHOLDER, (row_id,)).fetchone()
    if found is None:
        raise damage_error("memory")
    *values, tenant, level, owner = found
    try:
        row = dict(zip(ROW_COLUMNS, map(text_or_value, values), strict=True))
    except UnicodeDecodeError as error:
        raise damage_error("memory") from error
    return placeholder(row, (tenant, level, owner), key=row["key"], category=row["category"])


def text_or_value(value: Any) -> Any:
    """Return the text of bytes, and every other value as it is. Raises UnicodeDecodeError."""
    return value.decode() if isinstance(value, bytes) else value


class WrittenRow(NamedTuple):
    """Columns of a written row that an index needs. Without `searched` the row has to be read again."""

    scope_id: int
    changed: int
    row_id: int
    turn: int | None
    memory: Memory
    columns: Mapping[str, Any]
    searched: SearchData | None


class ScopeState(NamedTuple):
    """Number of a scope in this file and its change counter, as of one read transaction."""

    scope_id: int
    changes: int
    removed_at: int


def find_place(connection: apsw.Connection, scope: Scope) -> ScopeState | None:
    """Return the place of `scope` in this file, or None if nothing was ever stored in it."""
    found = connection.execute(
        "SELECT scope_id, changes, removed_at FROM scope WHERE tenant = ? AND level = ? AND owner = ?",
        (scope.tenant, scope.level, scope.owner),
    ).fetchone()
    return None if found is None else ScopeState(*found)


class Rows:
    """Conversion between memories and rows of this file."""

    def __init__(self, terms: HashedTerms, sealer: Sealer) -> None:
        self.terms = terms
        self.sealer = sealer
        self.noted = LoggedDamage()

    def memory(self, row: Sequence[Any]) -> Memory:
        """Return the memory of a row with the columns of `MEMORY`. A damaged vector is dropped; raises StoreCorrupt
        (`memory`) if anything else differs from what was written.
        """
        row_id, body, checksum, vector, expected, tenant, level, owner = row
        # A damaged vector costs a memory its place by meaning, not its content: it is noted and dropped.
        if vector is not None and expected != blob_check(vector):
            self.noted.note(row_id)
            vector = None
        return self.version(body, checksum, scope_named(tenant, level, owner), vector)

    def read_fields(self, connection: apsw.Connection, row: Sequence[Any]) -> Memory:
        """Return a row's memory; for a damaged row the fields that are known without its body, so that a job can remove
        it.
        """
        try:
            return self.memory(row)
        except StoreCorrupt:
            self.noted.note(row[0])
            return _read_columns(connection, row[0])

    def version(self, body: bytes, checksum: int, scope: Scope, vector: bytes | None = None) -> Memory:
        """Return a body's memory. Raises StoreCorrupt (`memory`) if it is not the one written in this scope."""
        return self.sealer.decode_checked(body, checksum, scope, vector)

    def same(self, connection: apsw.Connection, sql: str, scope: Scope, fingerprint: str) -> Memory | None:
        """Return the memory with this fingerprint. Raises StoreCorrupt (`memory`) if row or index is damaged."""
        found = fetch(connection, sql, place(scope) | {"fingerprint": fingerprint})
        return with_fingerprint(fingerprint, self.memory(found[0])) if found else None

    def find_memory(self, connection: apsw.Connection, memory_id: str, scopes: Sequence[Scope]) -> Memory | None:
        """Return the memory with this identifier. Raises StoreCorrupt (`memory`) if row or index is damaged."""
        found = fetch(connection, GET_MANY, wanted_memories([memory_id], scopes))
        return with_id(memory_id, self.memory(found[0])) if found else None

    def whole(self, rows: Iterable[Sequence[Any]]) -> Iterator[Memory]:
        """Yield the memories of those rows that are not damaged; the others are skipped, and noted."""
        for row in rows:
            try:
                yield self.memory(row)
            except StoreCorrupt:
                self.noted.note(row[0])

    def columns(self, memory: Memory) -> dict[str, Any]:
        """Return the values of the columns of `memory`, except those that the store assigns."""
        body = self.sealer.body(memory)
        checksum = body_check(memory.scope.tenant, memory.scope.level.value, memory.scope.owner, body)
        return columns_of(memory) | {"body": body, "checksum": checksum}

    def search_columns(self, memory: Memory) -> tuple[SearchData, int | None, int]:
        """Return the values of the columns of `memory_search`, and the checksums of its vector and of the rest. Without
        cues the row is sealed, and has no phrases.
        """
        content, context = map(self.terms.pack, fields_of(memory))
        plain = SearchData(packed_vector(memory.vector), content, context, memory.source.speaker, cues_of(memory))
        searched = self.sealer.search_fields(memory, plain)
        check = None if searched.vector is None else blob_check(searched.vector)
        return searched, check, words_check(*searched[1:])

    def facets(self, wanted: Iterable[str]) -> frozenset[int]:
        """Return the numbers of these facets in this file, and the number of the placeholder for every facet."""
        return frozenset(map(self.terms.number, wanted)) | {ANY_FACET}

    def facets_of(self, memory: Memory) -> frozenset[int]:
        """Return the numbers that represent the facets of the memory; for a sealed one the number that represents any
        facet.
        """
        found = facets_of(memory)
        # Encrypted data has one facet for "any": hashes of its values would let a reader of the file test guesses.
        whole = ANY in found or (found and self.sealer.seals)
        return frozenset({ANY_FACET}) if whole else frozenset(map(self.terms.number, found))


def mark_facets(connection: apsw.Connection, rows: Rows, scope_id: int, row_id: int, memory: Memory) -> None:
    """Replace the facets of the row by those of the structured `memory`, in the transaction that writes it."""
    connection.execute("DELETE FROM facet WHERE row_id = ?", (row_id,))
    marks = ((scope_id, facet, memory.memory_id, row_id) for facet in rows.facets_of(memory))
    connection.executemany("INSERT INTO facet VALUES (?, ?, ?, ?)", marks)


def columns_of(memory: Memory) -> dict[str, Any]:
    """Return the values of the columns of `memory`, except its body and those that the store assigns."""
    happened_at = to_micros(memory.happened_at)
    return {
        "tenant": memory.scope.tenant,
        "memory_id": memory.memory_id,
        "version": memory.version,
        "kind": memory.kind.value,
        "status": memory.status.value,
        "key": memory.key,
        "category": memory.category,
        "fingerprint": memory.fingerprint,
        "happened_at": happened_at,
        "began_at": happened_at if memory.valid_from is None else to_micros(memory.valid_from),
        "ended_at": to_micros(memory.valid_to),
        "expires_at": to_micros(memory.expires_at),
        "session": memory.source.session,
    }


class HashedTerms:
    """Terms as salted hashes: the search data of a text cannot be turned back into words."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt
        self.number = lru_cache(maxsize=8192)(self._number)

    def _number(self, term: str) -> int:
        """Return a 32-bit number for `term` in this file; never 0, which is the separator."""
        digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4, key=self._salt).digest()
        # Zero separates the words of a text from their further spellings.
        return int.from_bytes(digest, "little") or 1

    def pack(self, text: str) -> bytes:
        """Return the terms of `text`: in the order of its words, a zero, then its further spellings."""
        if not text:  # the context of most memories
            return b""
        found: Analysis = analyse(text, stems=True)
        numbers = [self.number(term) for term in found.sequence]
        if found.extras:
            numbers += [0, *map(self.number, found.extras)]
        return array("I", numbers).tobytes()


def asking(connection: apsw.Connection, statements: Mapping[str, str]) -> Ask:
    """Return an `Ask` for these statements on this connection. It never suspends."""

    async def ask(name: str, *values: Any) -> list[Any]:
        return fetch(connection, statements[name], in_json(values))

    return ask
