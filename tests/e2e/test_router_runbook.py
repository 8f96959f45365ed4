"""The runbook of docs/postgres-router.md for adding a server: its very commands, on three real servers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent
from urllib.parse import quote

import pytest

from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from tests.processes import running
from tests.router_double import ANNOUNCEMENT, RouterDouble
from tests.servers import PostgresServer

PAGE = Path(__file__).parents[2] / "docs" / "postgres-router.md"
BLOCK = re.compile(r" +```console\n(.*?)\n +```", re.DOTALL)
NAMED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LOGIN = ("CREATE DATABASE memories", "CREATE ROLE memories LOGIN")


class Installation:
    """Three servers, of which the router has `known` two until it is told of the third."""

    def __init__(self, servers: list[PostgresServer], known: list[Path], router: RouterDouble) -> None:
        self.servers, self.known, self.router = servers, known, router

    def location(self, count: int) -> str:
        """Return the address of a store that names so many of the servers."""
        named = "".join(f"&server={quote(server.dsn('memories'), safe='')}" for server in self.servers[:count])
        return f"{self.router.dsn('memories', 'memories')}&router={quote(ANNOUNCEMENT, safe='')}{named}"

    def run(self, command: str, named: int, folder: Path) -> tuple[int, str]:
        """Return the exit code of a command and what it prints, as the page would show it."""
        tools = f"{self.servers[0]._bin}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        given = {"PATH": tools, "MNEMIC_STORE": self.location(named), "MNEMIC_USER": "ana"}
        ran = subprocess.run(
            command.replace("-h pg3", f"-h {self.servers[2].folder}"),
            shell=True,
            env=os.environ | given,
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=120,
            check=False,
        )
        # The servers of tests do not wait for their disks, and mnemic says so.
        return ran.returncode, shown(ran.stdout + ran.stderr).replace("  (not durable)", "")


def shown(text: str) -> str:
    """Return a text with the same identifier for all that are made anew."""
    return NAMED.sub("ID", text)


@pytest.fixture
def installation() -> Iterator[Installation]:
    with ExitStack() as stack:
        servers = [stack.enter_context(running(PostgresServer("fsync=off"))) for _ in range(3)]
        known = [server.folder for server in servers[:2]]
        router = RouterDouble(known)
        router.homes |= {"default": 0, "acme": 0, SERVICE_TENANT: 0, "rival": 1, "third": 2}
        stack.enter_context(running(router))
        yield Installation(servers, known, router)


def test_a_server_is_added_by_the_commands_of_the_page(installation: Installation, tmp_path: Path) -> None:
    for server in installation.servers[:2]:
        server.sql(LOGIN[0])
        server.sql(LOGIN[1])
    code, told = installation.run("mnemic --tenant acme add 'Ana drinks tea.'", 2, tmp_path)
    assert (code, "GRANT mnemic_app" in told) == (3, True), told
    for server in installation.servers[:2]:
        server.sql("GRANT mnemic_app TO memories")
    for tenant in ("acme", "rival"):
        assert installation.run(f"mnemic --tenant {tenant} add 'Ana drinks tea.'", 2, tmp_path)[0] == 0

    blocks = [dedent(block) for block in BLOCK.findall(PAGE.read_text())]
    assert len(blocks) == 3
    for number, block in enumerate(blocks, 1):
        if number == 3:
            installation.known.append(installation.servers[2].folder)
        for command, *lines in (part.splitlines() for part in re.split(r"(?m)^\$ ", block) if part.strip()):
            code, told = installation.run(command, 3, tmp_path)
            assert code == 0, told
            printed = iter(told.splitlines())
            for line in lines:
                assert line == "..." or shown(line) in printed, (line, told)
            assert "..." in lines or next(printed, None) is None, told
    for tenant in ("acme", "rival"):
        assert "tea" in installation.run(f"mnemic --tenant {tenant} search tea", 3, tmp_path)[1]
    # A process that does not name the new server works with its tenants.
    assert installation.run("mnemic --tenant third add 'Cem plays go, too.'", 2, tmp_path)[0] == 0
    assert installation.router.refused == []
