"""The load test of the service at a size that says nothing about speed."""

from __future__ import annotations

import json

from mnemic.evaluate.service_load import LoadOptions, load_table, run


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
