"""The graph in the same SQLite file as the memories it is made of (`mnemic.stores.relational.graph`)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import apsw

from mnemic.stores.relational import graph
from mnemic.stores.relational.statements import Ask, load
from mnemic.stores.sqlite.database_file import BUSY_SECONDS, BusyHandler, connect, immediate, prepare, typed_failures
from mnemic.stores.sqlite.rows import asking
from mnemic.stores.sqlite.threads import Readers, Threads
from mnemic.stores.store_verbs import run_through
from mnemic.types import Memory

T = TypeVar("T")

_GRAPH = load("graph", "sqlite")


class _Opened:
    """An open file: one connection and thread that write, a few that read."""

    def __init__(self, path: Path, readers: int) -> None:
        with typed_failures():
            self.busy = BusyHandler()
            self.writing = prepare(path, durability="fast", busy=self.busy)
            self.readers = Readers(lambda: connect(path, durability="fast"), threads=readers)
        self.writer = Threads("mnemic-graph")

    def close(self) -> None:
        """Finish the running work, then release the file."""
        self.writer.close()
        self.readers.close()
        self.writing.close()


class SqliteGraph(graph.RelationalGraph[_Opened]):
    """A `GraphStore` in the file at `path`, which a `SqliteStore` and other processes may have open as well.

    `readers` of its calls read at once, one writes. The folder of `path` must exist.
    """

    def __init__(self, path: str | Path, *, readers: int = 2) -> None:
        super().__init__()
        self._path = Path(path).absolute()
        self._reader_count = readers

    async def _open_database(self) -> _Opened:
        return await asyncio.to_thread(_Opened, self._path, self._reader_count)

    async def _close_database(self, opened: _Opened) -> None:
        await asyncio.to_thread(opened.close)

    async def _read(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        def run(connection: apsw.Connection) -> T:
            with typed_failures():
                return run_through(work, asking(connection, _GRAPH))

        return await (await self._ready()).readers.run(run)

    async def _write(self, tenant: str, work: Callable[[Ask], Awaitable[None]]) -> None:
        opened = await self._ready()

        def run() -> None:
            opened.busy.wait(BUSY_SECONDS)
            with typed_failures(), immediate(opened.writing):
                run_through(work, asking(opened.writing, _GRAPH))

        await opened.writer.run(run)


def relate(connection: apsw.Connection, memory: Memory) -> None:
    """Replace the graph of `memory` by its current content, in the transaction that writes the memory."""
    run_through(lambda ask: graph.relate(ask, memory, known=True), asking(connection, _GRAPH))
