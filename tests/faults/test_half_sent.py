"""Strangers who never finish what they send are nobody else's trouble (S28)."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.synchronize import Event
from pathlib import Path
from statistics import quantiles
from urllib.parse import urlsplit

import httpx
import pytest

from tests.faults.scale import FULL, size
from tests.service import Served, serving

AT_ONCE = 16
STRANGERS = size(10 * AT_ONCE, 640)
SEARCHES = size(60, 1000)
SECONDS = size(0, 180)
"""For each kind."""
PAUSE = 0.025 if FULL else 0.0
"""Seconds between two searches: for minutes on end a rightful caller stays below the 50 requests a second of a key."""
PIECES = {
    "bodies": b"POST /v1/search HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\n{",
    "known bodies": b"POST /v1/search HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer %b\r\n"
    b"Content-Length: 900\r\n\r\n{",
    "heads": b"POST /v1/search HTTP/1.1\r\nHost: here\r\nX-a: ",
    "connections": b"",
}
TWICE = 2.0
"""What p99 of a rightful caller may be of that of a quiet service: a figure, which the scorecard judges."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with serving(tmp_path, MNEMIC_SERVICE_MAX_CONCURRENT_REQUESTS=str(AT_ONCE if not FULL else 64)) as running:
        yield running


@contextmanager
def holding(service: Served, piece: bytes) -> Iterator[None]:
    """Hold `STRANGERS` connections that have sent `piece`; replace each one that the service closes. A process apart
    holds them, so that the caller who is timed shares no interpreter lock with the strangers.
    """
    address, apart = urlsplit(service.address), get_context("spawn")
    held, over = apart.Event(), apart.Event()
    there = (str(address.hostname), int(address.port or 0))
    strangers = apart.Process(target=hold, args=(there, piece, held, over), daemon=True)
    strangers.start()
    try:
        assert held.wait(60)
        yield
    finally:
        over.set()
        strangers.join()
    assert strangers.exitcode == 0


def hold(there: tuple[str, int], piece: bytes, held: Event, over: Event) -> None:
    """Connect `STRANGERS` times, set `held`, and connect again for each closed connection until `over` is set."""
    with selectors.DefaultSelector() as ours:
        for _ in range(STRANGERS):
            ours.register(begun(there, piece), selectors.EVENT_READ)
        held.set()
        while not over.is_set():
            for key, _ in ours.select(timeout=0.05):
                one = key.fileobj
                assert isinstance(one, socket.socket)
                if closed(one):
                    ours.unregister(one)
                    one.close()
                    ours.register(begun(there, piece), selectors.EVENT_READ)
        for key in list(ours.get_map().values()):
            ours.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]


def begun(there: tuple[str, int], piece: bytes) -> socket.socket:
    """A connection on which a request has begun."""
    one = socket.create_connection(there, timeout=60)
    with suppress(OSError):
        one.sendall(piece)
    one.setblocking(False)
    return one


def closed(one: socket.socket) -> bool:
    """Whether the service has answered or closed it."""
    try:
        one.recv(4096)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


@pytest.mark.faults
@pytest.mark.parametrize("kind", PIECES)
def test_a_rightful_caller_is_answered_while_strangers_hold_what_they_can(
    service: Served, kind: str, say: Callable[[str], None], record_property: Callable[[str, object], None]
) -> None:
    ana, eve = service.key("reader", "writer"), service.key("reader", user="eve")
    piece = PIECES[kind] % eve.encode() if b"%b" in PIECES[kind] else PIECES[kind]
    with httpx.Client(base_url=service.address, headers={"Authorization": f"Bearer {ana}"}, timeout=30) as client:
        assert client.post("/v1/memories", json={"content": "The seat is by the aisle."}).status_code == 201
        quiet = [searched(client) for _ in range(SEARCHES)]
        with holding(service, piece):
            until = time.monotonic() + SECONDS
            held = [searched(client) for _ in range(SEARCHES)]
            while time.monotonic() < until:
                held.append(searched(client))
    alone, beside = p99(quiet), p99(held)
    say(f"{kind} by {STRANGERS}: {len(held)} of {len(held)} searches answered, p99 {alone:.1f} -> {beside:.1f} ms")
    if FULL and beside > TWICE * alone:
        record_property("missed", f"p99 of a rightful caller is {beside / alone:.1f} times that of a quiet service")


def searched(client: httpx.Client) -> float:
    """Search once, after a pause, and return the milliseconds that the answer took; none may fail."""
    threading.Event().wait(PAUSE)
    answer = client.post("/v1/search", json={"query": "where is the seat?"})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["hits"]) == 1
    return 1000 * answer.elapsed.total_seconds()


def p99(taken: list[float]) -> float:
    return quantiles(taken, n=100)[98]
