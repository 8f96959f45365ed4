"""The client of the service does what the library does: the same calls, the same answers, the same errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mnemic import MemoryManager
from mnemic.client import BlockingClient, connect, connect_async
from mnemic.engine import MemoryEngine
from mnemic.errors import (
    IdempotencyConflict,
    InvalidInput,
    MemoryNotFound,
    MnemicError,
    ServiceRefused,
    VersionConflict,
)
from mnemic.maintain.graph import GraphProjection
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.inprocess import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Message, Outcome
from tests.service import Served, serving


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture(params=["library", "client"])
def memory(request: pytest.FixtureRequest, served: Served) -> Iterator[Any]:
    """One user's memory, in this process or behind the service; a new user for each test."""
    user = f"user-{abs(hash(request.node.name)) % 10**9}"
    if request.param == "library":
        engine = MemoryEngine(
            store=InProcessStore(),
            embedder=WordEmbedder(),
            graph=(graph := InProcessGraph()),
            projections=[GraphProjection(graph)],
        )
        with MemoryManager(user, engine=engine) as manager:
            yield manager
    else:
        with connect(served.address, api_key=served.key("reader", "writer", user=user)) as client:
            yield client


def test_what_was_added_is_found_corrected_and_forgotten(memory: Any) -> None:
    receipt = memory.add("I prefer aisle seats.", key="seat", idempotency_key="k1")
    assert (receipt.outcome, receipt.version) == (Outcome.CREATED, 1)
    assert memory.add("I prefer aisle seats.", key="seat", idempotency_key="k1").replayed
    with pytest.raises(IdempotencyConflict):
        memory.add("I prefer window seats.", key="seat", idempotency_key="k1")

    found = memory.search("where do I like to sit?")
    assert [hit.memory.memory_id for hit in found.hits] == [receipt.memory_id]
    assert (found.hits[0].ranks["vector"].position, found.degraded) == (1, False)
    assert memory.update(receipt.memory_id, "I prefer window seats.", expected_version=1).version == 2
    with pytest.raises(VersionConflict):
        memory.update(receipt.memory_id, "I stand.", expected_version=1)
    assert [one.content for one in memory.history(receipt.memory_id)][-1] == "I prefer window seats."
    assert memory.rollback(receipt.memory_id, 1).version == 3
    kept = memory.get(receipt.memory_id)
    assert (kept.content, kept.key, kept.scope.level, kept.created_at.tzinfo is not None) == (
        "I prefer aisle seats.", "seat", "user", True,
    )  # fmt: skip
    memory.forget(receipt.memory_id)
    with pytest.raises(MemoryNotFound):
        memory.get(receipt.memory_id)
    assert memory.list() == []


def test_capture_and_messages_and_a_turn(memory: Any) -> None:
    report = memory.capture("I live in Oslo and I love kayaking.")
    assert [receipt.outcome for receipt in report.receipts] == [Outcome.CREATED] * 2
    kept = memory.record(
        [Message(role="user", content="See you on Sunday!"), Message(role="assistant", content="Yes.")]
    )
    assert [receipt.stored for receipt in kept] == [True, True]
    ran = memory.run(goal="Plan a weekend of kayaking in Oslo")
    assert (ran.status, ran.stop_reason) == ("ok", "success")
    assert set(ran.audit.cited) <= set(ran.audit.injected) <= set(ran.audit.retrieved)


def test_episodes_and_entities(memory: Any) -> None:
    steps = [{"action": "call", "result": "nobody", "ok": False}, {"action": "book online", "ok": True}]
    memory.episodic.record("Rent a boat", steps, outcome="success")
    assert [lesson.worked for lesson in memory.episodic.lessons("rent a boat")] == ["book online"]
    assert [episode.task for episode in memory.episodic.recent()] == ["Rent a boat"]
    memory.entity.relate("me", "sibling", "Eva")
    assert [(one.node.name, one.hops) for one in memory.entity.neighbours()] == [("Eva", 1)]
    assert [one.relation for one in memory.entity.path("me", "Eva") or ()] == ["sibling"]


def test_what_cannot_be_used_is_refused_with_the_same_reason(memory: Any) -> None:
    reasons = []
    for call in (
        lambda: memory.structured.put("Nonsense", {}),
        lambda: memory.rollback(memory.add("I like tea.").memory_id, 9),
        lambda: memory.search("tea", top_k=500),
    ):
        with pytest.raises(MnemicError) as refused:
            call()
        assert isinstance(refused.value, InvalidInput)
        reasons.append(refused.value.reason)
    assert reasons[:2] == ["invalid_input:shape", "invalid_input:version"]
    assert reasons[2].startswith("invalid_input:top_k") or reasons[2].startswith("invalid_retrieval")


@pytest.fixture
def client(served: Served) -> Iterator[BlockingClient]:
    with connect(served.address, api_key=served.key("reader", "writer", "subject", user="cleo")) as opened:
        yield opened


def test_an_import_goes_on_where_it_stopped(client: BlockingClient) -> None:
    boats = [{"content": f"The boat number {n} has {n} oars."} for n in range(12)]

    def cut_off() -> Iterator[dict[str, str]]:
        yield from boats[:7]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        client.import_all("boats", cut_off(), part=5)
    done = client.import_all("boats", boats, part=5)
    assert (done.taken, sum(done.outcomes.values())) == (12, 12)
    assert client.import_all("boats", boats, part=5) == done
    assert sum(1 for _ in client.export()) == 12
    assert client.erase()["complete"] is True


def test_who_may_not_call_is_told_so(served: Served) -> None:
    with connect(served.address) as nobody, pytest.raises(ServiceRefused, match="unauthenticated"):
        nobody.list()
    with connect(served.address, api_key=served.key("reader")) as reader, pytest.raises(ServiceRefused, match="writer"):
        reader.add("I like tea.")
    with connect("http://127.0.0.1:9", timeout=2, attempts=1) as absent, pytest.raises(ServiceRefused, match="unreach"):
        absent.list()


async def test_the_same_verbs_awaited_and_changes_as_they_come(served: Served) -> None:
    async with connect_async(served.address, api_key=served.key("reader", "writer", "subject", user="dora")) as memory:
        first = await memory.add("I like tea.", key="drink")
        newest = await memory.add("I like coffee.", key="drink")
        earlier, later = await memory.lineage(newest.memory_id or "")
        assert ([one.memory_id for one in earlier], later) == ([first.memory_id], [])
        assert await memory.undo(newest.memory_id or "") == [first.memory_id]
        assert await memory.context("what do I drink?") is not None
        changes = memory.changes(after="0")
        event_id, told = await anext(changes)
        assert (told["action"], told["memory_id"], event_id.isdigit()) == ("created", first.memory_id, True)
        await memory.grant_consent("drink")
        assert await memory.consents() == {"drink": True}
