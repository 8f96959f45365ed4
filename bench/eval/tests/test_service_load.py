"""The load test of the service at a size that says nothing about speed."""

from __future__ import annotations

import json
import socket
import sys

import pytest

from mnemic.errors import StoreBusy
from mnemic_eval.service_load import _RUNNING, LoadOptions, _running, _time_requests, load_table, run


def test_every_call_is_counted_over_every_number_of_connections() -> None:
    options = LoadOptions(connections=(1, 3), requests=6, rows=6)
    result = run(options)
    assert [(one["call"], one["connections"]) for one in result["calls"]] == [
        (call, connections) for call in ("nothing", "get", "search", "context", "add") for connections in (1, 3)
    ]
    for one in result["calls"]:
        assert one["per_second"] > 0
        assert one["p50_ms"] <= one["p95_ms"] <= one["p99_ms"]
    assert result["loop_lag"]["p50_ms"] <= result["loop_lag"]["p99_ms"]
    assert [one["connections"] for one in result["framework_alone"]] == [1, 3]
    assert 0 < result["commit_alone"]["p50_ms"] <= result["commit_alone"]["p99_ms"]
    assert len(load_table(result).splitlines()) == 4 + 1 + 1 + 2 + 10
    assert json.loads(json.dumps(result)) == result


def test_a_service_that_writes_much_is_not_stopped_by_it() -> None:
    said = (
        f"import sys, socket; print({_RUNNING + 'here'!r}, file=sys.stderr, flush=True); sys.stderr.write('x' * 2**20)"
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        ends = f"; sys.stderr.flush(); socket.create_connection(('127.0.0.1', {listening.getsockname()[1]}))"
        with _running([sys.executable, "-c", said + ends]) as address:
            listening.accept()[0].close()
    assert address == "http://here"


async def test_a_call_that_fails_is_named() -> None:
    async def refused() -> None:
        raise StoreBusy("deadline")

    with pytest.raises(StoreBusy):
        await _time_requests(refused, 3, LoadOptions(requests=6))
