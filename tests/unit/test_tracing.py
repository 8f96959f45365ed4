"""Spans of memory operations, as OpenTelemetry's conventions for generative AI name them, without any content."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from mnemic.engine import MemoryEngine
from mnemic.errors import MemoryNotFound
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.tracing import MemorySpans
from mnemic.types import Actor, Candidate

ANA = Actor(user="ana", tenant="acme")


class Traced:
    def __init__(self, engine: MemoryEngine) -> None:
        self.engine, self._exporter = engine, InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        engine.watchers.spans = MemorySpans.of_provider(self.provider)

    def taken(self) -> list[ReadableSpan]:
        spans = list(self._exporter.get_finished_spans())
        self._exporter.clear()
        return spans


@pytest.fixture
async def traced() -> AsyncIterator[Traced]:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        yield Traced(engine)


def told(span: ReadableSpan) -> dict[str, object]:
    return {name.removeprefix("gen_ai."): value for name, value in (span.attributes or {}).items()}


async def test_a_write_a_search_a_correction_and_a_deletion_have_a_span_each(traced: Traced) -> None:
    engine = traced.engine
    memory_id = (await engine.add("I prefer aisle seats.", actor=ANA)).memory_id
    await engine.search("Which seats do I prefer?", actor=ANA)
    assert memory_id is not None
    await engine.update(memory_id, "I prefer window seats.", actor=ANA)
    await engine.forget(memory_id, actor=ANA)
    spans = traced.taken()
    assert [one.name for one in spans] == ["upsert_memory", "search_memory", "update_memory", "delete_memory"]
    one = {"memory.store.id": "acme", "memory.record.id": memory_id}
    assert [told(span) for span in spans] == [
        {**one, "operation.name": "upsert_memory", "memory.record.count": 1},
        {"memory.store.id": "acme", "operation.name": "search_memory", "memory.record.count": 1},
        {**one, "operation.name": "update_memory", "memory.record.count": 1},
        {**one, "operation.name": "delete_memory"},
    ]


async def test_a_batch_and_a_turn_say_how_many_memories_they_wrote(traced: Traced) -> None:
    await traced.engine.add_many([Candidate(content="Likes tea."), Candidate(content="Likes rye bread.")], actor=ANA)
    [batch] = traced.taken()
    assert told(batch)["memory.record.count"] == 2
    await traced.engine.run(actor=ANA, message="I'm allergic to peanuts.", goal="What may I not eat?")
    names = [one.name for one in traced.taken()]
    assert names[0] == "upsert_memory"
    assert names[-1] == "search_memory"


async def test_no_span_has_content_or_a_name(traced: Traced) -> None:
    await traced.engine.add("Secret plans for Lisbon.", key="trip", actor=ANA)
    await traced.engine.search("Lisbon?", actor=ANA)
    shown = str([(one.name, dict(one.attributes or {}), one.events) for one in traced.taken()])
    assert not any(word in shown for word in ("Lisbon", "trip", "ana"))


async def test_a_failure_is_said_by_its_reason(traced: Traced) -> None:
    with pytest.raises(MemoryNotFound):
        await traced.engine.forget("no-such-memory", actor=ANA)
    [span] = traced.taken()
    assert (span.status.status_code, told(span)["error.type"]) == (StatusCode.ERROR, "memory_not_found")
    assert not span.events


async def test_it_is_part_of_the_trace_of_the_program(traced: Traced) -> None:
    with traced.provider.get_tracer("agent").start_as_current_span("invoke_agent") as agent:
        await traced.engine.search("anything", actor=ANA)
    search, _ = traced.taken()
    assert search.parent is not None
    assert search.parent.span_id == agent.get_span_context().span_id
