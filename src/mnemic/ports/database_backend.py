"""The smallest port of a database: ten verbs, out of which `mnemic.stores.row_store_adapter` makes a record store.

Cassandra, the store in memory and stores of plug-ins implement it; SQLite and PostgreSQL implement the larger port of
`mnemic.ports.record_store` in SQL. A method that every store must have belongs there and in the adapter. A package
registers its store by an entry point (see `mnemic.bootstrap.stores`).

The verbs are in three classes. Rows are stored in tables; a row is a tuple of the values of its key and its other
columns, in the order in which the `Table` names them: text, integers of 64 bits, bytes, and None outside keys. An
implementation raises only errors of `mnemic.errors`, never those of a driver.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from mnemic.types import Deadline
from mnemic.types.store_reads import Capabilities

T = TypeVar("T")

Row = tuple[Any, ...]
"""The values of a row or of a key."""


class Table(NamedTuple):
    """Table of rows: its name, the columns of its key, and its other columns."""

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def key_of(self, row: Row) -> Row:
        """Return the key of a row."""
        return row[: len(self.key)]


class RowReads(Protocol):
    """Reads of one moment; in a transaction they see the changes made before them in it."""

    async def get(self, table: Table, keys: Sequence[Row]) -> list[Row]:
        """Return the rows with these keys that are there, in any order."""

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
        """Return the rows whose key begins with `prefix`, in the order of their keys: text byte by byte, integers by
        value.

        `after` and `before`, where given, bound the last column of the key, which then is the one after `prefix`; both
        bounds are left out. With `reverse` from the end. Its cost depends on the rows that it returns, not on others.
        """


class RowChange(RowReads, Protocol):
    """One atomic change."""

    async def put(self, table: Table, rows: Sequence[Row]) -> None:
        """Write these rows in the place of those with the same keys."""

    async def remove(self, table: Table, keys: Sequence[Row]) -> None:
        """Delete the rows with these keys; absent ones are ignored."""


class RowStore(Protocol):
    """Rows in tables, changed by transactions that are serialisable: as if they ran one after the other."""

    @property
    def capabilities(self) -> Capabilities:
        """Promises of this store. Its searches are exact and it finds phrases: that is the layer's work."""

    async def open(self) -> None:
        """Open the database and create missing tables. Raises StoreNewer, StoreCorrupt, StoreUnavailable."""

    async def close(self) -> None:
        """Release everything. May be called twice."""

    async def transact(self, work: Callable[[RowChange], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        """Run `work` in one transaction and commit it; the result is returned only once the commit is durable.

        `work` may run again from the start after a lost race; it may await only the transaction, and other awaits are
        refused (`mnemic.stores.store_verbs`, `mnemic.stores.store_verbs`). If it raises, nothing is
        committed. Raises StoreBusy past the deadline, StoreFull, CommitUnknown.
        """

    async def read(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        """Run `work` on the rows as of one moment; it sees no later commit. It may await only the reads."""

    async def tidy(self, *, whole: bool = False) -> int:
        """Free unused space and leave nothing readable of removed data; return the number of bytes freed. `whole`
        rewrites everything.
        """
