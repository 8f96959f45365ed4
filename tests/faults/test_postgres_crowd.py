"""One database and one Redis, many processes, the whole engine: what test_crowd.py does with a file, on servers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mnemic.stores.audit_chain import first_broken
from mnemic.stores.redis import RedisHotSet, RedisLink
from mnemic.types import AuditEvent, Level, Memory
from tests.faults.many_processes import crowded_engine, run_crowd
from tests.faults.oracle import ADA
from tests.faults.scale import size
from tests.servers import PostgresServer
from tests.valkey import ValkeyServer


async def examined(dsn: str, valkey: ValkeyServer) -> list[Memory]:
    """What ADA has, newest first, once the audit, the outbox and the hot set were found to agree with it."""
    async with crowded_engine(dsn, valkey.url) as engine:
        kept = await engine.list(actor=ADA, limit=10_000)
        assert await engine.store.pending(limit=1) == []
        lines: list[AuditEvent] = []
        while page := await engine.store.audit("default", after=len(lines)):
            lines += page
        assert first_broken(lines) is None
        assert {one.memory_id for one in kept} <= {line.memory_id for line in lines}
        await engine.hot(actor=ADA)  # fills it, where it was not
        hot = RedisHotSet(RedisLink(valkey.url, seconds=30))
        known = await hot.newest(ADA.scope(Level.USER), limit=10_000)
        await hot.close()
        assert known is not None
        assert set(known.memory_ids) <= {one.memory_id for one in kept}
        return kept


async def test_eight_processes_read_then_write(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn, turns = postgres.database(tmp_path), size(15, 150)
    seen = run_crowd(dsn, "each_its_own", processes=8, turns=turns, sessions=valkey.url)
    kept = await examined(dsn, valkey)
    say(f"PostgreSQL and Valkey, 8 processes x {turns} adds: {dict(seen)}, {len(kept)} memories")
    assert seen == {"created": 8 * turns}
    assert len(kept) == 8 * turns


def test_everybody_opens_a_new_database_first(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    processes, rounds = 20, size(1, 100)
    for number in range(rounds):
        dsn = postgres.database(tmp_path / str(number))
        assert run_crowd(dsn, "one_only", processes=processes, sessions=valkey.url) == {"created": processes}
        assert postgres.sql("SELECT count(*) AS found FROM mnemic.memory")[0]["found"] == processes
    say(f"PostgreSQL and Valkey, {processes} first openers x {rounds} rounds: 0 errors")


async def test_the_same_said_by_all_makes_one_memory_each(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn, turns = postgres.database(tmp_path), size(15, 100)
    seen = run_crowd(dsn, "all_the_same", processes=8, turns=turns, sessions=valkey.url)
    kept = await examined(dsn, valkey)
    say(f"PostgreSQL and Valkey, 8 processes x {turns} identical adds: {dict(seen)}, {len(kept)} memories")
    assert seen == {"created": turns, "refreshed": 7 * turns}
    assert len(kept) == turns


async def test_editors_of_one_memory(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn = postgres.database(tmp_path)
    async with crowded_engine(dsn, valkey.url) as engine:
        memory_id = (await engine.add("Nobody has edited this", actor=ADA)).memory_id
        assert memory_id is not None
    turns = size(3, 10)
    seen = run_crowd(dsn, "editors", processes=5, turns=turns, sessions=valkey.url)
    async with crowded_engine(dsn, valkey.url) as engine:
        history = await engine.history(memory_id, actor=ADA)
    say(f"PostgreSQL and Valkey, {5 * turns} editors of one memory: {dict(seen)}, version {history[-1].version}")
    assert seen["at_once"] == 1
    assert seen["later"] == 5 * turns - 1
    assert set(seen) == {"at_once", "later", "version_conflict"}
    assert [memory.version for memory in history] == list(range(1, 5 * turns + 2))
    assert len(await examined(dsn, valkey)) == 1
