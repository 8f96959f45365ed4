"""Which store the frameworks' own tests run on: `MNEMIC_CONFORMANCE` is sqlite (the default) or postgres."""

from __future__ import annotations

import atexit
import os
from functools import cache

from tests.servers import PostgresServer

ON_POSTGRES = os.environ.get("MNEMIC_CONFORMANCE", "sqlite") == "postgres"


@cache
def server() -> PostgresServer:
    """A server of this process's own, until it ends. Whoever wants an empty store takes a tenant of its own."""
    server = PostgresServer("fsync=off", "max_connections=200")
    atexit.register(server.stop)
    server.start()
    return server
