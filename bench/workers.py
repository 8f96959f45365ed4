"""Scaling of `mnemic serve --workers N`: `python -m bench.workers`, or `make bench-workers BENCH_ARGS="..."`.

A service on a file, with a private Valkey, answers requests of several users from one light caller, who keeps
`--connections` open and writes ready-made bytes, so that nearly all of the machine is left to the workers. For each
number of workers and sort of request: answers a second of the clock, and the processor time of all workers an answer.
With as many free processors as workers the first grows in step; the second says how much is lost to sharing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import httpx

from mnemic_eval.conditions import conditions, load
from mnemic_eval.texts import questions, statements
from tests.processes import running
from tests.service import Served, serving
from tests.valkey import ValkeyServer

SEED = 20240229
LIMITS = {
    "MNEMIC_SERVICE_REQUESTS_PER_SECOND": "1000000",
    "MNEMIC_SERVICE_TENANT_REQUESTS_PER_SECOND": "1000000",
    "MNEMIC_SERVICE_MAX_CONCURRENT_REQUESTS": "256",
    "MNEMIC_SERVICE_REQUEST_TIMEOUT_SECONDS": "120",
}
_TICKS = os.sysconf("SC_CLK_TCK")


def workers_of(served: Served) -> list[int]:
    """Return the processes that answer: those that the service has started, or the service itself."""
    found = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text().split()
    return [*map(int, found)] or [served.process.pid]


def spent(processes: Sequence[int]) -> float:
    """Return the processor time of these processes so far, in seconds."""
    fields = [Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split() for process in processes]
    return sum(int(one[11]) + int(one[12]) for one in fields) / _TICKS


def request(method: str, path: str, key: str, body: object = None) -> bytes:
    """Return a request as bytes."""
    sent = b"" if body is None else json.dumps(body).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n".encode() + sent


async def asked(address: str, sent: Sequence[bytes], connections: int) -> float:
    """Return the seconds in which all requests are answered over so many connections. Raises ValueError for an answer
    that is no success.
    """
    where = urlsplit(address)
    left = iter(sent)

    async def caller() -> None:
        reader, writer = await asyncio.open_connection(where.hostname, where.port)
        for one in left:
            writer.write(one)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 201")):
                raise ValueError(head.decode(errors="replace")[:200])
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            await reader.readexactly(int(fields[b"content-length"]))
        writer.close()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(caller())
    return time.perf_counter() - began


@contextmanager
def filled(
    folder: Path, workers: int, cache: str, rows: int, users: int
) -> Iterator[tuple[Served, list[str], list[str]]]:
    """Yield a service with `rows` memories of each user, their keys, and a memory of each."""
    with serving(folder, "--workers", str(workers), MNEMIC_SESSIONS=cache, **LIMITS) as served:
        keys = [served.key("reader", "writer", user=f"u{number}") for number in range(users)]
        said, ones = list(islice(statements(SEED), rows)), []
        for key in keys:
            headers = {"Authorization": f"Bearer {key}"}
            for first in range(0, rows, 50):
                body = {"memories": [{"content": text} for text in said[first : first + 50]]}
                path = f"{served.address}/v1/memories/batch"
                httpx.post(path, json=body, headers=headers, timeout=120).raise_for_status()
            newest = httpx.get(f"{served.address}/v1/memories", params={"limit": 1}, headers=headers, timeout=120)
            ones.append(newest.json()["memories"][0]["memory_id"])
        yield served, keys, ones


def measured(given: argparse.Namespace, workers: int, cache: str) -> list[dict[str, object]]:
    """Return the figures of a service with so many workers, by sort of request."""
    found: list[dict[str, object]] = []
    with (
        TemporaryDirectory(prefix="mnemic-workers-") as folder,
        filled(Path(folder), workers, cache, given.rows, given.users) as (served, keys, ones),
    ):
        texts, more = questions(SEED), islice(statements(SEED), given.rows, None)
        sorts = {
            "get": lambda key, one: request("GET", f"/v1/memories/{one}", key),
            "search": lambda key, one: request("POST", "/v1/search", key, {"query": next(texts)}),
            "add": lambda key, one: request("POST", "/v1/memories", key, {"content": next(more)}),
        }
        for sort, made in sorts.items():
            of_users = cycle(zip(keys, ones, strict=True))
            count = given.requests * (5 if sort == "get" else 1)
            sent = [made(*next(of_users)) for _ in range(count + 4 * given.connections)]
            warm = sent[: 4 * given.connections]
            asyncio.run(asked(served.address, warm, given.connections))
            processes = workers_of(served)
            before = spent(processes)
            seconds = asyncio.run(asked(served.address, sent[len(warm) :], given.connections))
            cpu = 1000 * (spent(processes) - before) / count
            found.append({"workers": workers, "sort": sort, "per_s": count / seconds, "cpu_ms": cpu})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="1,2", help="numbers of workers, by commas (1,2)")
    parser.add_argument("--requests", type=int, default=400, help="searches and adds of each number (400)")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--rows", type=int, default=500, help="memories of each user (500)")
    parser.add_argument("--users", type=int, default=4)
    given = parser.parse_args()
    print(f"{conditions(seed=SEED, rows=given.rows)['measured_at']}, load {load()}, {os.cpu_count()} processors\n")
    print("| workers | sort | answers a second | CPU of all workers an answer, ms |\n|---|---|---|---|")
    with running(ValkeyServer()) as cache:
        for workers in map(int, given.workers.split(",")):
            for one in measured(given, workers, cache.url):
                print(f"| {workers} | {one['sort']} | {one['per_s']:.1f} | {one['cpu_ms']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
