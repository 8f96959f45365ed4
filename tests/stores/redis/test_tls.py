"""`rediss://`: connections use TLS, and only if the trusted authority has signed the server's certificate."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.bootstrap import build_sessions
from mnemic.engine import MemoryEngine
from mnemic.errors import StoreFailed
from mnemic.runtime.clock import SystemClock
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.redis import RedisLink, RedisSessions
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Level, Message, Scope
from tests.tls import Authority, TlsFront
from tests.valkey import ValkeyServer

SESSION = Scope(tenant="acme", level=Level.SESSION, owner="s")
HOUR = timedelta(hours=1)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def front(valkey: ValkeyServer, authority: Authority) -> AsyncIterator[TlsFront]:
    async with TlsFront(valkey.address, authority.server_context()) as front:
        yield front


def url(front: TlsFront, ca: Path, scheme: str = "rediss") -> str:
    return f"{scheme}://127.0.0.1:{front.port}/0?ssl_ca_certs={ca}"


async def test_conversations_and_hot_set_go_through_tls(front: TlsFront, authority: Authority) -> None:
    sessions, copies = build_sessions(url(front, authority.ca), SystemClock())
    ana = Actor(user="ana", session="s")
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), sessions=sessions, projections=copies)
    async with engine:
        await sessions.append(SESSION, Message(role="user", content="hello"), ttl=HOUR, keep=9)
        assert [told.content for told in await sessions.tail(SESSION, limit=9)] == ["hello"]
        await engine.hot(actor=ana)
        receipt = await engine.add("Likes tea.", actor=ana)
        newest = await engine.hot(actor=ana)
        assert receipt.degraded == ()
        assert ([hit.memory.content for hit in newest.hits], newest.errors) == (["Likes tea."], {})
    assert front.handshakes >= 1


async def test_a_certificate_of_somebody_else_is_refused(front: TlsFront, valkey: ValkeyServer, tmp_path: Path) -> None:
    stranger = Authority(tmp_path, "stranger")
    sessions = RedisSessions(RedisLink(url(front, stranger.ca), seconds=30))
    with pytest.raises(StoreFailed) as refused:
        await sessions.append(SESSION, Message(role="user", content="hello"), ttl=HOUR, keep=9)
    assert refused.value.reason.startswith("store_unavailable")
    assert valkey.names() == []
    await sessions.close()


async def test_without_tls_nothing_gets_through(front: TlsFront, authority: Authority, valkey: ValkeyServer) -> None:
    sessions = RedisSessions(RedisLink(f"redis://127.0.0.1:{front.port}/0", seconds=30))
    with pytest.raises(StoreFailed):
        await sessions.append(SESSION, Message(role="user", content="hello"), ttl=HOUR, keep=9)
    assert valkey.names() == []
    await sessions.close()
