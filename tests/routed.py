"""PostgreSQL servers behind a router, for tests: three behind the double, or those that MNEMIC_TEST_ROUTER names."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mnemic.bootstrap.copies_and_replicas import plain, routed
from mnemic.stores.postgres import PostgresStore
from tests.processes import running
from tests.router_double import ANNOUNCEMENT, RouterDouble
from tests.servers import WITHOUT_ROWS, PostgresServer, sql_at

DATABASE = "memories"
SERVERS = 3
_MADE = "SELECT to_regclass('mnemic.space') IS NOT NULL"
_UNCLAIMED = (
    "DROP INDEX IF EXISTS mnemic.memory_by_vector, mnemic.memory_by_next_vector, mnemic.memory_unfilled",
    "ALTER TABLE mnemic.memory ALTER COLUMN vector TYPE vector",
    "DELETE FROM mnemic.space",
)
"""Back to a database in which no vector space was ever claimed."""
_SETTINGS = ("fsync=off", "max_connections=200", "wal_level=logical")


class RoutedServers:
    """`start`, then `store` or `location` for the database that belongs to a folder, in the end `stop`.

    The servers number the vector type differently, as servers do that were not made alike. There is one database at a
    time, which belongs to whoever asked last.
    """

    def __init__(self) -> None:
        self.servers = [PostgresServer(*_SETTINGS) for _ in range(SERVERS)]
        self.router = RouterDouble([server.folder for server in self.servers])
        self._stack = ExitStack()
        self._current: Path | None = None

    def start(self) -> None:
        """Start the servers and the router before them."""
        for number, server in enumerate(self.servers):
            self._stack.enter_context(running(server))
            for table in range(number):
                server.sql(f"CREATE TABLE earlier_{table} ()", database="template1")
        self._stack.enter_context(running(self.router))

    def stop(self) -> None:
        """Stop everything that was started."""
        self._stack.close()

    def database(self, folder: Path) -> str:
        """The name of the database of `folder` on every server; whoever asks for another folder finds it empty."""
        if folder != self._current:
            self.router.homes.clear()
            self.router.refused.clear()
            for number, dsn in enumerate(self.dsns()):
                if self._current is None and self.servers:
                    self.servers[number].sql(f"CREATE DATABASE {DATABASE} TEMPLATE template1")
                elif sql_at(dsn, _MADE) == [(True,)]:
                    sql_at(dsn, "SET session_replication_role = replica", WITHOUT_ROWS, *_UNCLAIMED)
            self._current = folder
        return DATABASE

    def store(self, folder: Path, **options: Any) -> PostgresStore:
        """A store in the database of `folder`."""
        name = self.database(folder)
        return PostgresStore(self.router.dsn(name), router=ANNOUNCEMENT, servers=self.dsns(), **options)

    def dsns(self) -> list[str]:
        """The servers' own addresses of the present database."""
        return [server.dsn(DATABASE) for server in self.servers]

    def location(self, folder: Path) -> str:
        """The same as an address."""
        name = self.database(folder)
        named = "".join(f"&server={quote(dsn, safe='')}" for dsn in self.dsns())
        return f"{self.router.dsn(name)}&router={quote(ANNOUNCEMENT, safe='')}{named}"

    def sql(self, number: int, *statements: str) -> list[Any]:
        """Run statements on one server, in the present database, as the superuser."""
        return sql_at(self.dsns()[number], *statements)


class GivenRouter(RoutedServers):
    """A real router with its servers, as the address of a store names them. What they hold is deleted."""

    def __init__(self, location: str) -> None:
        self.servers = []
        self.router = _Unwatched()
        self._given = plain(location), routed(location)
        self._current: Path | None = None

    def start(self) -> None:
        """They run already."""

    def stop(self) -> None:
        """They go on."""

    def dsns(self) -> list[str]:
        return list(self._given[1]["servers"])

    def store(self, folder: Path, **options: Any) -> PostgresStore:
        self.database(folder)
        address, given = self._given
        return PostgresStore(address, **given, **options)


class _Unwatched(RouterDouble):
    """Stands where the double would: nobody sees what a real router is asked."""

    def __init__(self) -> None:
        self.homes = {}
        self.refused = []


def behind_a_router() -> RoutedServers:
    """The servers that MNEMIC_TEST_ROUTER names, else three behind the double."""
    location = os.environ.get("MNEMIC_TEST_ROUTER")
    return RoutedServers() if location is None else GivenRouter(location)
