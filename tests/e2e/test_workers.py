"""Several processes of the service behind one address: `mnemic serve --workers N`."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from socket import IPPROTO_TCP, create_connection, socket

import httpx
import pytest

from mnemic.errors import InvalidConfig
from mnemic_server.workers import listen, supervise
from tests.service import Served, run, serving
from tests.valkey import ValkeyServer

REPLACED = "a worker ended, another one takes its place"


@pytest.fixture
def served(tmp_path: Path, valkey: ValkeyServer) -> Iterator[Served]:
    with serving(tmp_path, "--workers", "2", MNEMIC_SESSIONS=valkey.url) as running:
        yield running


def workers(served: Served) -> set[int]:
    """The processes that answer."""
    listed = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text()
    return {int(one) for one in listed.split() if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


def ended(processes: set[int]) -> bool:
    """Wait until these processes have ended."""
    for process in processes:
        try:
            watched = os.pidfd_open(process)
        except ProcessLookupError:
            continue
        readable, _, _ = select.select([watched], [], [], 60)
        os.close(watched)
        if not readable:
            return False
    return True


def test_a_worker_sends_its_answers_at_once() -> None:
    """asyncio turns off the delay of small packets for sockets of a named protocol alone."""
    with listen("127.0.0.1", 0, backlog=1) as listening, create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.proto == IPPROTO_TCP


def test_they_are_one_service_and_a_killed_one_is_replaced(served: Served, tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {served.key('reader', 'writer')}"}
    first = workers(served)
    assert len(first) == 2

    def written(number: int) -> int:
        # A new connection each time, so that either may answer.
        body = {"content": f"Boat number {number} is blue."}
        return httpx.post(f"{served.address}/v1/memories", json=body, headers=headers, timeout=180).status_code

    assert [written(number) for number in range(4)] == [201] * 4
    gone = min(first)
    os.kill(gone, signal.SIGKILL)
    assert served.process.stderr is not None
    assert any(REPLACED in line for line in iter(served.process.stderr.readline, ""))
    assert [written(number) for number in range(4, 8)] == [201] * 4
    second = workers(served)
    assert gone not in second
    assert len(second) == 2

    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(timeout=60) == 0
    assert ended(first | second)
    listed = run(tmp_path, "list", "--user", "ana", "--json")
    assert all(f"Boat number {number} is blue." in listed.stdout for number in range(8))


def test_none_is_left_when_the_process_that_watches_them_is_killed(served: Served) -> None:
    assert httpx.get(f"{served.address}/healthz", timeout=180).status_code == 200
    left = workers(served)
    served.process.kill()
    served.process.wait(timeout=60)
    assert ended(left)


def test_what_one_process_alone_would_know_is_refused(tmp_path: Path) -> None:
    made = run(tmp_path, "serve", "--port", "0", "--workers", "2", MNEMIC_SESSIONS="memory:")
    assert made.returncode != 0
    assert "invalid_config:service_workers" in made.stderr
    assert "MNEMIC_SESSIONS" in made.stderr


def fails(_listening: socket, _ready: Callable[[], None]) -> None:
    """Work that cannot begin."""
    raise InvalidConfig("store")


def test_workers_that_cannot_start_are_not_started_again() -> None:
    with listen("127.0.0.1", 0, backlog=1) as listening, pytest.raises(InvalidConfig, match="service_workers"):
        supervise(fails, listening, count=2, drain_seconds=0)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with listen("127.0.0.1", 0, backlog=1) as taken, pytest.raises(InvalidConfig, match="service_port"):
        listen("127.0.0.1", taken.getsockname()[1], backlog=1)
