"""Whatever a value or a query contains, it is text and nothing else: the SQLite store against the in-process one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Scope, Where

SYNTAX = (
    """ " ' '' "" * ^ ( ) : - + { } NEAR AND OR NOT content: -- ; % \\ s1t1 SELECT 1=1 $.a ? :scopes /* “ ” 猫 tea """
)
PIECES = st.sampled_from([*SYNTAX.split(), "\x00", "phrase MATCH", "DROP TABLE memory"])
TEXT = st.lists(PIECES | st.text(max_size=8), max_size=8).map(" ".join)
OWNERS = count()

Ask = Callable[[str, str], tuple[list[object], list[object]]]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "sealed"])
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """What both stores answer about a value and a query, in a scope of their own."""
    folder: Path = tmp_path_factory.mktemp("any-text")
    MasterKeys.make(folder / "master.key")
    keyring = KeyFolder(folder / "keys", folder / "master.key")
    sqlite = SqliteStore(folder / "m.db", durability="fast", keyring=keyring, seals=request.param)
    stores: list[RecordStore] = [sqlite, InProcessStore()]
    with asyncio.Runner() as runner:
        for store in stores:
            runner.run(store.open(EMBEDDER.space))

        def both(value: str, query: str) -> tuple[list[object], list[object]]:
            place = scope(f"user{next(OWNERS)}")
            names = (memory("").memory_id, memory("").memory_id)
            first, second = (runner.run(answers(store, place, names, value, query)) for store in stores)
            return first, second

        yield both
        for store in stores:
            runner.run(store.close())


async def answers(store: RecordStore, place: Scope, names: tuple[str, str], value: str, query: str) -> list[object]:
    plain = memory("plain tea", memory_id=names[0], scope=place, vector=None)
    odd = memory(value, memory_id=names[1], scope=place, key=value or None, category=value, context=value, vector=None)
    await remember(store, plain, odd)
    found: list[object] = [await store.get_many([*names, value, query], scopes=[place])]
    for text in (query, value, f'"{query}"', f'"{value}"'):
        ranked = await store.match(Where(scopes=(place,)), text, limit=9)
        found.append({entry.memory_id: round(entry.score, 6) for entry in ranked})
        for filters in ({"keys": frozenset({text})}, {"categories": frozenset({text})}):
            where = Where(scopes=(place,), **filters)
            found += [await store.newest(where, limit=9), await store.recent(where, limit=9)]
    return found


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(value=TEXT, query=TEXT)
@example(value='" OR 1=1 --', query='tea" OR content:"plain')
def test_both_stores_answer_alike(ask: Ask, value: str, query: str) -> None:
    stored, model = ask(value, query)
    assert stored == model
