"""A tenant with one memory in a thousand gets all of its own and nothing else, also from the approximate index."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Scope, Where
from tests.faults.scale import size
from tests.servers import PostgresServer

WORDS = "tea coffee harbour lisbon porto train cat dog green blue old new boat river hill rain sun snow".split()
CROWDS = 4
EACH = size(120, 5_000)
FEW = max(2, CROWDS * EACH // 1000)
CALLS = size(200, 100_000)
EVERYTHING_LARGE = (
    "UPDATE mnemic.memory SET large = true",
    "UPDATE mnemic.scope SET large = true",
    (
        "INSERT INTO mnemic.term_posting "
        "SELECT m.tenant, m.scope_id, p.term, m.number, p.content, p.context, m.content_length, m.context_length, true "
        "FROM mnemic.memory m CROSS JOIN LATERAL mnemic.postings_of(m.content, m.context) p"
    ),
)
TENANTS = ("tiny", *(f"crowd{number}" for number in range(CROWDS)))


def home(tenant: str) -> Scope:
    """Owners have the same name everywhere, and memories the same identifiers."""
    return scope("ada", tenant=tenant)


@pytest_asyncio.fixture
async def stores(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[dict[str, PostgresStore]]:
    """A full database through memory, exactly, and with every row in the approximate index."""
    made = {
        "in memory": PostgresStore(postgres.database(tmp_path), statement_timeout=60),
        "in the database": PostgresStore(postgres.dsn(), index_bytes=0, exact_up_to=10**6, statement_timeout=60),
    }
    for store in made.values():
        await store.open(EMBEDDER.space)
    choice = random.Random(15)
    for tenant in TENANTS:
        number = FEW if tenant == "tiny" else EACH
        texts = [" ".join(choice.sample(WORDS, 6)) for _ in range(number)]
        told = [memory(f"{text} {tenant}", scope=home(tenant), memory_id=f"m{n}") for n, text in enumerate(texts)]
        await remember(made["in memory"], *told)
    postgres.sql(*EVERYTHING_LARGE)
    yield made
    for store in made.values():
        await store.close()


@pytest.mark.parametrize("how", ["in memory", "in the database"])
async def test_a_tiny_tenant_gets_everything_it_has(stores: dict[str, PostgresStore], how: str) -> None:
    choice = random.Random(16)
    where = Where(scopes=(home("tiny"),))
    for _ in range(size(20, 200)):
        vector = EMBEDDER.vector(" ".join(choice.sample(WORDS, 3)))
        for limit in (1, 5, FEW + 5):
            found = await stores[how].nearest(where, vector, limit=limit)
            assert len({entry.memory_id for entry in found}) == min(limit, FEW)
    assert len(await stores[how].match(where, "tiny", limit=FEW + 5)) == FEW


async def test_calls_of_any_tenant_see_none_of_another(stores: dict[str, PostgresStore]) -> None:
    choice = random.Random(17)
    for _ in range(CALLS):
        store = stores[choice.choice(list(stores))]
        tenant = choice.choice(TENANTS)
        number = FEW if tenant == "tiny" else EACH
        what, found = await choice.choice(_ASKED)(store, tenant, choice)
        contents = await store.get_many(found, scopes=[home(tenant)])
        assert len(contents) == len(found), what
        assert {one.scope.tenant for one in contents.values()} <= {tenant}, what
        assert all(one.content.endswith(tenant) for one in contents.values()), what
        assert all(int(memory_id[1:]) < number for memory_id in found), what


_Asked = Callable[[PostgresStore, str, random.Random], Awaitable[tuple[str, list[str]]]]


async def _nearest(store: PostgresStore, tenant: str, choice: random.Random) -> tuple[str, list[str]]:
    vector = EMBEDDER.vector(" ".join(choice.sample(WORDS, 3)))
    return "nearest", _ids(await store.nearest(Where(scopes=(home(tenant),)), vector, limit=10))


async def _match(store: PostgresStore, tenant: str, choice: random.Random) -> tuple[str, list[str]]:
    words = f"{choice.choice(WORDS)} {choice.choice(TENANTS)}"
    return "match", _ids(await store.match(Where(scopes=(home(tenant),)), words, limit=10))


async def _recent(store: PostgresStore, tenant: str, choice: random.Random) -> tuple[str, list[str]]:
    return "recent", _ids(await store.recent(Where(scopes=(home(tenant),)), limit=10))


async def _newest(store: PostgresStore, tenant: str, choice: random.Random) -> tuple[str, list[str]]:
    before = f"m{choice.randrange(EACH)}"
    return "newest", _ids(await store.newest(Where(scopes=(home(tenant),)), limit=10, before=before))


async def _named(store: PostgresStore, tenant: str, choice: random.Random) -> tuple[str, list[str]]:
    wanted = [f"m{choice.randrange(EACH)}" for _ in range(5)]
    return "get_many", list(await store.get_many(wanted, scopes=[home(tenant)]))


async def _signalled(store: PostgresStore, tenant: str, choice: random.Random) -> tuple[str, list[str]]:
    wanted = [f"m{choice.randrange(EACH)}" for _ in range(5)]
    return "signals", list(await store.signals(Where(scopes=(home(tenant),)), wanted))


_ASKED: tuple[_Asked, ...] = (_nearest, _match, _recent, _newest, _named, _signalled)


def _ids(found: list[Any]) -> list[str]:
    return [one.memory_id for one in found]
