"""Counts and latencies of the service, for Prometheus. Labels are routes and statuses: never a tenant, user or text."""

from __future__ import annotations

import time
from collections import Counter as Tally
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from mnemic.types import Cost, SearchResult, WriteReceipt
from mnemic_server.observability import Observation

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_LAGS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
_QUANTILES = {"p50_ms": 0.5, "p95_ms": 0.95, "p99_ms": 0.99}


class Meter:
    """Counts of the answers of one process."""

    MEDIA_TYPE = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.since = time.time()
        labels = ("method", "route", "status")
        self.requests = Counter("mnemic_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "mnemic_request_seconds",
            "Time until the answer ended.",
            labels[:2],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.running = Gauge("mnemic_requests_running", "Requests being answered.", registry=self.registry)
        self.searches = Counter(
            "mnemic_searches", "Searches by any verb, by what came of them.", ("outcome",), registry=self.registry
        )
        self.degraded = Counter("mnemic_degraded", "Lists of searches that failed.", ("part",), registry=self.registry)
        self.lag = Histogram(
            "mnemic_event_loop_lag_seconds",
            "How late a timer of the event loop was.",
            buckets=_LAGS,
            registry=self.registry,
        )
        self.writes = Counter(
            "mnemic_writes", "Writes by any verb, by how they ended.", ("outcome",), registry=self.registry
        )

        self.model_calls = Counter(
            "mnemic_model_calls", "Calls of the language model, by tenant.", ("tenant",), registry=self.registry
        )
        self.model_tokens = Counter(
            "mnemic_model_tokens",
            "Tokens of the language model, by tenant; in: of prompts, out: of answers.",
            ("tenant", "direction"),
            registry=self.registry,
        )

    def render_text(self) -> bytes:
        """Everything, in the text format."""
        return generate_latest(self.registry)

    # -- an observer of requests --------------------------------------------------------------------------------------

    def began(self, traceparent: str | None = None) -> None:
        """Count a request that is being answered."""
        self.running.inc()

    def on_end(self, seen: Observation) -> None:
        """Count it."""
        self.running.dec()
        self.requests.labels(seen.method, seen.route, str(seen.status)).inc()
        self.seconds.labels(seen.method, seen.route).observe(seen.seconds)

    # -- their outcomes --------------------------------------------------------------------------------------------

    def wrote(self, receipt: WriteReceipt) -> None:
        """Count a write."""
        self.writes.labels(receipt.outcome.value).inc()

    def count_search(self, result: SearchResult) -> None:
        """Count a search by its success, and the lists that failed."""
        self.searches.labels("found" if result.hits else "empty").inc()
        for part in result.errors:
            self.degraded.labels(part).inc()

    def count_model(self, tenant: str, cost: Cost) -> None:
        """Count a call of a language model, and its tokens."""
        self.model_calls.labels(tenant).inc(cost.calls)
        self.model_tokens.labels(tenant, "in").inc(cost.input_tokens)
        self.model_tokens.labels(tenant, "out").inc(cost.output_tokens)

    # -- for the overview ---------------------------------------------------------------------------------------------

    def search_counts(self) -> dict[str, int]:
        """Return the numbers of searches with and without results."""
        counted = {sample.labels["outcome"]: int(sample.value) for sample in _totals(self.searches)}
        return {"found": counted.get("found", 0), "empty": counted.get("empty", 0)}

    def write_counts(self) -> dict[str, int]:
        """Return the numbers of writes by outcome."""
        return {sample.labels["outcome"]: int(sample.value) for sample in _totals(self.writes)}

    def degraded_parts(self) -> dict[str, int]:
        """Return the number of failures of each list of a search."""
        return {sample.labels["part"]: int(sample.value) for sample in _totals(self.degraded)}

    def model_use(self, tenant: str) -> dict[str, int]:
        """Return the calls of the language model on behalf of a tenant, and the tokens of prompts and answers."""
        tokens = {one.labels["direction"]: int(one.value) for one in _totals(self.model_tokens) if _is_of(one, tenant)}
        calls = sum(int(one.value) for one in _totals(self.model_calls) if _is_of(one, tenant))
        return {"calls": calls, "input_tokens": tokens.get("in", 0), "output_tokens": tokens.get("out", 0)}

    def request_counts(self) -> dict[str, int]:
        """Return the numbers of requests by class of status: `2xx`, `4xx`, ..."""
        counts: Tally[str] = Tally()
        for sample in _totals(self.requests):
            counts[f"{sample.labels['status'][0]}xx"] += int(sample.value)
        return dict(counts)

    def running_now(self) -> int:
        """Return the number of requests being answered."""
        return int(sum(sample.value for metric in self.running.collect() for sample in metric.samples))

    def loop_lag(self) -> dict[str, float]:
        """Milliseconds by which half, 95 % and 99 % of the event loop's timers were late at most."""
        samples = [sample for metric in self.lag.collect() for sample in metric.samples]
        counts = [(float(one.labels["le"]), one.value) for one in samples if one.name.endswith("_bucket")]
        return _in_ms([(0.0, 0.0), *counts])

    def latencies(self) -> list[dict[str, Any]]:
        """Return for each route the number of requests, how many of them failed here, and the milliseconds within which
        half, 95 % and 99 % of them ended, estimated within the buckets of the histogram.
        """
        failed: Tally[tuple[str, str]] = Tally()
        for sample in _totals(self.requests):
            if sample.labels["status"].startswith("5"):
                failed[sample.labels["method"], sample.labels["route"]] += int(sample.value)
        buckets: dict[tuple[str, str], list[tuple[float, float]]] = {}
        for metric in self.seconds.collect():
            for sample in metric.samples:
                if sample.name.endswith("_bucket"):
                    route = sample.labels["method"], sample.labels["route"]
                    buckets.setdefault(route, [(0.0, 0.0)]).append((float(sample.labels["le"]), sample.value))
        return [
            {
                "method": method,
                "route": route,
                "count": int(counts[-1][1]),
                "failed": failed[method, route],
                **_in_ms(counts),
            }
            for (method, route), counts in sorted(buckets.items())
        ]


def _totals(counter: Counter) -> list[Any]:
    return [sample for metric in counter.collect() for sample in metric.samples if sample.name.endswith("_total")]


def _is_of(sample: Any, tenant: str) -> bool:
    return bool(sample.labels["tenant"] == tenant)


def _in_ms(counts: Sequence[tuple[float, float]]) -> dict[str, float]:
    return {name: round(1000 * _quantile(counts, part), 1) for name, part in _QUANTILES.items()}


def _quantile(counts: Sequence[tuple[float, float]], part: float) -> float:
    """Return the given quantile of the observations, linear within a bucket; the last bound beyond it."""
    wanted = part * counts[-1][1]
    for (low, below), (high, upto) in pairwise(counts):
        if upto >= wanted and upto > below:
            return low if high == float("inf") else low + (high - low) * (wanted - below) / (upto - below)
    return 0.0
