"""Salvage of a damaged file: everything readable, in a new file.

Rows are carved out of the pages one by one and taken if their checksum is right. Columns, words, facets and the graph
are rebuilt from the bodies, so that damage there costs nothing. The outbox is not salvaged: its projections are
rebuilt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import apsw

from mnemic.errors import InvalidInput, MnemicError, StoreUnavailable
from mnemic.operations.sqlite.record_carving import Record, Text, records
from mnemic.ports import Keyring
from mnemic.stores.atomic_files import part_of, put
from mnemic.stores.codec import blob_check, body_check, in_columns, load, text_check, vector_check, words_check
from mnemic.stores.encryption import NOTHING, Sealer
from mnemic.stores.sqlite.database_file import BusyHandler, immediate, prepare, typed_failures
from mnemic.stores.sqlite.maintenance import broken_audit
from mnemic.stores.sqlite.rows import HashedTerms, Rows, columns_of, mark_facets
from mnemic.stores.sqlite.transaction import relate
from mnemic.types import Kind, Level, Memory, Scope

_LEVELS = frozenset(level.value for level in Level)
_SALT = b"term_salt"
_ROW = """
    INSERT OR IGNORE INTO memory VALUES (
        :row_id, :tenant, :scope_id, :memory_id, :version, :changed, :kind, :status, :key, :category, :fingerprint,
        :happened_at, :began_at, :ended_at, :expires_at, :session, :turn, :body, :checksum
    )
"""
_SEARCH = """
    INSERT INTO memory_search (row_id, vector, content, context, speaker, cues, vector_check, words_check)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_OTHERS = {
    "audit": "INSERT OR IGNORE INTO audit VALUES (?, ?, ?, ?)",
    "mark": "INSERT OR IGNORE INTO mark VALUES (?, ?, ?, ?)",
    "request": "INSERT OR IGNORE INTO request VALUES (?, ?, ?, ?, ?, ?)",
    "tenant": "INSERT OR IGNORE INTO tenant VALUES (?, ?, ?)",
    "document": "INSERT OR IGNORE INTO document VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "document_vector": "INSERT OR IGNORE INTO document_vector VALUES (?, ?, ?)",
}
_VERSION = "INSERT OR IGNORE INTO memory_version VALUES (?, ?, ?, ?, ?)"
_NO_SEARCH = (None,) * 10


@dataclass(slots=True)
class SalvageResult:
    """Report of a salvage. `damaged` names memories that were found but differ from what was written; `salt`: the
    search data was intact; `broken_audit` counts tenants whose audit lacks a line or has a changed one.
    """

    counts: dict[str, int] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)
    without_vector: int = 0
    broken_audit: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the account as JSON data."""
        return asdict(self)


@dataclass(slots=True)
class _Found:
    """The records of a file by their table, recognised by their form."""

    scopes: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    scope_index: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    memories: list[Record] = field(default_factory=list)
    searches: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    versions: list[tuple[Any, ...]] = field(default_factory=list)
    others: dict[str, list[tuple[Any, ...]]] = field(default_factory=lambda: {name: [] for name in _OTHERS})
    space: tuple[Any, ...] | None = None
    salt: bytes | None = None


def salvage(path: Path, target: Path, *, keyring: Keyring | None = None) -> SalvageResult:
    """Create the new file `target` from the readable rows of the one at `path`, which is not modified.

    Raises InvalidInput (`salvage:exists`, `salvage:unwritable`) and StoreUnavailable (also if nothing is found).
    """
    if target.exists():
        raise InvalidInput("salvage:exists", hint="name a file that is not there yet")
    try:
        found = _sort_records(records(path))
    except OSError as error:
        raise StoreUnavailable("missing", hint="the file cannot be read") from error
    if not found.memories and not found.scopes:
        raise StoreUnavailable("empty", hint="no memory was found in the file")
    try:
        with part_of(target) as part:
            with typed_failures():
                salvaged = _Making(found, part, keyring).make_file()
            put(part, target)
    except OSError as error:
        raise InvalidInput("salvage:unwritable", hint=error.strerror) from None
    return salvaged


def _sort_records(carved: Iterable[Record]) -> _Found:
    found = _Found()
    for record in carved:
        row_id, values = record
        form = "".join(map(_form, values))
        if row_id is None:
            _sort_unnumbered(found, form, values)
        elif form.startswith("ntitiit") and len(form) == 19:
            found.memories.append(record)
        elif form.startswith(("nbbb", "nnbb")) and len(form) == 10:
            found.searches[row_id] = values
        elif form == "ntttii" and _is_level(values[2]):
            found.scopes[row_id] = values
        elif form == "nti" and row_id == 1:
            found.space = found.space or values
        elif form.startswith("nttttii") and len(form) == 9:
            found.others["document"].append((row_id, *map(_decode_value, values[1:])))
    return found


def _sort_unnumbered(found: _Found, form: str, values: tuple[Any, ...]) -> None:
    if form == "titt" and len(values[3]) == 64:
        found.others["audit"].append(tuple(map(_decode_value, values)))
    elif form == "ttiti":
        found.versions.append(values)
    elif form == "ttti" and _is_level(values[1]) and 0 < values[3] < 1 << 31:
        found.scope_index[values[3]] = values[:3]
    elif form == "ttti" and values[3] == text_check(values[1], values[2]):
        found.others["mark"].append(tuple(map(_decode_value, values)))
    elif form == "ttttii" and values[5] == text_check(values[2], values[3]):
        found.others["request"].append(tuple(map(_decode_value, values)))
    elif form == "tb" and values[0] == _SALT:
        found.salt = values[1]
    elif form == "tbi" and values[2] == text_check(values[0], values[1]):
        found.others["tenant"].append(tuple(map(_decode_value, values)))
    elif form == "iib" and len(values[2]) % 4 == 0:
        found.others["document_vector"].append(values)


def _is_level(value: bytes) -> bool:
    return value.decode("ascii", "replace") in _LEVELS


def _form(value: Any) -> str:
    if value is None:
        return "n"
    return "t" if isinstance(value, Text) else "b" if isinstance(value, bytes) else "i"


def _decode_value(value: Any) -> Any:
    return value.decode("utf-8", "replace") if isinstance(value, Text) else value


class _Making:
    """The new file, row by row."""

    def __init__(self, found: _Found, part: Path, keyring: Keyring | None) -> None:
        self._found = found
        self._part = part
        self._sealer = Sealer(keyring)
        self._decoded = SalvageResult()
        self._scopes: dict[int, Scope] = {}
        self._taken: dict[tuple[str, str], int] = {}
        self._changes: dict[int, int] = {}
        self._numbers: set[int] = set()
        named = {(record.row_id, bytes(record.values[3])) for record in found.memories}
        claims = Counter(row_id for row_id, _ in named)
        self._disputed = {row_id for row_id, times in claims.items() if times > 1}

    def make_file(self) -> SalvageResult:
        with closing(prepare(self._part, durability="durable", busy=BusyHandler())) as connection:
            with immediate(connection):
                connection.execute("PRAGMA defer_foreign_keys = ON")
                rows = Rows(HashedTerms(self._salt(connection)), self._sealer)
                self._put_scopes(connection)
                for record in sorted(self._found.memories, key=_newest_first):
                    self._put_memory(connection, rows, record)
                self._put_versions(connection)
                self._put_others(connection)
            self._decoded.broken_audit = _broken(connection)
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            connection.pragma("journal_mode", "delete")
        return self._decoded

    def _salt(self, connection: apsw.Connection) -> bytes:
        if self._found.salt is not None:
            connection.execute("UPDATE meta SET value = ? WHERE name = 'term_salt'", (bytes(self._found.salt),))
        rows: Any = connection.execute("SELECT value FROM meta WHERE name = 'term_salt'").fetchall()
        return bytes(rows[0][0])

    def _put_scopes(self, connection: apsw.Connection) -> None:
        """Each is in the file twice, in its table and in an index: the one counts with which checksums agree."""
        found = self._found
        for scope_id in sorted(found.scopes.keys() | found.scope_index.keys()):
            row = found.scopes.get(scope_id, (None,) * 4 + (0, 0))
            scope = self._agree_on_scope(scope_id, [row[1:4], found.scope_index.get(scope_id, ())])
            if scope is not None:
                self._scopes[scope_id] = scope
                changed = [int(one.values[5] or 0) for one in found.memories if (one.row_id or 0) >> 32 == scope_id]
                self._changes[scope_id] = max([row[4], *changed])
                place = (scope.tenant, scope.level.value, scope.owner, self._changes[scope_id], row[5])
                connection.execute("INSERT OR IGNORE INTO scope VALUES (?, ?, ?, ?, ?, ?)", (scope_id, *place))
        if found.space is not None:
            space = (_decode_value(found.space[1]), found.space[2])
            connection.execute("INSERT OR IGNORE INTO space VALUES (1, ?, ?)", space)
        self._decoded.counts["scope"] = len(self._scopes)

    def _agree_on_scope(self, scope_id: int, candidates: Iterable[tuple[Any, ...]]) -> Scope | None:
        bodies = [one.values for one in self._found.memories if (one.row_id or 0) >> 32 == scope_id]
        best: tuple[int, Scope] | None = None
        for names in candidates:
            try:
                tenant, level, owner = (name.decode() for name in names)
                scope = Scope(tenant=tenant, level=Level(level), owner=owner)
            except (ValueError, AttributeError, MnemicError):
                continue
            agree = sum(row[18] == body_check(tenant, level, owner, bytes(row[17])) for row in bodies)
            if best is None or agree > best[0]:
                best = agree, scope
        return best and best[1]

    def _put_memory(self, connection: apsw.Connection, rows: Rows, record: Record) -> None:
        assert record.row_id is not None
        values = record.values
        scope = self._scopes.get(record.row_id >> 32)
        body, checksum = values[17:19]
        try:
            if scope is None or not isinstance(body, Text):
                raise ValueError("no scope")
            place = (scope.tenant, scope.level.value, scope.owner)
            if checksum != body_check(*place, bytes(body)):
                raise ValueError("damaged")
            memory, sealed = in_columns(body, scope)
        except (ValueError, TypeError, KeyError, MnemicError):
            self._note_damage(values)
            return
        if (scope.tenant, memory.memory_id) in self._taken:
            return
        row_id = self._number(connection, record.row_id)
        turn = values[16] if isinstance(values[16], int) else None
        given = {"row_id": row_id, "scope_id": row_id >> 32, "changed": values[5], "turn": turn}
        given |= {"body": body.decode(), "checksum": body_check(*place, bytes(body))}
        connection.execute(_ROW, columns_of(memory) | given)
        if not connection.changes():
            return  # a memory that was written later has this content
        self._taken[scope.tenant, memory.memory_id] = row_id
        self._put_search(connection, rows, row_id, memory, sealed=sealed)
        self._decoded.counts["memory"] = self._decoded.counts.get("memory", 0) + 1

    def _number(self, connection: apsw.Connection, row_id: int) -> int:
        """Return the number of a row, which no checksum covers: the next of its scope where a damaged one has it
        already, or where the scope has not got so far.
        """
        scope_id, number = row_id >> 32, row_id & 0xFFFFFFFF
        if row_id in self._numbers or number > self._changes[scope_id]:
            self._changes[scope_id] += 1
            changes = (self._changes[scope_id], scope_id)
            connection.execute("UPDATE scope SET changes = ? WHERE scope_id = ?", changes)
            row_id = scope_id << 32 | self._changes[scope_id]
        self._numbers.add(row_id)
        return row_id

    def _put_search(
        self, connection: apsw.Connection, rows: Rows, row_id: int, memory: Memory, *, sealed: bool
    ) -> None:
        # If two rows claim a number, its vector may belong to either.
        row = _NO_SEARCH if row_id in self._disputed else self._found.searches.get(row_id, _NO_SEARCH)
        _, vector, content, context, speaker, cues, following, expected, words, following_expected = row
        if not _is_right(vector, expected):
            # A change of the vector space gives the two columns each other's names.
            vector = following if following and _is_right(following, following_expected) else None
        if words != blob_check(content, context, speaker, cues):
            searched = NOTHING if sealed else rows.search_columns(memory)[0]
            content, context, speaker, cues = searched.content, searched.context, searched.speaker, searched.cues
        speaker = _decode_value(speaker)
        checks = (vector_check(vector), words_check(content, context, speaker, cues))
        connection.execute(_SEARCH, (row_id, vector, content, context, speaker, cues, *checks))
        self._decoded.without_vector += vector is None
        if memory.kind is Kind.STRUCTURED:
            mark_facets(connection, _Sealed(rows) if sealed else rows, row_id >> 32, row_id, memory)
        if not sealed:
            relate(connection, memory)

    def _put_versions(self, connection: apsw.Connection) -> None:
        done = 0
        for tenant, memory_id, version, body, checksum in self._found.versions:
            key = (_decode_value(tenant), _decode_value(memory_id))
            row_id = self._taken.get(key)
            if row_id is None:
                continue
            scope = self._scopes[row_id >> 32]
            right = body_check(scope.tenant, scope.level.value, scope.owner, bytes(body))
            text = _text(body)
            if text is not None and checksum == right:
                connection.execute(_VERSION, (*key, version, text, right))
                done += 1
            else:
                self._decoded.damaged.append(f"{key[1]} version {version}")
        self._decoded.counts["memory_version"] = done

    def _put_others(self, connection: apsw.Connection) -> None:
        for name, rows in self._found.others.items():
            before = connection.total_changes()
            for row in rows:
                if name != "document_vector" or _there(connection, row[0]):
                    connection.execute(_OTHERS[name], row)
            self._decoded.counts[name] = connection.total_changes() - before

    def _note_damage(self, values: tuple[Any, ...]) -> None:
        name = _decode_value(values[3])
        self._decoded.damaged.append(name if isinstance(name, str) and name.isprintable() else "a memory")


class _Sealed(Rows):
    """Assume every facet for a sealed memory, whose fields cannot be read here."""

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows.terms, rows.sealer)

    def facets_of(self, memory: Memory) -> frozenset[int]:
        return frozenset({0})


def _newest_first(record: Record) -> tuple[int, int]:
    return (-int(record.values[4] or 0), -int(record.values[5] or 0))


def _text(body: bytes) -> str | None:
    """Return the body, if it is JSON."""
    try:
        text = body.decode()
        load(text)
    except (ValueError, MnemicError):
        return None
    return text


def _is_right(vector: object, expected: int | None) -> bool:
    return isinstance(vector, bytes) and len(vector) > 0 and expected == blob_check(vector)


def _there(connection: apsw.Connection, row_id: int) -> bool:
    return connection.execute("SELECT 1 FROM document WHERE row_id = ?", (row_id,)).fetchone() is not None


def _broken(connection: apsw.Connection) -> int:
    tenants: Any = connection.execute("SELECT DISTINCT tenant FROM audit").fetchall()
    return sum(broken_audit(connection, tenant)[1] is not None for (tenant,) in tenants)
