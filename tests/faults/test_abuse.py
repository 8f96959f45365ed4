"""What one caller sends to wear the service out is the others' trouble as little as can be (S18).

Fifty requests made to cost much, of a stranger and of another tenant's writer, while Ana searches as she always does.
"""

from __future__ import annotations

import json
import multiprocessing
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from http.client import HTTPConnection, HTTPException
from itertools import cycle, islice
from pathlib import Path
from statistics import median, quantiles
from urllib.parse import urlsplit

import httpx
import pytest

from tests.faults.scale import FULL, size
from tests.faults.test_soak import resident
from tests.service import Served, serving

RISE = 0.1
"""How much p99 of the others may rise: a figure, which the scorecard judges and no test does."""
BLOCKS = size(20, 40)
"""Ana searches alone and beside others by turns: a machine is not as fast in one minute as in the next."""
AT_A_TIME = 5
"""Requests of others in one of these turns."""
IN_A_BLOCK = size(10, 200)
SEARCHES = BLOCKS * IN_A_BLOCK
KNOWN = 100
"""Memories that Ana searches in."""
GROWN_MB = 150
"""What fifty bodies of 2 MiB may leave behind, with the embedder's own memory for longer texts."""
MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Abuse:
    """A request that costs more than it should, and what it may be answered with."""

    name: str
    body: bytes
    path: str = "/v1/memories"
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()
    answers: frozenset[int] = frozenset({400, 401, 413, 422, 429})


def shapes(length: int) -> dict[str, bytes]:
    """Bodies of about `length` bytes that are slow to parse, or slow to refuse."""
    pieces = {
        "deep": b"[",
        "closing": b"]",
        "lists": b"[],",
        "objects": b'{"a":1},',
        "numbers": b"1,",
        "floats": b"1.5,",
        "words": b'"a",',
        "escapes": b'"\\ud83d\\ude00",',
        "quotes": b'\\"',
        "bytes": b"\xff",
    }
    return {name: b"[" + piece * (length // len(piece)) + b"1]" for name, piece in pieces.items()}


def abuses() -> Iterator[Abuse]:
    """Half of them within what a stranger may send, half beyond it; and what is well-formed and large."""
    for name, body in shapes(60 * 1024).items():
        yield Abuse(name=name, body=body)
        yield Abuse(name=f"{name} for a search", body=body, path="/v1/search")
    for name, body in shapes(2 * MIB - 100).items():
        yield Abuse(name=f"{name}, large", body=body)
    yield Abuse(name="too large", body=b" " * (3 * MIB))
    for name, query in {
        "a query of brackets": "(" * 8192,
        "a query of one letter": "a " * 4096,
        "a query of digits": "5551234567 " * 700,
        "a query of quotes": '"' * 8192,
        "a query of dates": "in March 2021 and " * 400,
        "a query too long": "a" * 40_000,
    }.items():
        answers = frozenset({200, 422, 429})
        yield Abuse(name=name, path="/v1/search", body=json.dumps({"query": query}).encode(), answers=answers)
    for name, content in {
        "digits": "4111 1111 1111 1111 ",
        "numbers to call": "my number is 555 1234 ",
        "addresses": "x@x.com ",
        "assignments": "password is x9y8z7w6 ",
        "letters of no width": "\u200b1",
        "negations": "I do not never like not ",
    }.items():
        said = json.dumps({"content": (content * 8192)[:8192], "key": "note"}).encode()
        yield Abuse(name=f"a memory of {name}", body=said, answers=frozenset({200, 201, 422, 429}))
    yield Abuse(name="a path too long", path="/v1/memories/" + "a" * 30_000, method="GET", body=b"")
    yield Abuse(name="many parameters", path="/v1/memories?" + "kinds=fact&" * 3000, method="GET", body=b"")
    yield Abuse(name="a cursor too long", path="/v1/memories?before=" + "A" * 30_000, method="GET", body=b"")
    yield Abuse(name="many headers", body=b"{}", headers=tuple((f"x-{n}", "a" * 100) for n in range(150)))
    yield Abuse(name="a long credential", body=b"{}", headers=(("authorization", "Bearer " + "a" * 20_000),))
    yield Abuse(name="an unknown key", body=b"{}", headers=(("authorization", "Bearer mnk_" + "a" * 40),))
    yield Abuse(name="a long idempotency key", body=b'{"content":"a"}', headers=(("idempotency-key", "a" * 30_000),))


ABUSES = list(abuses())
REFUSED_EARLY = frozenset({401, 404, 414, 431})
"""Of a stranger, or of anybody by the server itself: a path or a header that it does not take."""


def test_there_are_fifty() -> None:
    assert len(ABUSES) == 50


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    # No rate is what is tested: of a credential, or of the tenant that all of them share.
    with serving(
        tmp_path, MNEMIC_SERVICE_REQUESTS_PER_SECOND="2000", MNEMIC_SERVICE_TENANT_REQUESTS_PER_SECOND="20000"
    ) as running:
        yield running


def test_what_one_caller_sends_is_not_the_others_trouble(
    service: Served, say: Callable[[str], None], record_property: Callable[[str, object], None]
) -> None:
    eve = credential(service, "eve")
    costly = cycle([(number, sender) for sender in ({}, eve) for number in range(len(ABUSES))])
    alone: list[float] = []
    among: list[float] = []
    among_searches: list[float] = []
    codes: list[tuple[Abuse, int]] = []
    with caller(service, credential(service, "ana")) as ana, another_process() as others:
        remember(ana)
        searched(ana, SEARCHES // 4)
        before = resident(service.process)
        for _ in range(BLOCKS):
            alone += searched(ana, IN_A_BLOCK)
            usual = [partial(others.submit, sent_search, service.address, number, eve) for number in range(AT_A_TIME)]
            taken, answers = beside(ana, usual)
            among_searches += taken
            assert {answer.result() for answer in answers} == {200}
            chosen = list(islice(costly, AT_A_TIME))
            with half_sent(service):
                begin = [partial(others.submit, sent_abuse, service.address, *one) for one in chosen]
                taken, answers = beside(ana, begin)
            among += taken
            codes += [(ABUSES[number], answer.result()) for (number, _), answer in zip(chosen, answers, strict=True)]
        grown = resident(service.process) - before
        assert ana.get("/readyz").status_code == 200
    usually = (
        f"p50/p99 of others {told(alone)} ms alone, {told(among_searches)} ms among {len(codes)} searches of another"
    )
    say(f"{usually}, {told(among)} ms among {len(codes)} requests of a stranger and a writer; {grown:+.0f} MB")
    if FULL and p99(among) > (1 + RISE) * p99(alone):
        record_property("missed", f"p99 of others rises by {p99(among) / p99(alone) - 1:.0%}")
    assert len(codes) == BLOCKS * AT_A_TIME == size(2, 4) * len(ABUSES)
    assert [(abuse.name, code) for abuse, code in codes if code not in abuse.answers | REFUSED_EARLY] == []
    assert grown < GROWN_MB


def caller(service: Served, headers: dict[str, str]) -> httpx.Client:
    return httpx.Client(base_url=service.address, headers=headers, timeout=60)


def another_process() -> Executor:
    """Who wears the service out shares no interpreter with who measures."""
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


def credential(service: Served, user: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {service.key('reader', 'writer', user=user)}"}


def remember(client: httpx.Client) -> None:
    said = [{"content": f"Seat {number} is in coach {number % 7}.", "key": f"seat.{number}"} for number in range(KNOWN)]
    assert client.post("/v1/memories/batch", json={"memories": said}).status_code == 200


def searched(client: httpx.Client, times: int) -> list[float]:
    """What each search took, in ms; none may fail."""
    return [search(client, number) for number in range(times)]


def search(client: httpx.Client, number: int) -> float:
    asked = {"query": f"which coach is seat {number % KNOWN} in?", "top_k": 3}
    answer = client.post("/v1/search", json=asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["hits"]
    return 1000 * answer.elapsed.total_seconds()


def beside(client: httpx.Client, coming: Sequence[Callable[[], Future[int]]]) -> tuple[list[float], list[Future[int]]]:
    """What each search took while what is `coming` was begun, evenly spread among them, and its answers."""
    begun: list[Future[int]] = []
    taken = []
    for number in range(IN_A_BLOCK):
        if number % (IN_A_BLOCK // AT_A_TIME) == 0 and len(begun) < len(coming):
            begun.append(coming[len(begun)]())
        taken.append(search(client, number))
    wait(begun)
    return taken, begun


def sent_abuse(address: str, number: int, credential: dict[str, str]) -> int:
    """The status of the answer. What is sent is told by its place in `ABUSES`: a body is not handed from process to
    process while searches are timed.
    """
    abuse = ABUSES[number]
    return sent(address, abuse.method, abuse.path, abuse.body, {**credential, **dict(abuse.headers)})


def sent_search(address: str, number: int, credential: dict[str, str]) -> int:
    """The same for a search as everybody makes it."""
    body = json.dumps({"query": f"which coach is seat {number} in?", "top_k": 3}).encode()
    return sent(address, "POST", "/v1/search", body, credential)


def sent(address: str, method: str, path: str, body: bytes, headers: dict[str, str]) -> int:
    """The status of the answer; a server that closes a new connection on what it does not take has refused it. Sent
    over one connection while it lasts, with as little work as can be: the processors are the service's, too.
    """
    connection = _line(address)
    known = connection.sock is not None
    try:
        connection.request(method, path, body, {"content-type": "application/json", **headers})
        answer = connection.getresponse()
        answer.read()
        return answer.status
    except (HTTPException, OSError):
        connection.close()
        return sent(address, method, path, body, headers) if known else 413


@cache
def _line(address: str) -> HTTPConnection:
    return HTTPConnection(urlsplit(address).netloc, timeout=60)


@contextmanager
def half_sent(service: Served) -> Iterator[None]:
    """Twenty connections that begin a request and never end it."""
    address = urlsplit(service.address)
    with ExitStack() as open_ones:
        for _ in range(20):
            one = open_ones.enter_context(socket.create_connection((address.hostname, address.port)))
            one.sendall(b"POST /v1/search HTTP/1.1\r\nHost: here\r\nContent-Length: 1000\r\n\r\n{")
        yield


def told(taken: list[float]) -> str:
    return f"{median(taken):.1f}/{p99(taken):.1f}"


def p99(taken: list[float]) -> float:
    return quantiles(taken, n=100)[98]
