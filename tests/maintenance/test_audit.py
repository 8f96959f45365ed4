"""Any changed byte of any line of the audit is found; everything injected can be listed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from mnemic.engine import MemoryEngine
from mnemic.types import Actor
from tests.faults.scale import size

FLIPS = size(300, 10_000)


def forced(path: Path, work: Callable[[apsw.Connection], Any]) -> Any:
    """Run `work` on the file without its triggers, as an attacker with access to it could."""
    connection = apsw.Connection(str(path))
    try:
        connection.execute("DROP TRIGGER IF EXISTS audit_is_never_changed")
        connection.execute("DROP TRIGGER IF EXISTS audit_is_never_shortened")
        return work(connection)
    finally:
        connection.close()


def flipped(text: str, place: int, bit: int) -> bytes:
    data = bytearray(text.encode())
    data[place % len(data)] ^= 1 << bit
    return bytes(data)


async def test_a_flipped_bit_is_found_wherever_it_is(engine: MemoryEngine, ana: Actor, tmp_path: Path) -> None:
    for number in range(8):
        await engine.add(f"Fact {number} about ships.", actor=ana)
    path, chance = tmp_path / "m.db", random.Random(5)
    rows = await asyncio.to_thread(
        forced, path, lambda connection: list(connection.execute("SELECT sequence, event, hash FROM audit"))
    )
    write = "UPDATE audit SET event = CAST(? AS TEXT), hash = CAST(? AS TEXT) WHERE sequence = ?"
    for _ in range(FLIPS):
        sequence, event, digest = chance.choice(rows)
        changed = [event.encode(), digest.encode()]
        side = chance.randrange(2)
        changed[side] = flipped((event, digest)[side], chance.randrange(10_000), chance.randrange(8))
        await asyncio.to_thread(
            forced, path, lambda connection, given=(*changed, sequence): connection.execute(write, given)
        )
        assert (await engine.verify_audit(actor=ana)).broken_at in (sequence, sequence + 1)
        restored = (event.encode(), digest.encode(), sequence)
        await asyncio.to_thread(forced, path, lambda connection, given=restored: connection.execute(write, given))
    report = await engine.verify_audit(actor=ana)
    assert (report.broken_at, report.lines) == (None, 8)


async def test_a_line_taken_out_of_the_middle_is_found_and_a_cut_end_changes_the_last_hash(
    engine: MemoryEngine, ana: Actor, tmp_path: Path
) -> None:
    for number in range(8):
        await engine.add(f"Fact {number} about ships.", actor=ana)
    last_hash = (await engine.verify_audit(actor=ana)).last_hash
    cut = "DELETE FROM audit WHERE sequence = ?"
    await asyncio.to_thread(forced, tmp_path / "m.db", lambda connection: connection.execute(cut, (8,)))
    report = await engine.verify_audit(actor=ana)
    assert report.broken_at is None
    assert report.last_hash != last_hash
    await asyncio.to_thread(forced, tmp_path / "m.db", lambda connection: connection.execute(cut, (4,)))
    assert (await engine.verify_audit(actor=ana)).broken_at == 5


async def test_everything_injected_in_a_run_can_be_listed(engine: MemoryEngine, ana: Actor) -> None:
    kept = [(await engine.add(text, actor=ana)).memory_id for text in ("My cat is Miso.", "My dog is Rex.")]
    report = await engine.run(actor=ana, goal="Who are my cat and my dog?")
    injected = [event for event in await engine.audit(actor=ana) if event.action == "injected"]
    (line,) = [event for event in injected if event.detail["run_id"] == report.run_id]
    listed = {memory_id for memory_id, _ in line.detail["memories"]}  # type: ignore[union-attr, misc]
    assert listed == set(report.audit.injected) == set(kept)
