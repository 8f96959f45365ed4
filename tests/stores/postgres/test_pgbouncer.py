"""A store behind PgBouncer, the real one: it pools by session, and passes on no settings of a start that it does not
know.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Where
from tests.processes import OneProcess, free_port, running
from tests.servers import PostgresServer

FETCHED = Path(__file__).parents[3] / "build" / "pgbouncer"
"""The folder into which `make pgbouncer` unpacks one."""

SETTINGS = """[databases]
postgres = host={server} dbname=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users
pool_mode = session
default_pool_size = 4
"""


class PgBouncer(OneProcess):
    """Pooler in front of a server, which everybody may use as `an_app`."""

    def __init__(self, program: str, dsn: str) -> None:
        super().__init__("pgbouncer")
        self._program, self.port = program, free_port()
        (self.folder / "users").write_text('"an_app" ""\n')
        server = parse_qs(urlsplit(dsn).query)["host"][0]
        (self.folder / "settings").write_text(SETTINGS.format(server=server, port=self.port, folder=self.folder))
        for path in (self.folder, *self.folder.iterdir()):
            path.chmod(0o755)  # it refuses to run as root

    def start(self) -> None:
        """Start it; a client tries until it answers."""
        command = [self._program, *(("-u", "nobody") if os.geteuid() == 0 else ()), str(self.folder / "settings")]
        libraries = ":".join(str(path) for path in FETCHED.glob("usr/lib/*"))
        with (self.folder / "output").open("wb") as out:
            self._process = subprocess.Popen(
                command, stdout=out, stderr=out, env={**os.environ, "LD_LIBRARY_PATH": libraries}
            )


@pytest.fixture
def pooled(postgres: PostgresServer, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Yield the owner's address of an empty database, and that of an application behind the pooler."""
    program = shutil.which("pgbouncer") or str(FETCHED / "usr" / "sbin" / "pgbouncer")
    if not Path(program).exists():
        pytest.skip("it needs pgbouncer, or what `make pgbouncer` fetches")
    dsn = postgres.database(tmp_path)
    with running(PgBouncer(program, dsn)) as pooler:
        yield dsn, f"postgresql://an_app@127.0.0.1:{pooler.port}/postgres"
    postgres.sql("DROP OWNED BY an_app", "DROP ROLE an_app")


async def test_many_processes_share_the_connections_of_a_pooler_and_each_sees_its_tenant_alone(
    postgres: PostgresServer, pooled: tuple[str, str]
) -> None:
    owner_dsn, dsn = pooled
    owner = PostgresStore(owner_dsn)
    await owner.open(EMBEDDER.space)
    await owner.close()
    postgres.sql("CREATE ROLE an_app LOGIN IN ROLE mnemic_app")
    for number in range(3):  # one after the other: each gets the connections that the one before has left
        store = PostgresStore(dsn, owner_dsn=owner_dsn, pool_size=2)
        await store.open(EMBEDDER.space)
        await asyncio.gather(
            *(remember(store, memory(f"tea {number}", scope=scope(tenant=name))) for name in ("acme", "rival"))
        )
        for name in ("acme", "rival"):
            assert await store.count(Where(scopes=(scope(tenant=name),))) == number + 1
        await store.close()
    found = postgres.sql("SELECT DISTINCT usename FROM pg_stat_activity WHERE usename = 'an_app'")
    assert len(found) == 1, "the connections are the pooler's"
