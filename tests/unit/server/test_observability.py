"""What leaves the service about its requests: metrics, log lines, OpenTelemetry. Never what anybody said."""

from __future__ import annotations

import gzip
import io
import json
import logging
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from mnemic.cli.server_log import LineFormatter, configure
from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.tracing import MemorySpans
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys
from mnemic_server.logs import RequestLog
from mnemic_server.observability import Observation
from mnemic_server.prometheus_metrics import Meter
from mnemic_server.telemetry import Telemetry
from tests.architecture.sources import ROOT
from tests.loopback import Quiet, listening

CANARY = "CANARYobservedQ7"
TRACE = "0af7651916cd43dd8448eb211c80319c"


@pytest.fixture
def receiver() -> Iterator[tuple[str, dict[str, list[bytes]]]]:
    """A receiver of OTLP over HTTP: its address, and what came in by path."""
    came: dict[str, list[bytes]] = {}

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            came.setdefault(self.path, []).append(body)
            self.send_response(200)
            self.end_headers()

    with listening(Handler) as address:
        yield address, came


async def used(app: Any, engine: MemoryEngine) -> None:
    """A few calls with the canary wherever a caller can put one, and one that fails."""
    async with engine, httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://s") as client:
        _, text = await ApiKeys(engine.store, engine.clock).create(
            tenant="acme", roles=["reader", "writer"], user="ana"
        )
        headers = {"Authorization": f"Bearer {text}", "traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
        await client.post("/v1/memories", json={"content": CANARY, "key": CANARY.lower()}, headers=headers)
        await client.post("/v1/search", json={"query": CANARY}, headers=headers)
        await client.get(f"/v1/memories/{CANARY}?kind={CANARY}", headers=headers)
        await client.get(f"/v1/entities?label={CANARY.lower()}", headers=headers)
        await client.get(f"/{CANARY}", headers=headers)


def spans_in(came: dict[str, list[bytes]]) -> list[Span]:
    """Return the spans that the receiver was sent."""
    return [
        span
        for body in came["/v1/traces"]
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


async def test_traces_metrics_and_logs_reach_a_receiver_without_a_word_of_anybody(
    receiver: tuple[str, dict[str, list[bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, came = receiver
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    meter = Meter()
    telemetry = Telemetry(meter)
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    await used(create_app(engine, meter=meter, observers=[telemetry]), engine)
    telemetry.close()

    spans = spans_in(came)
    assert {span.name for span in spans} >= {"POST /v1/memories", "POST /v1/search", "GET /v1/memories/{memory_id}"}
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    assert all(span.end_time_unix_nano >= span.start_time_unix_nano for span in spans)
    failed = [span for span in spans if span.name == "GET /v1/entities"]
    assert [span.status.code for span in failed] == [2]  # no graph here: 501

    metrics = {
        metric.name
        for body in came["/v1/metrics"]
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    assert {"http.server.request.duration", "mnemic.searches", "mnemic.writes"} <= metrics
    records = [
        record.body.string_value
        for body in came["/v1/logs"]
        for resource in ExportLogsServiceRequest.FromString(body).resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    assert records == ["request failed"]
    everything = b"".join(body for bodies in came.values() for body in bodies).lower()
    assert CANARY.lower().encode() not in everything
    assert b"acme" not in everything


async def test_what_memory_does_is_inside_the_span_of_its_request(
    receiver: tuple[str, dict[str, list[bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, came = receiver
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
    telemetry = Telemetry(Meter())
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    engine.watchers.spans = MemorySpans.of_provider()
    telemetry.follow(engine)
    await used(create_app(engine, observers=[telemetry]), engine)
    telemetry.close()
    spans = spans_in(came)
    requests = {span.span_id: span.name for span in spans if span.name.startswith(("GET", "POST"))}
    inside = {(requests.get(span.parent_span_id), span.name) for span in spans if span.span_id not in requests}
    assert inside == {("POST /v1/memories", "upsert_memory"), ("POST /v1/search", "search_memory")}
    assert {span.trace_id.hex() for span in spans} == {TRACE}
    assert CANARY.lower().encode() not in b"".join(came["/v1/traces"]).lower()


async def test_slow_and_failed_requests_are_told_and_others_where_asked(caplog: pytest.LogCaptureFixture) -> None:
    for log, wanted in (
        (RequestLog(slow_ms=1e9, all_of_them=False), {501}),
        (RequestLog(slow_ms=1e9, all_of_them=True), {201, 200, 404, 422, 501}),
        (RequestLog(slow_ms=1e-6, all_of_them=False), {201, 200, 404, 422, 501}),
    ):
        caplog.clear()
        engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
        with caplog.at_level(logging.INFO, logger="mnemic.service"):
            await used(create_app(engine, observers=[log]), engine)
        told = [record for record in caplog.records if record.name == "mnemic.service"]
        assert {getattr(record, "status", None) for record in told} <= wanted
        assert {getattr(record, "status", None) for record in told} >= {501}
        assert CANARY.lower() not in str([vars(record) for record in told]).lower()


@contextmanager
def logged() -> Iterator[io.StringIO]:
    """What a process logs that has nothing but the service's log; how logging was set is put back."""
    loggers = [logging.getLogger(name) for name in (None, "mnemic", "uvicorn")]
    before = [(logger, logger.handlers, logger.level, logger.propagate) for logger in loggers]
    told = io.StringIO()
    logging.getLogger().handlers = []
    writer = configure(as_json=False, stream=told)
    try:
        yield told
    finally:
        assert writer.flush()
        for logger, handlers, level, propagate in before:
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


class Talkative(InProcessStore):
    """Fails in a way that nobody foresaw, with what was said in the message."""

    async def read(self, *_: Any) -> Any:
        raise RuntimeError(CANARY)


@asynccontextmanager
async def talking(*roles: str) -> AsyncIterator[tuple[httpx.AsyncClient, dict[str, str]]]:
    """A client of a service on such a store, and the headers of a key."""
    engine = MemoryEngine(store=Talkative(), embedder=WordEmbedder())
    transport = httpx.ASGITransport(app=create_app(engine), raise_app_exceptions=False)
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://s") as client:
        _, key = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=roles, user="ana")
        yield client, {"Authorization": f"Bearer {key}", "Accept": "application/json, text/event-stream"}


def test_a_stream_takes_its_time_and_is_not_slow(caplog: pytest.LogCaptureFixture) -> None:
    routes = ("/v1/changes", "/v1/export", "/v1/runs/stream", "/v1/runs")
    with caplog.at_level(logging.INFO, logger="mnemic.service"):
        for route in routes:
            seen = Observation(method="POST", route=route, status=200, began=0, ended=90_000_000_000)
            RequestLog(slow_ms=1000, all_of_them=False).on_end(seen)
    assert [getattr(record, "route", None) for record in caplog.records] == ["/v1/runs"]


def test_a_request_that_never_came_in_as_a_whole_is_not_slow(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="mnemic.service"):
        for status in (408, 422):
            seen = Observation(method="POST", route="/v1/search", status=status, began=0, ended=10_000_000_000)
            RequestLog(slow_ms=1000, all_of_them=False).on_end(seen)
    assert [getattr(record, "status", None) for record in caplog.records] == [422]


async def test_what_a_library_says_of_a_failing_tool_is_told_without_its_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    called = {"name": "list_memories", "arguments": {"limit": 5}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    async with talking("reader") as (client, headers):
        with logged() as lines:
            answer = await client.post("/mcp", json=body, headers=headers)
    assert answer.json()["result"]["isError"]
    assert re.search(r"ERROR mcp\.\S+ \w+:\d+ error=\w+$", lines.getvalue().strip())
    assert CANARY not in lines.getvalue() + "".join(capsys.readouterr())


async def test_a_turn_that_fails_in_an_unforeseen_way_is_told_by_the_type_of_its_failure() -> None:
    async with talking("writer") as (client, headers):
        with logged() as lines:
            answer = await client.post("/v1/runs/stream", json={"goal": "Which seat?"}, headers=headers)
    assert answer.json()["reason"] == "internal_error"
    assert "error=RuntimeError" in lines.getvalue()
    assert CANARY not in lines.getvalue() + answer.text


def test_a_line_holds_the_allowed_fields_and_of_an_exception_its_type_alone() -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    logger = logging.getLogger("test.observability")
    logger.propagate, logger.handlers = False, [handler]
    handler.setFormatter(LineFormatter(as_json=True))
    try:
        raise ValueError(CANARY)
    except ValueError:
        logger.exception("it\nfailed", extra={"route": "/v1/search", "status": 500, "content": CANARY})
    handler.setFormatter(LineFormatter(as_json=False))
    logger.warning("slow request", extra={"ms": 1203.5})

    as_json, as_text = lines.getvalue().splitlines()
    told = json.loads(as_json)
    assert (told["message"], told["route"], told["status"], told["error"]) == (
        "it\\nfailed", "/v1/search", 500, "ValueError",
    )  # fmt: skip
    assert as_text.endswith("WARNING test.observability slow request ms=1203.5")
    assert CANARY not in lines.getvalue()


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    meter = Meter()
    meter.began()
    meter.on_end(Observation(method="GET", route="/v1/search", status=200, began=0, ended=5_000_000))
    there = {sample.name for metric in meter.registry.collect() for sample in metric.samples}
    there |= {metric.name + "_total" for metric in meter.registry.collect() if metric.type == "counter"}
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "mnemic.json").read_text(encoding="utf-8"))
    asked = {name for panel in dashboard["panels"] for target in panel["targets"] for name in _metrics(target["expr"])}
    assert asked <= there
    assert {"mnemic_requests_total", "mnemic_request_seconds_bucket", "mnemic_searches_total"} <= asked
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])


def _metrics(expression: str) -> set[str]:
    return set(re.findall(r"\bmnemic_[a-z_]+", expression))
