"""`mnemic bench` on private servers: PostgreSQL that waits for its disk, and Valkey. Arguments go to the command."""

from __future__ import annotations

import signal
import subprocess
import sys

from tests.processes import running
from tests.servers import PostgresServer
from tests.valkey import ValkeyServer


def main() -> int:
    """The command's exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the servers are stopped then, too
    with running(PostgresServer()) as database, running(ValkeyServer()) as cache:
        servers = ["--server", database.dsn(), "--sessions", cache.url]
        return subprocess.run(
            [sys.executable, "-m", "mnemic", "bench", *servers, *sys.argv[1:]], check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
