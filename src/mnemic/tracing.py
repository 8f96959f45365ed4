"""OpenTelemetry spans of memory operations, by the semantic conventions for generative AI (in development there, as of
November 2026: gen_ai.operation.name `search_memory`, `create_memory`, `upsert_memory`, `update_memory`,
`delete_memory`).

They go to the program's own tracer provider; without one they go nowhere. No content is in them: neither texts nor
queries, and the memory store is named by the tenant, never by a user.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mnemic import requests
from mnemic.dispatch import BatchReceipts, Call
from mnemic.errors import MnemicError
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor, SearchResult, WriteReceipt

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

SEARCH = "search_memory"
_OPERATIONS: dict[type[requests.Request[Any]], str] = {
    # Not `create_memory`: what is told may refresh, merge with or replace what is known, which the caller cannot say.
    requests.NewMemory: "upsert_memory",
    requests.Add: "upsert_memory",
    requests.AddMany: "upsert_memory",
    requests.Derive: "upsert_memory",
    requests.Record: "create_memory",
    requests.Restore: "create_memory",
    requests.Correction: "update_memory",
    requests.Update: "update_memory",
    requests.Rollback: "update_memory",
    requests.Undo: "update_memory",
    requests.Approve: "update_memory",
    requests.Reject: "update_memory",
    requests.Forget: "delete_memory",
    requests.Erase: "delete_memory",
    requests.EraseKey: "delete_memory",
}


@dataclass(frozen=True, slots=True)
class MemorySpans:
    """Makes a span of each write and each search."""

    tracer: Tracer

    @classmethod
    def of_provider(cls, provider: TracerProvider | None = None) -> MemorySpans:
        """Return spans for a provider; None: the program's. Raises MissingExtra without OpenTelemetry's API."""
        with brought_by("tracing"):
            from opentelemetry import trace
        return cls(trace.get_tracer("mnemic", tracer_provider=provider))

    @contextmanager
    def of_search(self, actor: Actor) -> Iterator[list[SearchResult]]:
        """Span of one search, whose result is put into the list."""
        found: list[SearchResult] = []
        with self._span(SEARCH, actor) as span:
            yield found
            for result in found:
                span.set_attribute("gen_ai.memory.record.count", len(result.hits))

    @contextmanager
    def of_write(self, call: Call) -> Iterator[list[Any]]:
        """Span of one request that changes memory, whose answer is put into the list; no span for others."""
        answers: list[Any] = []
        operation = _OPERATIONS.get(type(call.request))
        if operation is None:
            yield answers
            return
        with self._span(operation, call.actor) as span:
            yield answers
            for answer in answers:
                _describe_write(span, call.request, answer)

    @contextmanager
    def _span(self, operation: str, actor: Actor) -> Iterator[Span]:
        from opentelemetry.trace import SpanKind, Status, StatusCode

        told = {"gen_ai.operation.name": operation, "gen_ai.memory.store.id": actor.tenant}
        with self.tracer.start_as_current_span(
            operation, kind=SpanKind.INTERNAL, attributes=told, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                # The reason and nothing else: a message of an error of the program's own may hold content.
                reason = error.reason if isinstance(error, MnemicError) else type(error).__name__
                span.set_attribute("error.type", reason)
                span.set_status(Status(StatusCode.ERROR))
                raise


def _describe_write(span: Span, request: Any, answer: Any) -> None:
    receipts = answer.receipts if isinstance(answer, BatchReceipts) else answer
    receipts = [receipts] if isinstance(receipts, WriteReceipt) else receipts
    written = [one for one in receipts if isinstance(one, WriteReceipt)] if isinstance(receipts, list | tuple) else []
    if written:
        span.set_attribute("gen_ai.memory.record.count", len(written))
    memory_id = getattr(request, "memory_id", None) or (written[0].memory_id if len(written) == 1 else None)
    if memory_id:
        span.set_attribute("gen_ai.memory.record.id", memory_id)
