"""Nothing blocks the event loop: while the service answers, its loop's thread opens no file, no socket, and sleeps not.

CPython's audit events tell of every such call, whoever makes it. Each route is called once before, so that what is
loaded at first use is loaded.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Role
from mnemic_server.loop_lag import watched_loop

BLOCKING = (
    "open", "time.sleep", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.listdir", "os.scandir",
    "os.rename", "os.remove", "shutil.", "glob.glob", "tempfile.", "urllib.",
)  # fmt: skip
STEPS = [{"action": "call", "result": "nobody", "ok": False}]
_watched: dict[int, list[str]] = {}
_hooked: list[bool] = []


@contextmanager
def watching() -> Iterator[list[str]]:
    """The blocking calls that this thread makes inside."""
    if not _hooked:  # a hook stays for as long as the process does
        _hooked.append(True)
        sys.addaudithook(_told)
    seen = _watched[threading.get_ident()] = []
    try:
        yield seen
    finally:
        del _watched[threading.get_ident()]


def _told(event: str, _: Any) -> None:
    seen = _watched.get(threading.get_ident())
    if seen is not None and event.startswith(BLOCKING):
        seen.append(event)


def calls(number: int) -> list[tuple[str, str, Any]]:
    """One call of each kind; what is written differs by `number`."""
    return [
        ("POST", "/v1/memories", {"content": f"I have {number} boats.", "key": "boats"}),
        ("POST", "/v1/memories/batch", {"memories": [{"content": f"The boat number {number} is green."}]}),
        ("POST", "/v1/capture", {"content": "I live in Oslo and I love kayaking."}),
        ("POST", "/v1/messages", {"messages": [{"content": f"See you at {number}!"}]}),
        ("POST", "/v1/search", {"query": "how many boats?"}),
        ("POST", "/v1/context", {"query": "how many boats?"}),
        ("POST", "/v1/runs", {"goal": "Plan a trip by boat"}),
        ("POST", "/v1/episodes", {"task": f"Rent boat {number}", "steps": STEPS, "outcome": "failure"}),
        ("POST", "/v1/entities/relations", {"source": "me", "relation": "friend", "target": f"Robert{number}"}),
        ("POST", f"/v1/imports/boats{number}", {"at": 0, "memories": [{"content": "Boats float."}]}),
        *(
            ("GET", path, None)
            for path in (
                "/v1/memories", "/v1/episodes", "/v1/entities", "/v1/entities/neighbours", "/v1/entities/graph",
                "/v1/reviews", "/v1/audit",
                "/v1/export", "/v1/runs", "/v1/overview", "/v1/quotas", "/v1/kinds", "/v1/consents", "/metrics",
                "/readyz",
            )
        ),
    ]  # fmt: skip


@pytest.mark.faults
async def test_no_route_blocks_the_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), graph=SqliteGraph(path))
    transport = httpx.ASGITransport(app=create_app(engine, per_second=1e9, burst=10**9))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://s") as client:
        _, text = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=list(Role), user="ana")
        headers = {"Authorization": f"Bearer {text}"}
        found: dict[str, list[str]] = {}
        for number in (1, 2):
            for method, url, body in calls(number):
                with watching() as seen:
                    answer = await client.request(method, url, json=body, headers=headers)
                assert answer.status_code < 300, (url, answer.text)
                if number == 2 and seen:
                    found[url] = seen
        assert found == {}


def test_the_detector_sees_what_blocks(tmp_path: Path) -> None:
    with watching() as seen:
        (tmp_path / "file").write_text("x", encoding="utf-8")
    assert seen == ["open"]


async def test_a_loop_that_was_held_up_is_told_late() -> None:
    late: list[float] = []
    async with watched_loop(late.append, every=0.0):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await asyncio.Event().wait()
    assert late
    assert min(late) >= 0
