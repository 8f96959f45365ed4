"""What looks like a query is text also where no memories are: conversations, graphs, documents. Each store is compared
with the one in the process, or with what was put in.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from mnemic.ports import DocumentStore
from mnemic.ports.further_stores import GraphStore
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.neo4j import Neo4jGraph
from mnemic.stores.postgres import PostgresDocuments
from mnemic.stores.postgres.graph import PostgresGraph
from mnemic.stores.redis import RedisLink, RedisSessions
from mnemic.stores.sqlite.documents import SqliteDocuments
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.types import (
    FindDocuments,
    Fragment,
    GetDocument,
    Level,
    ListNamespaces,
    Message,
    Node,
    PutDocument,
    Relation,
    Scope,
)
from tests.bolt_servers import BoltServer
from tests.faults.scale import FULL
from tests.security.test_payloads import PAYLOADS
from tests.servers import PostgresServer
from tests.valkey import ValkeyServer

TRIED = PAYLOADS if FULL else PAYLOADS[::25]
NODES = [name for name in (payload.replace("\x00", "").strip() for payload in TRIED) if name]
HOUR = timedelta(hours=1)
SEEN = datetime(2026, 1, 5, tzinfo=UTC)


async def test_in_conversations(valkey: ValkeyServer) -> None:
    sessions = RedisSessions(RedisLink(valkey.url, seconds=60))
    here, beside = (Scope(tenant="acme", level=Level.SESSION, owner=owner) for owner in ("s", "beside"))
    told = [Message(role="user", content=payload, session=payload, speaker=payload) for payload in TRIED]
    await sessions.append(beside, Message(role="user", content="beside"), ttl=HOUR, keep=9)
    for message in told:
        await sessions.append(here, message, ttl=HOUR, keep=len(told))
    assert await sessions.tail(here, limit=len(told)) == told
    summary = Message(role="summary", content=TRIED[0])
    assert await sessions.fold(here, told, summary)
    assert await sessions.tail(here, limit=9) == [summary]
    await sessions.clear(here)
    assert [message.content for message in await sessions.tail(beside, limit=9)] == ["beside"]
    assert len([name for name in valkey.names() if name.startswith("mnemic:session:")]) == 1
    await sessions.close()


@pytest_asyncio.fixture
async def graphs(postgres: PostgresServer, bolt: BoltServer, tmp_path: Path) -> AsyncIterator[dict[str, GraphStore]]:
    """The model first."""
    made: dict[str, GraphStore] = {
        "model": InProcessGraph(),
        "sqlite": SqliteGraph(tmp_path / "m.db"),
        "postgres": PostgresGraph(postgres.database(tmp_path)),
        "bolt": Neo4jGraph(bolt.empty("acme", "rival"), timeout=60),
    }
    async with AsyncExitStack() as stack:
        for graph in made.values():
            await graph.open()
            stack.push_async_callback(graph.close)
        yield made


async def test_in_graphs(graphs: dict[str, GraphStore]) -> None:
    here, rival = (Scope(tenant=tenant, level=Level.USER, owner="ana") for tenant in ("acme", "rival"))
    fragments = [_fragment(number, name) for number, name in enumerate(dict.fromkeys(NODES))]
    for graph in graphs.values():
        await graph.link(rival, [_fragment(0, "of the rival")])
        for start in range(0, len(fragments), 100):
            await graph.link(here, fragments[start : start + 100])
    model = graphs["model"]
    for name in dict.fromkeys(NODES):
        nodes = await model.nodes(here, among=[name], limit=9)
        around = await model.neighbours(here, name, hops=1, limit=9)
        assert len(nodes) == 1
        for which, graph in graphs.items():
            assert await graph.nodes(here, among=[name], limit=9) == nodes, which
            assert await graph.nodes(here, label=name, limit=9) == await model.nodes(here, label=name, limit=9), which
            assert await graph.neighbours(here, name, hops=1, limit=9) == around, which
    for which, graph in graphs.items():
        await graph.clear("acme")
        assert await graph.nodes(here, limit=9) == [], which
        assert len(await graph.nodes(rival, limit=9)) == 2, which


def _fragment(number: int, name: str) -> Fragment:
    nodes = (Node(node=name, name=name, label="thing", aliases=(f"alias {name}",)), _node("root"))
    relation = Relation(source="root", relation="knows", target=name)
    seen_at = SEEN + number * timedelta(minutes=1)
    return Fragment(memory_id=f"m{number}", seen_at=seen_at, nodes=nodes, relations=(relation,))


def _node(name: str) -> Node:
    return Node(node=name, name=name, label="thing")


@pytest.fixture(params=["sqlite", "postgres"])
def documents(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DocumentStore]:
    store: DocumentStore
    if request.param == "sqlite":
        store = SqliteDocuments(tmp_path / "m.db")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        store = PostgresDocuments(server.database(tmp_path))
    yield store
    store.close()


def test_in_documents(documents: DocumentStore) -> None:
    documents.apply("rival", [PutDocument(namespace=("rival",), key="rival", value='{"of": "the rival"}')])
    for number, payload in enumerate(TRIED):
        tenant, text = f"t{number}", payload.replace("\x00", "")
        put = PutDocument(namespace=(text, "x"), key=text, value=_json(text))
        assert documents.apply(tenant, [put]) == [None]
        (found,) = documents.apply(tenant, [GetDocument(namespace=(text, "x"), key=text)])
        assert found is not None
        assert (found.namespace, found.key, found.value) == ((text, "x"), text, {text: text, "said": text})
        asked = [
            FindDocuments(prefix=(text,)),
            FindDocuments(conditions={"said": text}),
            FindDocuments(prefix=("x",)),
            ListNamespaces(),
        ]
        under, equal, beside, names = documents.apply(tenant, asked)
        assert [one.key for one in under] == [one.key for one in equal] == [text]
        assert beside == []
        assert names == [(text, "x")]
    assert len(documents.apply("rival", [FindDocuments()])[0]) == 1


def _json(text: str) -> str:
    return json.dumps({text: text, "said": text})
