"""Real graph servers for tests, each private, on a free port of the loopback, stopped by whoever started it.

Two kinds speak Bolt here: Neo4j itself, where `make neo4j` could fetch its jars and there is a Java 17, and ArcadeDB,
which comes as a Python package with a Java of its own and runs everywhere.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sysconfig
import time
from pathlib import Path
from typing import Any, LiteralString

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from mnemic.stores.neo4j import Neo4jGraph
from tests.processes import OneProcess, free_port
from tests.servers import in_thread

NEO4J_JARS = Path(os.environ.get("MNEMIC_NEO4J_JARS", Path(__file__).parents[1] / "build" / "neo4j" / "jars"))

_WAIT_SECONDS = 300.0
_PASSWORD = "only-for-tests"
_OPENS = ("java.nio", "java.io", "java.lang", "sun.nio.ch", "jdk.internal.ref")


def has_neo4j() -> bool:
    """Whether Neo4j can be started here."""
    return shutil.which("java") is not None and NEO4J_JARS.is_dir() and any(NEO4J_JARS.glob("neo4j-server-*.jar"))


class BoltServer(OneProcess):
    """A server that speaks Bolt: `start`, then `url`, and in the end `stop`. `kill` ends it as a crash would."""

    name = ""

    def __init__(self) -> None:
        super().__init__(self.name)
        self.port = free_port()

    @property
    def url(self) -> str:
        """Where it is, and as whom to come."""
        raise NotImplementedError

    def _command(self) -> list[str]:
        raise NotImplementedError

    def start(self) -> None:
        """Start the server, for the first time or again, and return once it answers a query."""
        with (self.folder / "output").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder
            )
        until = time.monotonic() + _WAIT_SECONDS
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError((self.folder / "output").read_text(errors="replace")[-2000:])
            time.sleep(0.2)

    @property
    def pid(self) -> int:
        """The server's process."""
        return self._process.pid

    def empty(self, *tenants: str) -> str:
        """The address of the server, without anything of these tenants."""

        async def clear() -> None:
            graph = Neo4jGraph(self.url, timeout=_WAIT_SECONDS)
            await graph.open()
            for tenant in tenants:
                await graph.clear(tenant)
            await graph.close()

        in_thread(clear)
        return self.url

    def texts(self) -> str:
        """Everything that is stored in nodes and relations, as one text."""
        questions = ("MATCH (n) RETURN properties(n) AS held", "MATCH ()-[r]->() RETURN properties(r) AS held")
        return "\n".join(str(row["held"]) for question in questions for row in self.rows(question))

    def rows(self, question: LiteralString) -> list[dict[str, Any]]:
        """The answer to a query, asked past mnemic."""
        with GraphDatabase.driver(
            f"bolt://127.0.0.1:{self.port}", auth=self._auth(), max_transaction_retry_time=0.1
        ) as driver:
            return [record.data() for record in driver.execute_query(question, database_=self._database()).records]

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return bool(self.rows("RETURN 1"))
        except (DriverError, Neo4jError, OSError):
            return False

    def _auth(self) -> tuple[str, str] | None:
        return None

    def _database(self) -> str | None:
        return None


class ArcadeServer(BoltServer):
    """ArcadeDB from the package `arcadedb-embedded`, which says of itself that it is compatible with Neo4j 5.26."""

    name = "arcadedb"

    @property
    def url(self) -> str:
        return f"bolt://root:{_PASSWORD}@127.0.0.1:{self.port}/mnemic"

    def _command(self) -> list[str]:
        package = Path(sysconfig.get_path("purelib")) / "arcadedb_embedded"
        settings = {
            "server.rootPath": str(self.folder),
            "server.databaseDirectory": str(self.folder / "databases"),
            "server.rootPassword": _PASSWORD,
            "server.defaultDatabases": "mnemic[root]",
            "server.plugins": "Bolt:com.arcadedb.bolt.BoltProtocolPlugin",
            "server.httpIncomingHost": "127.0.0.1",
            "server.httpIncomingPort": str(free_port()),
            "bolt.host": "127.0.0.1",
            "bolt.port": str(self.port),
        }
        options = [f"-Darcadedb.{name}={value}" for name, value in settings.items()]
        java = [str(package / "jre" / "bin" / "java"), "-Xmx384m", "-XX:TieredStopAtLevel=1", *_opened()]
        return [*java, *options, "-cp", str(package / "jars" / "*"), "com.arcadedb.server.ArcadeDBServer"]

    def _auth(self) -> tuple[str, str]:
        return "root", _PASSWORD

    def _database(self) -> str:
        return "mnemic"


class Neo4jServer(BoltServer):
    """Neo4j Community from the jars that `make neo4j` fetches, without authentication."""

    name = "neo4j"

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        (self.folder / "conf").mkdir(exist_ok=True)
        settings = {
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.listen_address": f"127.0.0.1:{self.port}",
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "dbms.security.auth_enabled": "false",
            "dbms.usage_report.enabled": "false",
            "server.memory.pagecache.size": "32m",
        }
        text = "".join(f"{name}={value}\n" for name, value in settings.items())
        (self.folder / "conf" / "neo4j.conf").write_text(text)
        java = ["java", "-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *_opened()]
        home = [f"--home-dir={self.folder}", f"--config-dir={self.folder / 'conf'}"]
        return [*java, "-cp", str(NEO4J_JARS / "*"), "org.neo4j.server.CommunityEntryPoint", *home]


def _opened() -> list[str]:
    return [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENS]


BOLT_SERVERS: tuple[type[BoltServer], ...] = (ArcadeServer, Neo4jServer) if has_neo4j() else (ArcadeServer,)
"""The servers that can be started here."""
