"""The search index through the official SDK, against a local service that speaks its contract: not the live one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, NotSupported, SpaceMismatch, StoreBusy, StoreUnavailable
from mnemic.stores.azure import AzureSearchIndex
from mnemic.stores.azure.index import _document, _document_id, odata_filter
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, scope
from mnemic.testing.record_store.fixtures import day
from mnemic.types import Actor, Change, Kind, OutboxEntry, Scored, Status, Where
from tests.azure_search import KEY, AzureSearchServer, Filter
from tests.processes import running

HERE = Where(scopes=(scope(),))


@pytest.fixture
def service() -> Iterator[AzureSearchServer]:
    with running(AzureSearchServer()) as service:
        yield service


@pytest.fixture
async def index(service: AzureSearchServer) -> AsyncIterator[AzureSearchIndex]:
    maker = AzureSearchIndex(service.endpoint, "memories", KEY, seconds=30, dimension=384)
    await maker.create()
    await maker.close()
    index = AzureSearchIndex(service.endpoint, "memories", KEY, seconds=30)
    yield index
    await index.close()


def ids(found: list[Scored]) -> list[str]:
    return [entry.memory_id for entry in found]


async def test_words_and_vector_are_asked_at_once(index: AzureSearchIndex, service: AzureSearchServer) -> None:
    tea, bicycle = memory("green tea in the morning"), memory("a red bicycle")
    await index.upsert([tea, bicycle])
    vector = EMBEDDER.vector("green tea in the morning")
    assert ids(await index.search(HERE, "green tea", vector, limit=5)) == [tea.memory_id, bicycle.memory_id]
    assert ids(await index.search(HERE, "bicycle", None, limit=5)) == [bicycle.memory_id]
    asked = service.asked[0]
    assert (asked["search"], asked["top"], asked["vectorFilterMode"]) == ("green tea", 5, "preFilter")
    assert [(query["fields"], query["k"]) for query in asked["vectorQueries"]] == [("vector", 5)]
    assert await index.search(HERE, "tea", None, limit=0) == []


async def test_indexing_again_replaces_and_removing_takes_out(
    index: AzureSearchIndex, service: AzureSearchServer
) -> None:
    tea = memory("green tea")
    await index.upsert([tea])
    await index.upsert([tea.next_version(day(1), content="black tea")])
    (document,) = service.documents.values()
    assert (document["content"], document["version"]) == ("black tea", 2)
    await index.remove(scope(), [tea.memory_id])
    await index.remove(scope(), [tea.memory_id])
    assert service.documents == {}


async def test_one_refused_document_fails_the_batch(index: AzureSearchIndex, service: AzureSearchServer) -> None:
    tea, bad = memory("green tea"), memory("refused by the service")
    service.refused = {bad.memory_id}
    with pytest.raises(StoreUnavailable) as failure:
        await index.upsert([tea, bad])
    assert failure.value.reason == "store_unavailable:azure_search:422"
    assert "1 of 2" in str(failure.value)
    assert "refused by" not in str(failure.value)


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500, 503])
async def test_a_service_that_fails_is_unavailable(
    index: AzureSearchIndex, service: AzureSearchServer, status: int
) -> None:
    service.status = status
    with pytest.raises(StoreUnavailable) as failure:
        await index.search(HERE, "a secret question", None, limit=5)
    assert "secret" not in str(failure.value)
    assert failure.value.__cause__ is None


async def test_a_wrong_key_is_refused(service: AzureSearchServer) -> None:
    index = AzureSearchIndex(service.endpoint, "memories", "wrong", seconds=30)
    with pytest.raises(StoreUnavailable):
        await index.upsert([memory("tea")])
    await index.close()


async def test_no_call_outlives_its_time(unused_tcp_port_factory: Any) -> None:
    """Connections are accepted by the kernel, and never answered."""
    import socket

    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        index = AzureSearchIndex(f"http://127.0.0.1:{silent.getsockname()[1]}", "memories", KEY, seconds=0.2)
        with pytest.raises((StoreBusy, StoreUnavailable)):
            await index.search(HERE, "tea", None, limit=1)
        await index.close()


@pytest.mark.parametrize("endpoint", ["ftp://x", "", "http://search.example", "https://"])
def test_an_endpoint_that_is_none_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidConfig):
        AzureSearchIndex(endpoint, "memories", KEY)


# -- filters ----------------------------------------------------------------------------------------------------------

NASTY = st.sampled_from(["x' or user eq 'y", "''", "'", "O'Brien", "a' or true or 'b", "x') or (1 eq 1", "\\' or 1"])
KEYS = st.one_of(st.text(min_size=1, max_size=20), NASTY)
DAYS = st.integers(0, 9).map(day)
OWNERS = st.sampled_from(["ada", "ben"])
MEMORIES = st.builds(
    lambda content, key, owner, tenant, kind, status, at, ends: memory(
        content,
        key=key,
        scope=scope(owner, tenant=tenant),
        kind=kind,
        status=status,
        at=at,
        expires_at=ends,
    ),
    KEYS,
    st.none() | KEYS,
    OWNERS,
    st.sampled_from(["acme", "rival"]),
    st.sampled_from([Kind.LONG_TERM, Kind.EPISODIC]),
    st.sampled_from([Status.ACTIVE, Status.SUPERSEDED]),
    DAYS,
    st.none() | DAYS,
)
WHERES = st.builds(
    lambda owners, keys, hidden, kinds, begin, end, live: Where(
        scopes=tuple(scope(owner) for owner in owners),
        keys=keys,
        hidden_keys=hidden,
        kinds=kinds,
        happened_from=begin,
        happened_to=end,
        live_at=live,
    ),
    st.lists(OWNERS, min_size=1, max_size=2, unique=True),
    st.none() | st.frozensets(KEYS, max_size=3),
    st.frozensets(KEYS, max_size=2),
    st.none() | st.frozensets(st.sampled_from([Kind.LONG_TERM, Kind.EPISODIC]), max_size=2),
    st.none() | DAYS,
    st.none() | DAYS,
    st.none() | DAYS,
)


@given(WHERES, st.lists(MEMORIES, max_size=6))
def test_a_filter_accepts_what_it_means_and_nothing_else(where: Where, memories: list[Any]) -> None:
    test = Filter(odata_filter(where)).test
    assert [test(_document(each)) for each in memories] == [where.accepts(each) for each in memories]


@given(KEYS, KEYS)
def test_a_value_never_becomes_filter_text(value: str, other: str) -> None:
    held = memory("x", key=value)
    asked = Filter(odata_filter(Where(scopes=(scope(),), keys=frozenset({other})))).test
    assert asked(_document(held)) == (value == other)


def test_what_the_index_cannot_answer_is_said() -> None:
    with pytest.raises(NotSupported):
        odata_filter(Where(scopes=(scope(),), as_of=day(1)))
    with pytest.raises(NotSupported):
        odata_filter(Where(scopes=(scope(),), keys=frozenset(map(str, range(1001)))))


def test_no_two_memories_share_a_document() -> None:
    names = [("a", "bc"), ("ab", "c"), ("a1", "1:b"), ("a", "11:b")]
    assert len({_document_id(tenant, memory_id) for tenant, memory_id in names}) == len(names)


# -- as a projection --------------------------------------------------------------------------------------------------

ANA = Actor(user="ana")


async def test_it_follows_the_memories_and_forgets_with_them(
    index: AzureSearchIndex, service: AzureSearchServer
) -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock(), projections=[index])
    async with engine:
        await engine.add("Likes tea.", actor=ANA, key="drink")
        await engine.add("Likes coffee.", actor=ANA, key="drink")
        assert [document["content"] for document in service.documents.values()] == ["Likes coffee."]
        service.status = 503
        missed = await engine.add("Owns a red bicycle.", actor=ANA)
        assert missed.degraded == ("search_index",)
        service.status = None
        await engine.maintain(actor=ANA)
        assert len(service.documents) == 2
        service.documents.clear()
        assert await engine.rebuild("search_index", actor=ANA) == 2
        assert len(service.documents) == 2
        receipt = await engine.erase("ana", actor=ANA)
        assert receipt.complete
        assert service.documents == {}


async def test_a_tenant_is_cleared_alone(index: AzureSearchIndex, service: AzureSearchServer) -> None:
    for tenant in ("acme", "rival"):
        kept = memory("tea", scope=scope(tenant=tenant))
        await index.apply([Change(entry=OutboxEntry.for_memory(kept), memory=kept)])
    await index.clear("acme")
    assert [document["tenant"] for document in service.documents.values()] == ["rival"]


async def test_an_index_is_made_once_and_for_one_dimension(service: AzureSearchServer) -> None:
    url = service.endpoint.replace("http://", f"azure-search://:{KEY}@") + "/memories"
    index = AzureSearchIndex.from_url(url, dimension=384)
    assert await index.create() is True
    assert await index.create() is False
    made = {field["name"]: field for field in service.indexes["memories"]["fields"]}
    held = _document(memory("tea"))
    assert made.keys() == held.keys()
    assert all(made[name]["filterable"] for name in held if name not in ("content", "context", "vector"))
    assert (made["vector"]["dimensions"], made["id"]["key"]) == (384, True)
    await index.close()
    other = AzureSearchIndex.from_url(url, dimension=768)
    with pytest.raises(SpaceMismatch):
        await other.create()
    await other.close()


async def test_documents_wait_for_an_index_and_make_it_where_they_may(service: AzureSearchServer) -> None:
    tea = memory("green tea")
    kept = Change(entry=OutboxEntry.for_memory(tea), memory=tea)
    without = AzureSearchIndex(service.endpoint, "memories", KEY, seconds=30)
    with pytest.raises(StoreUnavailable, match="azure_search:404"):
        await without.apply([kept])
    with pytest.raises(StoreUnavailable, match="azure_search:404"):
        await without.search(HERE, "tea", None, limit=5)
    await without.close()
    index = AzureSearchIndex(service.endpoint, "memories", KEY, seconds=30, dimension=384)
    await index.apply([kept])
    assert list(service.indexes) == ["memories"]
    assert ids(await index.search(HERE, "tea", None, limit=5)) == [tea.memory_id]
    await index.close()


async def test_an_erasure_looks_the_index_through(index: AzureSearchIndex, service: AzureSearchServer) -> None:
    tea, bicycle = memory("green tea"), memory("a red bicycle")
    await index.upsert([tea, bicycle])
    wanted = [tea.memory_id, bicycle.memory_id, *(f"absent-{number}" for number in range(150))]
    assert await index.traces("acme", wanted) == 2
    assert await index.traces("rival", wanted) == 0
    await index.remove(scope(), [tea.memory_id])
    assert await index.traces("acme", wanted) == 1


@pytest.mark.parametrize("url", ["azure-search://:k@/i", "azure-search://host/i", "azure-search://:k@host"])
def test_an_address_names_key_service_and_index(url: str) -> None:
    with pytest.raises(InvalidConfig):
        AzureSearchIndex.from_url(url, dimension=384)
