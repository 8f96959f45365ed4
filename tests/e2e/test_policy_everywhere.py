"""One policy on every way in: what an operator put in force over REST holds on the command line and over stdio too."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.service import Served, serving

SEATS_ONLY = {"keys": {"seat": {"allowed_values": ["aisle", "window"]}}}
CALLS = 20_000
"""Far more than are made in the two seconds that a process may go by what it has read."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("served")) as running:
        yield running


class Desk:
    """An operator of the tenant, over REST."""

    def __init__(self, served: Served) -> None:
        self._to = {"headers": {"Authorization": f"Bearer {served.key('operator')}"}, "timeout": 60}
        self._at = f"{served.address}/v1/policy"

    def put(self, policy: dict[str, Any]) -> None:
        assert httpx.put(self._at, json={"policy": policy}, **self._to).status_code == 200

    def back(self) -> None:
        assert httpx.post(f"{self._at}/rollback", json={"version": 0}, **self._to).status_code == 200


@pytest.fixture
def desk(served: Served) -> Iterator[Desk]:
    desk = Desk(served)
    yield desk
    desk.back()


def test_a_command_goes_by_what_is_in_force_and_by_its_settings_where_nothing_is(served: Served, desk: Desk) -> None:
    desk.put(SEATS_ONLY)
    refused = served.run("add", "Bonn", "--key", "home_city", "--user", "ana")
    assert (refused.returncode, refused.stderr.strip()) == (1, "mnemic: memory_key_not_allowed_policy:home_city")
    other = served.run("add", "Bonn", "--key", "home_city", "--user", "ana", "--tenant", "other")
    assert other.returncode == 0, other.stderr
    desk.back()
    again = served.run("add", "Bonn", "--key", "home_city", "--user", "ana")
    assert (again.returncode, again.stderr) == (0, "")


def test_a_policy_that_is_named_on_the_line_gives_way_and_it_is_said(served: Served, desk: Desk) -> None:
    file = served.store.parent / "open.toml"
    file.write_text("open_keys = true\n[keys.seat]\nttl_days = 30\n", encoding="utf-8")
    desk.put(SEATS_ONLY)
    told = served.run("add", "Bonn", "--key", "home_town", "--user", "ben", "--policy", str(file))
    assert told.returncode == 1
    assert "is in force for default: --policy is ignored" in told.stderr


def over_stdio(served: Served) -> AbstractAsyncContextManager[Client]:
    known = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    words = ["-m", "mnemic", "--store", str(served.store), "--user", "cleo", "mcp"]
    return Client(stdio_client(StdioServerParameters(command=sys.executable, args=words, env=known)))


async def test_a_server_on_standard_input_takes_a_change_up_while_it_runs(served: Served, desk: Desk) -> None:
    desk.put({"keys": {"seat": {}}, "keyless": False})
    async with over_stdio(served) as client:

        async def kept(number: int) -> dict[str, Any]:
            answer = await client.call_tool("add_memory", {"content": f"My locker is number {number}."})
            assert isinstance(answer.structured_content, dict)
            return answer.structured_content

        assert not (await kept(0))["stored"]
        desk.back()
        assert await reached(kept, stored=True)
        desk.put({"keys": {"seat": {}}, "keyless": False})
        assert await reached(kept, stored=False)


async def reached(kept: Any, *, stored: bool) -> bool:
    """Whether a memory is kept, or refused, before long."""
    for number in range(CALLS):
        if (await kept(number))["stored"] is stored:
            return True
    return False
