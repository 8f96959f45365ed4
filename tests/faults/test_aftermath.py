"""The checks themselves: what they call whole is whole, and everything taken away from a file is noticed."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from tests.faults.aftermath import Stored, examine
from tests.faults.oracle import ADA, Answer, Call, Oracle, make

STATEMENT = "Kuvane belongs to ritoma and selune"

MISSING = {
    "DELETE FROM memory_search": "memory_without_search_entry",
    "UPDATE memory_search SET vector = NULL": "memory_without_search_entry",
    "DELETE FROM memory WHERE status = 'superseded'": "search_entry_without_memory",
    "DELETE FROM memory_version": "history_with_gap",
    "UPDATE memory_version SET memory_id = 'another'": "history_without_memory",
    "UPDATE scope SET changes = 0": "scope_behind_its_rows",
    "UPDATE memory SET scope_id = 99, row_id = (99 << 32) + (row_id & 4294967295)": "foreign_key",
    "DELETE FROM audit WHERE sequence = (SELECT max(sequence) - 2 FROM audit)": "version_without_audit",
    "UPDATE memory SET version = 1 WHERE version = 2": "audit_ahead_of_memory",
    "UPDATE memory SET memory_id = memory_id || 'x'": "audit_without_memory",
    "DELETE FROM outbox WHERE action = 'upsert'": "version_without_outbox",
    "DELETE FROM outbox WHERE sequence = (SELECT max(sequence) FROM outbox)": "removal_without_outbox",
    "UPDATE outbox SET version = 7": "outbox_without_audit",
    "UPDATE request SET receipt = json_set(receipt, '$.memory_id', 'another')": "receipt_without_memory",
}


async def write(path: Path) -> str:
    """Two values of a key, a correction, a memory that was forgotten; the identifier of the last one that is there."""
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await engine.add("Oslo", key="home_city", actor=ADA)
        await engine.add("Rome", key="home_city", actor=ADA, idempotency_key="once")
        known = await engine.add(STATEMENT, actor=ADA)
        gone = await engine.add("Tarelo belongs to nobody", actor=ADA)
        await engine.forget(gone.memory_id or "", actor=ADA)
    return known.memory_id or ""


@pytest.mark.parametrize(("sql", "what"), MISSING.items(), ids=MISSING.values())
async def test_what_is_taken_away_is_noticed(tmp_path: Path, sql: str, what: str) -> None:
    await write(tmp_path / "m.db")
    assert examine(tmp_path / "m.db").whole

    connection = apsw.Connection(str(tmp_path / "m.db"))
    connection.execute("DROP TRIGGER audit_is_never_shortened")
    connection.execute(sql)
    connection.close()

    assert what in examine(tmp_path / "m.db").halves


async def test_a_changed_audit_and_a_damaged_file_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await write(path)
    connection = apsw.Connection(str(path))
    connection.execute("DROP TRIGGER audit_is_never_changed")
    connection.execute("UPDATE audit SET event = replace(event, '\"ada\"', '\"eve\"') WHERE sequence = 2")
    connection.close()
    assert examine(path).damage == ("audit_chain:default",)

    content = bytearray(path.read_bytes())
    content[8192:20480] = b"\x07" * 12288
    path.write_bytes(content)
    assert examine(path).damage


async def test_the_oracle_tells_lost_from_half_done(tmp_path: Path) -> None:
    path, oracle = tmp_path / "m.db", Oracle()
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        for content in (STATEMENT, "Tarelo belongs to harbour and vatesi"):
            call = Call(verb="add", content=content)
            oracle.acknowledge(call, await make(engine, call))
    found = examine(path).memories
    first, second = found
    without, stale = {second: found[second]}, found | {first: Stored(2, "active", "Something else")}
    adding = Call(verb="add", content="New")
    new = found | {"new": Stored(1, "active", "New")}

    assert oracle.copy().judge(found, None) == oracle.copy().judge(found, adding)
    assert oracle.copy().judge(without, None).lost == (first,)
    assert oracle.copy().judge(without, adding).lost == (first,)
    assert oracle.copy().judge(without, Call(verb="forget", memory_id=first)).applied
    assert oracle.copy().judge(stale, None).partial == (first,)
    assert oracle.copy().judge(stale, Call(verb="update", memory_id=first, version=1, content="Right")).partial
    assert oracle.copy().judge(new, None).lost == ("new",)
    assert oracle.copy().judge(new, adding).applied
    assert oracle.copy().judge(new | {first: Stored(2, "superseded", STATEMENT)}, adding).partial
    assert oracle.copy().judge(found, None).lost == ()


def test_an_error_promises_nothing() -> None:
    oracle = Oracle()
    oracle.acknowledge(Call(verb="add", content=STATEMENT), Answer(error="store_full", broken=True))

    assert oracle.known == {}


async def test_lines_that_name_no_memory_are_no_halves(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    await write(path)
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await engine.erase("bob", actor=ADA)
        assert examine(path, outbox_emptied=True).whole
        await engine.erase("ada", actor=ADA)
    assert examine(path, outbox_emptied=True).whole
