"""A record store in plain dictionaries: gone with the process, and simple enough to be the model of the others."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from mnemic.ports.database_backend import Row, RowChange, RowReads, Table
from mnemic.stores.row_store_adapter import LayeredStore
from mnemic.stores.store_verbs import run_through
from mnemic.types import Deadline
from mnemic.types.store_reads import Capabilities

T = TypeVar("T")


class Tables:
    """Rows by table and key, and the keys of each table in order. `undo` reverts the changes since `begin`."""

    def __init__(self) -> None:
        self._rows: defaultdict[str, dict[Row, Row]] = defaultdict(dict)
        self._order: defaultdict[str, list[Row]] = defaultdict(list)
        self.changed: list[tuple[Table, Row, Row | None]] = []
        """Table, key and the row that was there before, for each change."""

    async def get(self, table: Table, keys: Sequence[Row]) -> list[Row]:
        rows = self._rows[table.name]
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
        # Keys are tuples: a prefix sorts before every key that begins with it, so two bisections give the range.
        order, rows, width = self._order[table.name], self._rows[table.name], len(prefix)
        first = bisect_left(order, prefix) if after is None else bisect_right(order, (*prefix, after))
        if before is None:
            last = bisect_right(order, prefix, lo=first, key=lambda key: key[:width])
        else:
            last = max(first, bisect_left(order, (*prefix, before)))
        if limit is not None:
            first, last = (max(first, last - limit), last) if reverse else (first, min(last, first + limit))
        keys = order[first:last]
        return [rows[key] for key in (reversed(keys) if reverse else keys)]

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        for row in rows:
            self._set(table, table.key_of(row), row)

    async def remove(self, table: Table, keys: Sequence[Row]) -> None:
        for key in keys:
            self._set(table, key, None)

    def undo(self) -> None:
        """Take back every change since `changed` was emptied."""
        # A copy, because `_set` records what it reverts, too.
        for table, key, row in reversed(self.changed.copy()):
            self._set(table, key, row)

    def _set(self, table: Table, key: Row, row: Row | None) -> None:
        rows, order = self._rows[table.name], self._order[table.name]
        before = rows.get(key)
        self.changed.append((table, key, before))
        if row is None:
            if before is not None:
                del rows[key], order[bisect_left(order, key)]
            return
        if before is None:
            insort(order, key)
        rows[key] = row


class InProcessRows:
    """A `RowStore` in dictionaries. Its contents survive `close`, but not the process."""

    def __init__(self) -> None:
        self.tables = Tables()
        self._lock = threading.Lock()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(name="in-process", durable=False, shared=False)

    async def open(self) -> None:
        """Nothing is to be made."""

    async def close(self) -> None:
        """Nothing is to be released."""

    async def transact(self, work: Callable[[RowChange], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        with self._lock:
            try:
                return run_through(work, self.tables)
            # Also for an interrupt: half a change must not stay.
            except BaseException:
                self.tables.undo()
                raise
            finally:
                self.tables.changed.clear()

    async def read(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        with self._lock:
            return run_through(work, self.tables)

    async def tidy(self, *, whole: bool = False) -> int:
        # Removed rows are gone at once; there is nothing to compact.
        return 0


class InProcessStore(LayeredStore):
    """A `RecordStore` for tests, trials and work that may be lost."""

    def __init__(self) -> None:
        super().__init__(InProcessRows())
