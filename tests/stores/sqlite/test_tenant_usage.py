"""The usage of a tenant in a file is a total that triggers keep: as exact as a sum, at the cost of a row."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path

import apsw

from mnemic.stores.relational.statements import load
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Kind, Memory, Usage

_STATEMENT = load("jobs", "sqlite")["usage_of_tenant"]
_FAR = datetime(2100, 1, 1, tzinfo=UTC)


def steps(path: Path) -> int:
    """Return the number of instructions that SQLite runs for the usage of a tenant."""
    taken = 0

    def one() -> bool:
        nonlocal taken
        taken += 1
        return False

    connection = apsw.Connection(str(path))
    connection.set_progress_handler(one, 1)
    connection.execute(_STATEMENT, ("acme",)).fetchall()
    connection.close()
    return taken


def fill(path: Path, users: range) -> None:
    connection = apsw.Connection(str(path))
    with connection:
        connection.executemany(
            "INSERT INTO usage VALUES ('acme', ?, 'long_term', 1, 100)", [(10 + number,) for number in users]
        )
    connection.close()


async def test_the_usage_of_a_tenant_takes_as_many_steps_with_a_thousand_users_as_with_ten(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    fill(path, range(10))
    few = steps(path)
    fill(path, range(10, 1_000))
    assert steps(path) == few
    assert (await store.usage("acme", since=_FAR))[Kind.LONG_TERM] == Usage(rows=1_000, bytes=100_000, recent=0)
    await store.close()


async def test_the_total_is_the_sum_of_the_users_whatever_is_written_and_removed(tmp_path: Path) -> None:
    store, choice = SqliteStore(tmp_path / "m.db"), random.Random(7)
    await store.open(EMBEDDER.space)
    there: list[Memory] = []
    users = [scope(f"user{number}") for number in range(4)]
    kinds = (Kind.LONG_TERM, Kind.EPISODIC)
    for step in range(60):
        if there and choice.random() < 0.4:
            gone = there.pop(choice.randrange(len(there)))
            await store.transact(lambda change, gone=gone: change.remove(gone.memory_id, scope=gone.scope))  # type: ignore[misc]
        else:
            made = memory(f"tea {step * 'x'}", scope=choice.choice(users), kind=choice.choice(kinds))
            await remember(store, made)
            there.append(made)
        total = await store.usage("acme", since=_FAR)
        single = [await store.usage("acme", since=_FAR, scope=one) for one in users]
        for kind in kinds:
            parts = [one[kind] for one in single if kind in one]
            found = total.get(kind, Usage(rows=0, bytes=0, recent=0))
            assert (found.rows, found.bytes) == (sum(part.rows for part in parts), sum(part.bytes for part in parts))
    await store.close()
