"""One file, many processes: nobody is turned away, nothing is lost, everybody sees everything."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.errors import VersionConflict
from mnemic.ports import Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Where

WHERE = Where(scopes=(scope(),))
SPAWN = multiprocessing.get_context("spawn")


def in_processes(count: int, target: Callable[..., None], path: Path) -> list[int | None]:
    """The exit codes of `count` processes that all run `target(path, number)` from about the same moment."""
    gate = SPAWN.Barrier(count)
    processes = [SPAWN.Process(target=target, args=(path, number, gate)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    return [process.exitcode for process in processes]


def write_hundred(path: Path, number: int, gate: multiprocessing.synchronize.Barrier) -> None:
    """Read, then write, a hundred times: each fact is written by two processes, so half of them find it there."""

    async def main() -> None:
        store = SqliteStore(path)
        gate.wait()
        await store.open(EMBEDDER.space)
        for turn in range(100):
            await store.transact(lambda transaction, turn=turn: one(transaction, turn))
        assert await store.match(WHERE, f"fact {number // 2}x99", limit=1)
        await store.close()

    async def one(transaction: Transaction, turn: int) -> None:
        fingerprint = f"fact {number // 2}x{turn}"
        if await transaction.find_fingerprint(scope(), fingerprint) is None:
            await transaction.insert(memory(fingerprint, fingerprint=fingerprint))
        await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor=f"p{number}"))

    asyncio.run(main())


def open_first(path: Path, number: int, gate: multiprocessing.synchronize.Barrier) -> None:
    """Open a file that nobody has made yet, and write to it."""

    async def main() -> None:
        for attempt in range(5):
            store = SqliteStore(path.with_suffix(f".{attempt}"))
            gate.wait()
            await store.open(EMBEDDER.space)
            await remember(store, memory(f"process {number}"))
            await store.close()

    asyncio.run(main())


@pytest.mark.faults
@pytest.mark.slow
async def test_eight_processes_read_then_write_without_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    assert in_processes(8, write_hundred, path) == [0] * 8
    store = SqliteStore(path)
    await store.open(EMBEDDER.space)
    assert await store.count(WHERE) == 400
    lines = await store.audit("acme")
    assert len(lines) == 800
    assert first_broken(lines) is None
    with pytest.raises(VersionConflict):
        await remember(store, memory("again", fingerprint="fact 0x0"))
    await store.close()


@pytest.mark.faults
@pytest.mark.slow
async def test_many_processes_create_one_file_at_once(tmp_path: Path) -> None:
    assert in_processes(8, open_first, tmp_path / "m") == [0] * 8
    for attempt in range(5):
        store = SqliteStore(tmp_path / f"m.{attempt}")
        await store.open(EMBEDDER.space)
        assert await store.count(WHERE) == 8
        await store.close()
