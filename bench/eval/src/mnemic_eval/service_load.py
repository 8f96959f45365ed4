"""Throughput of a service: `mnemic bench --service`. The service runs in a separate process; this one calls it.

Callers share the machine with the service, and wait for one answer before they ask again. `nothing` is a route without
work, `get` one with a read of the database and no embedding; `search`, `add` and `context` are the work itself. What
is measured beside them as the limit: the web framework with one empty route and nothing of ours, called in the same
way; a bare row and commit in the database, and an embedding, in this process.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO, Any

from mnemic.bootstrap import build_embedder
from mnemic.config import Settings
from mnemic.errors import StoreFailed
from mnemic.runtime.clock import SystemClock
from mnemic_client.remote import Remote
from mnemic_eval.conditions import conditions
from mnemic_eval.floors import WARM, embedding_alone
from mnemic_eval.metrics import percentiles
from mnemic_eval.outcome import SEED
from mnemic_eval.progress import Progress, silent
from mnemic_eval.temporary_store import Place, place
from mnemic_eval.texts import questions, statements

PART = 50
LONGEST = 120.0
"""Timeout of a response in seconds: a machine may be slow."""
ALONE = 100
"""Maximum number of commits and embeddings timed alone."""
_FRAMEWORK = """
import uvicorn
from fastapi import FastAPI

app = FastAPI()


@app.get("/healthz")
async def nothing() -> dict[str, str]:
    return {"status": "ok"}


uvicorn.run(app, port=0, access_log=False)
"""
_RUNNING = "running on http://"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """Extent of a load: `requests` of each kind over each number of `connections`, of a user with `rows` memories; on a
    file, or with `store`, a `postgresql://` address, in a database made there.
    """

    connections: tuple[int, ...] = (1, 8, 64)
    requests: int = 400
    rows: int = 1_000
    store: str | None = None
    seed: int = SEED

    def quick(self) -> LoadOptions:
        """Return a reduced load for a smoke test, whose figures mean little."""
        return LoadOptions(connections=(1, 4), requests=12, rows=20, store=self.store, seed=self.seed)


def run(options: LoadOptions, *, progress: Progress = silent) -> dict[str, Any]:
    """Return requests per second and latencies, by kind of request and number of connections. Raises StoreFailed."""
    with (
        TemporaryDirectory(prefix="mnemic-load-") as folder,
        place(Path(folder), options.store, "durable") as where,
    ):
        return _measure_load(options, where, progress)


def _measure_load(options: LoadOptions, where: Place, progress: Progress) -> dict[str, Any]:
    with _running([sys.executable, "-c", _FRAMEWORK]) as address:
        framework = asyncio.run(_framework_alone(options, address))
    with _serving(where.location) as (address, key):
        calls, lag = asyncio.run(_call_service(options, address, key, progress))
    return {
        "calls": calls,
        "loop_lag": lag,
        "framework_alone": framework,
        **asyncio.run(_time_floor(options, where, progress)),
        "rows": options.rows,
        "requests": options.requests,
        "store": "sqlite" if options.store is None else "postgres",
        "conditions": conditions(seed=options.seed),
    }


@contextmanager
def _serving(location: str) -> Iterator[tuple[str, str]]:
    """Yield a service on the store, and an API key for it."""
    command = [sys.executable, "-m", "mnemic", "--store", location]
    limits = {
        "MNEMIC_SERVICE_REQUESTS_PER_SECOND": "1000000",
        "MNEMIC_SERVICE_MAX_CONCURRENT_REQUESTS": "256",
        "MNEMIC_SERVICE_REQUEST_TIMEOUT_SECONDS": str(LONGEST),
    }
    made = subprocess.run(  # noqa: S603 - our own interpreter
        [
            *command,
            "apikeys",
            "create",
            "--role",
            "reader",
            "--role",
            "writer",
            "--role",
            "operator",
            "--for-user",
            "measured",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise StoreFailed("load", hint=made.stderr.strip()[:200])
    with _running([*command, "serve", "--port", "0"], **limits) as address:
        yield address, made.stdout.strip()


@contextmanager
def _running(command: list[str], **environment: str) -> Iterator[str]:
    """Yield the address of a server until the block ends. Its output is read continuously, because a full pipe would
    block it. Raises StoreFailed (`load`).
    """
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    assert process.stderr is not None
    reading = Thread(target=deque, args=(process.stderr, 0), daemon=True)
    try:
        address = _address(process.stderr)
        reading.start()
        yield address
    finally:
        process.terminate()
        process.wait()
        if reading.ident is not None:
            reading.join()
        process.stderr.close()


def _address(written: IO[str]) -> str:
    for line in written:
        if _RUNNING in line:
            return "http://" + line.partition(_RUNNING)[2].split()[0]
    raise StoreFailed("load", hint="the service did not start")


async def _call_service(
    options: LoadOptions, address: str, key: str, progress: Progress
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    remote = Remote(address, key, timeout=LONGEST, attempts=1, transport=None)
    said, asked = statements(options.seed), questions(options.seed)
    for done in range(0, options.rows, PART):
        body = {"memories": [{"content": next(said)} for _ in range(min(PART, options.rows - done))]}
        await remote.call("POST", "/v1/memories/batch", body)
        progress("filling", done + len(body["memories"]), options.rows)
    newest = (await remote.call("GET", "/v1/memories", params={"limit": 1}))["memories"][0]
    one = f"/v1/memories/{newest['memory_id']}"
    work: dict[str, Callable[[], Awaitable[Any]]] = {
        "nothing": lambda: remote.call("GET", "/healthz"),
        "get": lambda: remote.call("GET", one),
        "search": lambda: remote.call("POST", "/v1/search", {"query": next(asked)}),
        "context": lambda: remote.call("POST", "/v1/context", {"query": next(asked)}),
        "add": lambda: remote.call("POST", "/v1/memories", {"content": next(said)}),
    }
    found = []
    for name, call in work.items():
        await call()
        for connections in options.connections:
            found.append({"call": name, "connections": connections, **await _time_requests(call, connections, options)})
            progress("calling", len(found), len(work) * len(options.connections))
    lag = (await remote.call("GET", "/v1/overview"))["process"]["loop_lag"]
    await remote.close()
    return found, lag


async def _time_requests(
    call: Callable[[], Awaitable[Any]], connections: int, options: LoadOptions
) -> dict[str, float]:
    """Make `options.requests` calls by that many concurrent callers. Raises the error of the first failed call."""
    taken: list[float] = []
    left = iter(range(options.requests))

    async def caller() -> None:
        for _ in left:
            began = time.perf_counter()
            await call()
            taken.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(connections):
                group.create_task(caller())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return {"per_second": round(options.requests / (time.perf_counter() - began), 1), **percentiles(taken)}


async def _framework_alone(options: LoadOptions, address: str) -> list[dict[str, float]]:
    """Measure the answers of the framework with nothing else to do, over each number of connections."""
    remote = Remote(address, None, timeout=LONGEST, attempts=1, transport=None)

    def call() -> Awaitable[Any]:
        return remote.call("GET", "/healthz")

    await call()
    found = [{"connections": many, **await _time_requests(call, many, options)} for many in options.connections]
    await remote.close()
    return found


async def _time_floor(options: LoadOptions, where: Place, progress: Progress) -> dict[str, Any]:
    """Time an embedding in this process, and a bare commit of a row and its vector in the database."""
    embedder = build_embedder(Settings.load(), SystemClock())
    try:
        texts = list(islice(questions(options.seed), WARM + min(ALONE, options.requests)))
        embedding = await embedding_alone(embedder, texts, progress)
    finally:
        await embedder.close()
    rows = [(text, bytes(4 * embedder.space.dimension)) for text in texts]
    commits = await asyncio.to_thread(where.commits, rows)
    return {"embedding_alone": embedding, "commit_alone": percentiles([seconds * 1000 for seconds in commits[WARM:]])}


def load_table(result: dict[str, Any]) -> str:
    """Return the figures as text."""
    machine = result["conditions"]["machine"]
    head = (
        f"{result['store']}, {result['rows']:,} memories, {result['requests']} requests each; "
        f"{machine['cores']} cores for service and callers together, load {machine['load_1min']}\n"
        f"embedding alone: {result['embedding_alone']['p50_ms']} ms (p95 {result['embedding_alone']['p95_ms']})"
    )
    commit = result["commit_alone"]
    head += f"\ncommit alone: {commit['p50_ms']} ms (p95 {commit['p95_ms']})"
    lag = result["loop_lag"]
    head += f"\nevent loop late by {lag['p50_ms']} ms (p95 {lag['p95_ms']}, p99 {lag['p99_ms']}), over the whole run"
    columns = ("call", "connections", "per_second", "p50_ms", "p95_ms", "p99_ms")
    lines = ["  ".join(name.rjust(11) for name in columns)]
    rows = [{"call": "framework", **one} for one in result["framework_alone"]] + result["calls"]
    lines += ["  ".join(str(one[name]).rjust(11) for name in columns) for one in rows]
    return "\n".join([head, "", *lines])
