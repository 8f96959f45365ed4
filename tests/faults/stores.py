"""The record stores that a test is tried on, by name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from tests.servers import PostgresServer

NAMES = ("inprocess", "sqlite", "postgres")


def store_named(
    request: pytest.FixtureRequest, folder: Path, *, durability: Literal["durable", "fast"] = "durable"
) -> RecordStore:
    """A new store of the name that `request` has as its parameter, not yet open; `durability` is SQLite's."""
    if request.param == "inprocess":
        return InProcessStore()
    if request.param == "sqlite":
        return SqliteStore(folder / "m.db", durability=durability)
    server: PostgresServer = request.getfixturevalue("postgres")
    return PostgresStore(server.database(folder))
