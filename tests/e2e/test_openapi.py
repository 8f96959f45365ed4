"""The service against its own description: whatever a caller sends, no 5xx and nothing that is not described.

Schemathesis makes the calls from `/openapi.json`, good ones and bad ones. 50,000 of them at full size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import CHECKS

from mnemic.engine import MemoryEngine
from mnemic.graph.projection import GraphProjection
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.runtime.clock import SystemClock
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Role
from mnemic_server.openapi_descriptions import describe
from mnemic_server.streams import Streams
from tests.faults.scale import size

CASES = size(400, 50_000)
"""Calls in all, shared by the operations."""
CHECKED = ("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance")


def describe_no_more(described: dict[str, Any]) -> None:
    """Describe the service, and say that its answers have no other fields than those: a caller may meet others, but
    one that the description lacks was forgotten.
    """
    describe(described)
    for name, shape in described["components"]["schemas"].items():
        if name.endswith("Response") and "properties" in shape:
            shape.setdefault("additionalProperties", False)


def test_no_call_breaks_the_service_or_its_description(
    record_property: Callable[[str, object], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic_server.app.describe", describe_no_more)
    graph, streams = InProcessGraph(), Streams()
    streams.stopping.set()  # a stream tells what there is, and ends
    MasterKeys.make(tmp_path / "master.key")
    engine = MemoryEngine(
        store=InProcessStore(),
        embedder=WordEmbedder(),
        graph=graph,
        projections=[GraphProjection(graph)],
        keyring=KeyFolder(tmp_path / "keys", tmp_path / "master.key"),
        sessions=InProcessSessions(SystemClock()),
    )
    app = create_app(engine, per_second=1e9, burst=10**9, streams=streams)
    text = asyncio.run(_key(engine))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    made = 0
    # Last to first: what one cannot use, as there are only so many ways to call it, is left to those before it.
    for left in range(len(operations), 0, -1):
        made += _try(operations[left - 1], text, -(-(CASES - made) // left))
    record_property("said", f"{made} calls of {len(operations)} operations")
    assert made >= 0.9 * CASES


async def _key(engine: MemoryEngine) -> str:
    """A key with every role; the application opens the engine again."""
    async with engine:
        return (await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=list(Role), user="ana"))[1]


def _try(operation: Any, key: str, calls: int) -> int:
    """Make `calls` calls of one operation and check every answer; how many were made."""
    made = 0

    @settings(
        max_examples=calls,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def call(case: Any) -> None:
        nonlocal made
        made += 1
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {key}"}
        answer = case.call()
        if answer.status_code == 501 and answer.json()["reason"].startswith("not_supported:extract:"):
            return  # a shape of the caller's needs a language model, which this service does not have
        case.validate_response(answer, checks=[CHECKS.get_one(name) for name in CHECKED])

    call()
    return made
