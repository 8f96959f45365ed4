"""Lower bound of every write: one row and one durable commit with the same driver and settings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import apsw

_BUSY_MS = 60_000
_TABLE = "row (number INTEGER PRIMARY KEY, content TEXT NOT NULL, vector BLOB NOT NULL) STRICT"


def bare_commits(path: Path, rows: Sequence[tuple[str, bytes]], *, durability: str = "durable") -> list[float]:
    """Return the seconds to insert and commit each of `rows` (a text, a vector) in the file at `path`. Several
    processes may do this at once.

    WAL, `BEGIN IMMEDIATE`, and an fsync per commit, or none with durability `fast`: no version, audit, outbox or index.
    """
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(_BUSY_MS)
    try:
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full" if durability == "durable" else "normal")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
        return [_commit(connection, row) for row in rows]
    finally:
        connection.close()


def _commit(connection: apsw.Connection, row: tuple[str, bytes]) -> float:
    began = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO row (content, vector) VALUES (?, ?)", row)
    connection.execute("COMMIT")
    return time.perf_counter() - began
