"""OpenTelemetry: a span, a measurement and, for failures, a log record of each request, sent by OTLP over HTTP.

Enabled if the environment names a receiver (`OTEL_EXPORTER_OTLP_ENDPOINT`) and `mnemic[otel]` is installed; the other
`OTEL_` variables have their specified meaning. Attributes are those of HTTP's semantic conventions that contain no
content: method, route, status. With `MNEMIC_TRACING` the spans of memory operations are inside that of their request.
The web framework's own telemetry, which sends addresses with names in them, is not
used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextvars import ContextVar, Token
from typing import Any

from opentelemetry import context
from opentelemetry._logs import SeverityNumber
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import CallbackOptions
from opentelemetry.metrics import Observation as Measured
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from mnemic.engine import MemoryEngine
from mnemic.tracing import MemorySpans
from mnemic_server.observability import Observation
from mnemic_server.prometheus_metrics import Meter

_OPEN: ContextVar[tuple[Span, Token[Context]]] = ContextVar("mnemic_request_span")
"""Span of the request that is being answered, and what to put back when it ends."""


class Telemetry:
    """Observer that exports. The other figures are read from `meter`."""

    def __init__(self, meter: Meter) -> None:
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "mnemic")})
        self._spans = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._spans.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter())
        self._metrics = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._records = LoggerProvider(resource=resource, shutdown_on_exit=False)
        self._records.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        self._tracer = self._spans.get_tracer("mnemic")
        self._logger = self._records.get_logger("mnemic")
        measuring = self._metrics.get_meter("mnemic")
        self._duration = measuring.create_histogram("http.server.request.duration", unit="s")
        for name, counts, label in (
            ("mnemic.searches", meter.search_counts, "outcome"),
            ("mnemic.degraded", meter.degraded_parts, "part"),
            ("mnemic.writes", meter.write_counts, "outcome"),
        ):
            measuring.create_observable_counter(name, callbacks=[_reading(counts, label)])
        self._parents = TraceContextTextMapPropagator()

    def follow(self, engine: MemoryEngine) -> None:
        """Export the spans of an engine that makes any."""
        if engine.watchers.spans is not None:
            engine.watchers.spans = MemorySpans.of_provider(self._spans)

    def began(self, traceparent: str | None) -> None:
        """Open the span of a request, in which others begin; its route is not known yet."""
        parent = self._parents.extract({"traceparent": traceparent or ""})
        span = self._tracer.start_span("request", context=parent, kind=SpanKind.SERVER)
        _OPEN.set((span, context.attach(set_span_in_context(span, parent))))

    def on_end(self, seen: Observation) -> None:
        """Export it, in the background."""
        attributes: dict[str, Any] = {
            "http.request.method": seen.method,
            "http.route": seen.route,
            "http.response.status_code": seen.status,
        }
        span, before = _OPEN.get()
        context.detach(before)
        span.update_name(f"{seen.method} {seen.route}")
        span.set_attributes(attributes)
        if seen.status >= 500:
            span.set_status(StatusCode.ERROR)
            self._logger.emit(
                timestamp=seen.ended,
                severity_number=SeverityNumber.ERROR,
                body="request failed",
                attributes=attributes,
                event_name="mnemic.request.failed",
            )
        span.end()
        self._duration.record(seen.seconds, attributes)

    def close(self) -> None:
        """Send the remaining data, within the export's own time limits."""
        for provider in (self._spans, self._metrics, self._records):
            provider.force_flush()
            provider.shutdown()


def _reading(counts: Callable[[], dict[str, int]], label: str) -> Callable[[CallbackOptions], Iterable[Measured]]:
    def read(_: CallbackOptions) -> Iterable[Measured]:
        return [Measured(count, {label: name}) for name, count in counts().items()]

    return read
