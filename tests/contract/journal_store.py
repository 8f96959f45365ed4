"""The backend of CONTRIBUTING: a record store in one text file, a line of JSON for each transaction.

It needs nothing of mnemic but the port and the layer. Opening reads the file, `tidy` writes it again without what was
replaced or removed. One process at a time may open it.
"""

from __future__ import annotations

import base64
import json
import os
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from mnemic.errors import StoreCorrupt
from mnemic.ports.database_backend import Row, RowChange, RowReads, Table
from mnemic.stores.row_store_adapter import LayeredStore
from mnemic.stores.store_verbs import run_through
from mnemic.types import Deadline
from mnemic.types.store_reads import Capabilities

T = TypeVar("T")

Entry = tuple[str, Row, Row | None]
"""A table, a key, and the row that has it now; None where it was removed."""


class View:
    """Rows as of the beginning of a transaction, and `changes` on top."""

    def __init__(self, committed: dict[str, dict[Row, Row]]) -> None:
        self._committed = committed
        self.changes: dict[tuple[str, Row], Row | None] = {}

    def _rows(self, table: Table) -> dict[Row, Row]:
        rows = self._committed.get(table.name, {})
        changed = {key: row for (name, key), row in self.changes.items() if name == table.name}
        return {key: row for key, row in (rows | changed).items() if row is not None} if changed else rows

    async def get(self, table: Table, keys: Sequence[Row]) -> list[Row]:
        rows = self._rows(table)
        return [rows[key] for key in keys if key in rows]

    async def scan(
        self,
        table: Table,
        prefix: Row,
        *,
        after: str | int | None = None,
        before: str | int | None = None,
        limit: int | None = None,
        reverse: bool = False,
    ) -> list[Row]:
        rows = self._rows(table)
        keys = sorted(key for key in rows if key[: len(prefix)] == prefix)
        first = 0 if after is None else bisect_right(keys, (*prefix, after))
        last = len(keys) if before is None else bisect_left(keys, (*prefix, before))
        found = keys[first:last]
        return [rows[key] for key in (found[::-1] if reverse else found)[:limit]]

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        self.changes |= {(table.name, table.key_of(row)): row for row in rows}

    async def remove(self, table: Table, keys: Sequence[Row]) -> None:
        self.changes |= {(table.name, key): None for key in keys}


class JournalRows:
    """A `RowStore` in the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: dict[str, dict[Row, Row]] = {}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(name="journal", durable=True, shared=False)

    async def open(self) -> None:
        self._rows = {}
        self._path.touch()
        *lines, cut_off = self._path.read_bytes().split(b"\n")
        if cut_off:  # the process ended before this transaction was written
            os.truncate(self._path, self._path.stat().st_size - len(cut_off))
        for line in lines:
            try:
                self._take([(table, _plain(key), row and _plain(row)) for table, key, row in json.loads(line)])
            except ValueError as error:
                raise StoreCorrupt("journal") from error

    async def close(self) -> None:
        """Nothing is open between two transactions."""

    async def transact(self, work: Callable[[RowChange], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        view = View(self._rows)
        result = run_through(work, view)
        entries = [(table, key, row) for (table, key), row in view.changes.items()]
        if entries:
            with self._path.open("a", encoding="utf-8") as file:
                _write(file, entries)
            self._take(entries)
        return result

    async def read(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        return run_through(work, View(self._rows))

    async def tidy(self, *, whole: bool = False) -> int:
        before, fresh = self._path.stat().st_size, self._path.with_suffix(".new")
        with fresh.open("w", encoding="utf-8") as file:
            _write(file, [(name, key, row) for name, rows in self._rows.items() for key, row in rows.items()])
        fresh.replace(self._path)
        return before - self._path.stat().st_size

    def _take(self, entries: Sequence[Entry]) -> None:
        for table, key, row in entries:
            rows = self._rows.setdefault(table, {})
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row


def journal_store(path: Path) -> LayeredStore:
    """The record store in the file at `path`."""
    return LayeredStore(JournalRows(path))


def _write(file: Any, entries: Sequence[Entry]) -> None:
    file.write(json.dumps(entries, default=_spelt) + "\n")
    file.flush()
    os.fsync(file.fileno())


def _spelt(value: bytes) -> dict[str, str]:
    """Bytes as JSON."""
    return {"bytes": base64.b64encode(value).decode()}


def _plain(values: list[Any]) -> Row:
    return tuple(base64.b64decode(value["bytes"]) if isinstance(value, dict) else value for value in values)
