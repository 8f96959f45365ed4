"""Only large scopes have postings, and results are the same with them."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Memory, Scored, Where
from tests.servers import PostgresServer

WORDS = "tea coffee harbour lisbon porto train cat dog green blue old new boat river hill rain sun snow".split()
ANA, BEN = scope("ana"), scope("ben")
QUERIES = ("tea", "harbour tea", '"old dog"', "snow hill rain lisbon", "nothing of it")
STORED = "SELECT count(*) FROM mnemic.term_posting"


def told(choice: random.Random, number: int, **fields: object) -> list[Memory]:
    return [memory(" ".join(choice.sample(WORDS, 5)), **fields) for _ in range(number)]  # type: ignore[arg-type]


@pytest_asyncio.fixture
async def store(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    """A store that leaves every search to the database, and treats scopes above 50 memories as large."""
    store = PostgresStore(postgres.database(tmp_path), exact_up_to=50, index_bytes=0)
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


async def matches(store: PostgresStore, *scopes: str) -> list[list[Scored]]:
    places = tuple(map(scope, scopes or ("ana",)))
    return [await store.match(Where(scopes=places), query, limit=30) for query in QUERIES]


async def moved(store: PostgresStore) -> None:
    """Move the large scopes into the indexes."""
    await store.match(Where(scopes=(ANA, BEN)), "tea", limit=1)
    await store.wait_until_moved()


def same(found: list[list[Scored]], expected: list[list[Scored]]) -> bool:
    """Compare the results of two searches: sums of floats in another order differ in the last digits."""
    rounded = [
        [sorted((round(entry.score, 9), entry.memory_id) for entry in one) for one in lists]
        for lists in (found, expected)
    ]
    return rounded[0] == rounded[1]


async def test_a_small_scope_has_no_postings_and_a_large_one_has(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    await remember(store, *told(random.Random(1), 40, scope=ANA))
    await moved(store)
    assert postgres.sql(STORED) == [(0,)]
    await remember(store, *told(random.Random(2), 20, scope=ANA), *told(random.Random(3), 9, scope=BEN))
    before = await matches(store, "ana", "ben")
    assert [bool(found) for found in before] == [True, True, True, True, False]
    await moved(store)
    assert postgres.sql(STORED) == [(300,)]
    assert same(await matches(store, "ana", "ben"), before)
    await remember(store, memory("green tea", scope=ANA), memory("green tea", scope=BEN))
    assert postgres.sql(STORED) == [(302,)]


async def test_the_index_in_memory_finds_what_the_database_finds(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    await remember(store, *told(random.Random(4), 60, scope=ANA))
    scanned = await matches(store)
    await moved(store)
    other = PostgresStore(postgres.dsn())
    await other.open(EMBEDDER.space)
    await other.match(Where(scopes=(ANA,)), "tea", limit=1)
    await other.wait_until_moved()
    in_memory = await matches(other)
    await other.close()
    for lists in (scanned, await matches(store)):
        for found, expected in zip(lists, in_memory, strict=True):
            assert [round(entry.score, 4) for entry in found] == [round(entry.score, 4) for entry in expected]


async def test_changes_are_followed_before_during_and_after_the_move(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    kept = told(random.Random(5), 60, scope=ANA)
    await remember(store, *kept)
    # An interrupted move: some rows are in the indexes, the scope is not marked as moved.
    await moved(store)
    postgres.sql("UPDATE mnemic.scope SET large = false")
    first, second, third = kept[:3]
    changed = first.next_version(first.updated_at, content="zebra crossing", fingerprint="zebra")
    await store.transact(lambda transaction: transaction.replace(changed))
    await store.transact(lambda transaction: transaction.remove(second.memory_id, scope=ANA))
    assert [entry.memory_id for entry in await store.match(Where(scopes=(ANA,)), "zebra", limit=9)] == [first.memory_id]
    await moved(store)
    assert [entry.memory_id for entry in await store.match(Where(scopes=(ANA,)), "zebra", limit=9)] == [first.memory_id]
    again = third.next_version(third.updated_at, content="yak wool", fingerprint="yak")
    await store.transact(lambda transaction: transaction.replace(again))
    assert [entry.memory_id for entry in await store.match(Where(scopes=(ANA,)), "yak", limit=9)] == [third.memory_id]
    of_nobody = (
        "SELECT count(*) FROM mnemic.term_posting p WHERE NOT EXISTS "
        "(SELECT FROM mnemic.memory m WHERE m.tenant = p.tenant AND m.number = p.number)"
    )
    assert postgres.sql(of_nobody) == [(0,)]
    assert postgres.sql(STORED) == [(57 * 5 + 2 + 2,)]


async def test_the_terms_that_the_server_unpacks_are_those_that_were_packed(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    texts = ["Don't forget José's naïve café, 1,200.50 EUR!", "東京 タワー 東京", "the the the", "x" * 200, "-1 0 00"]
    await remember(store, *(memory(text, scope=BEN) for text in texts))
    unpacked = (
        "SELECT e.* FROM mnemic.memory m CROSS JOIN LATERAL mnemic.postings_of(m.content, m.context) e "
        "ORDER BY m.number, e.term"
    )
    of_the_server = postgres.sql(unpacked)
    postgres.sql("UPDATE mnemic.scope SET large = true", "UPDATE mnemic.memory SET large = true")
    other = scope("other")
    await remember(store, memory("seed", scope=other))
    postgres.sql("UPDATE mnemic.scope SET large = true", "UPDATE mnemic.memory SET large = true")
    await remember(store, *(memory(text, scope=other) for text in texts))
    of_the_client = postgres.sql("SELECT term, content, context FROM mnemic.term_posting ORDER BY number, term")
    assert list(map(tuple, of_the_server)) == list(map(tuple, of_the_client))
