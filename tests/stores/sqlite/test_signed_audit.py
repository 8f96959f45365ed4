"""An audit under a master key: who can write rows can make hashes, and no signatures."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import KeyFailed
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import Keyring
from mnemic.stores.audit_chain import first_broken, follows, link
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor

ANA = Actor(tenant="acme", user="ana")


def ring(folder: Path) -> KeyFolder:
    key_file = folder / "master.key"
    if not key_file.exists():
        MasterKeys.make(key_file)
    return KeyFolder(folder / "keys", key_file)


def engine(folder: Path, keyring: Keyring | None) -> MemoryEngine:
    store = SqliteStore(folder / "m.db", durability="fast", keyring=keyring)
    return MemoryEngine(store=store, embedder=WordEmbedder(), keyring=keyring)


async def said(folder: Path, keyring: Keyring | None, *words: str) -> None:
    async with engine(folder, keyring) as opened:
        for one in words:
            await opened.add(f"Tea with {one} in Bergen", actor=ANA)


def rewritten(path: Path, *, signed: str = "") -> None:
    """Say that somebody else did it, and make all hashes new."""
    connection = apsw.Connection(str(path))
    triggers = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'audit%'")
    for (name,) in triggers.fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    previous = ""
    for sequence, event in connection.execute(
        "SELECT sequence, event FROM audit WHERE tenant = 'acme' ORDER BY sequence"
    ).fetchall():
        changed = event.replace('"actor":"ana"', '"actor":"eve"')
        previous = link(previous, changed) + signed
        connection.execute(
            "UPDATE audit SET event = ?, hash = ? WHERE tenant = 'acme' AND sequence = ?", (changed, previous, sequence)
        )
    connection.close()


async def test_every_line_is_signed_and_checked(tmp_path: Path) -> None:
    await said(tmp_path, ring(tmp_path), "Kim", "Lou")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        report = await opened.verify_audit(actor=ANA)
        lines = await opened.audit(actor=ANA)
    assert report.broken_at is None
    assert (report.signed, report.signed_to, report.signatures_checked) == (report.lines, report.lines, True)
    assert first_broken(lines) is None


async def test_a_chain_that_was_made_new_does_not_hold(tmp_path: Path) -> None:
    await said(tmp_path, ring(tmp_path), "Kim", "Lou")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        signature = ":" + (await opened.audit(actor=ANA))[0].hash.partition(":")[2]
    rewritten(tmp_path / "m.db", signed=signature)
    async with engine(tmp_path, ring(tmp_path)) as opened:
        assert (await opened.verify_audit(actor=ANA)).broken_at == 1
    async with engine(tmp_path, None) as opened:
        report = await opened.verify_audit(actor=ANA)
    assert (report.broken_at, report.signatures_checked) == (None, False)


async def test_a_chain_that_was_made_new_without_signatures_is_told_of(tmp_path: Path) -> None:
    """The key folder remembers what the store does not say any more, once somebody has checked the lines."""
    await said(tmp_path, ring(tmp_path), "Kim", "Lou")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        assert (await opened.verify_audit(actor=ANA)).unsigned_at is None
    rewritten(tmp_path / "m.db")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        report = await opened.verify_audit(actor=ANA)
    assert (report.signed, report.signed_to, report.broken_at, report.unsigned_at) == (0, 0, None, 1)
    async with engine(tmp_path, None) as opened:
        assert (await opened.verify_audit(actor=ANA)).unsigned_at is None


async def test_maintenance_is_enough_for_the_key_folder_to_remember(tmp_path: Path) -> None:
    """Nobody has checked the lines yet when they are made new, and there is one alone."""
    await said(tmp_path, ring(tmp_path), "Kim")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        await opened.maintain(actor=ANA, dry_run=True)
        assert ring(tmp_path).signed_since("acme", None) is None
        await opened.maintain(actor=ANA)
        assert ring(tmp_path).signed_since("acme", None) == 1
        await opened.maintain(actor=ANA)
    rewritten(tmp_path / "m.db")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        assert (await opened.verify_audit(actor=ANA)).unsigned_at == 1


async def test_maintenance_of_an_audit_without_a_signature_remembers_nothing(tmp_path: Path) -> None:
    await said(tmp_path, None, "Kim")
    async with engine(tmp_path, None) as opened:
        await opened.maintain(actor=ANA)
    rewritten(tmp_path / "m.db")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        assert (await opened.verify_audit(actor=ANA)).unsigned_at is None


async def test_one_signature_that_was_taken_away_is_told_of(tmp_path: Path) -> None:
    await said(tmp_path, ring(tmp_path), "Kim", "Lou", "Max")
    connection = apsw.Connection(str(tmp_path / "m.db"))
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE audit SET hash = substr(hash, 1, 64) WHERE tenant = 'acme' AND sequence = 3")
    connection.close()
    async with engine(tmp_path, None) as opened:
        assert (await opened.verify_audit(actor=ANA)).unsigned_at == 3


async def test_what_remembers_the_signed_lines_and_is_damaged_says_so(tmp_path: Path) -> None:
    await said(tmp_path, ring(tmp_path), "Kim")
    (tmp_path / "keys" / "signed.json").write_text("[1]")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        with pytest.raises(KeyFailed):
            await opened.verify_audit(actor=ANA)


async def test_lines_from_before_there_was_a_key_stay_verifiable(tmp_path: Path) -> None:
    await said(tmp_path, None, "Kim")
    async with engine(tmp_path, None) as opened:
        before = await opened.verify_audit(actor=ANA)
    assert (before.signed, before.broken_at) == (0, None)
    await said(tmp_path, ring(tmp_path), "Lou")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        after = await opened.verify_audit(actor=ANA)
    assert after.broken_at is None
    assert (after.signed, after.signed_to) == (after.lines - before.lines, after.lines)
    await said(tmp_path, None, "Max")
    async with engine(tmp_path, ring(tmp_path)) as opened:
        unsigned = await opened.verify_audit(actor=ANA)
    assert (unsigned.broken_at, unsigned.signed_to) == (None, after.lines)
    assert (after.unsigned_at, unsigned.unsigned_at) == (None, after.lines + 1)
    assert unsigned.lines > after.lines


async def test_a_changed_line_is_broken_with_the_key_and_without_it(tmp_path: Path) -> None:
    await said(tmp_path, ring(tmp_path), "Kim", "Lou")
    connection = apsw.Connection(str(tmp_path / "m.db"))
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        if name.startswith("audit"):
            connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE audit SET event = replace(event, '\"ana\"', '\"eve\"') WHERE sequence = 2")
    connection.close()
    for keyring in (ring(tmp_path), None):
        async with engine(tmp_path, keyring) as opened:
            assert (await opened.verify_audit(actor=ANA)).broken_at == 2


async def test_a_line_that_cannot_be_read_is_told_as_broken(tmp_path: Path) -> None:
    await said(tmp_path, ring(tmp_path), "Kim")
    connection = apsw.Connection(str(tmp_path / "m.db"))
    for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
        if name.startswith("audit"):
            connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE audit SET event = 'none' WHERE sequence = 1")
    connection.close()
    async with engine(tmp_path, ring(tmp_path)) as opened:
        report = await opened.verify_audit(actor=ANA)
    assert (report.broken_at, report.signed) == (1, 0)


def test_a_signature_by_another_key_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    ours, theirs = ring(tmp_path / "a"), ring(tmp_path / "b")
    hashed = link("", "line", lambda text: ours.sign(text.encode()))
    assert follows(hashed, "", "line", lambda text: ours.sign(text.encode()))
    assert follows(hashed, "", "line")
    assert not follows(hashed, "", "line", lambda text: theirs.sign(text.encode()))
    assert not follows(hashed, "before", "line")
    assert not follows(hashed.partition(":")[0] + ":", "", "line", lambda text: ours.sign(text.encode()))


def test_the_key_that_signs_outlives_the_master_key_and_is_no_subjects(tmp_path: Path) -> None:
    first = ring(tmp_path)
    signature = first.sign(b"line")
    assert first.count() == (0, 0, 0)
    assert first.rotate() == 1
    assert ring(tmp_path).sign(b"line") == signature == first.sign(b"line")
    assert ring(tmp_path).sign(b"other") != signature


def test_a_key_folder_that_has_lost_the_key_says_so(tmp_path: Path) -> None:
    keyring = ring(tmp_path)
    keyring.sign(b"line")
    (file,) = (one for one in (tmp_path / "keys").glob("[0-9a-f][0-9a-f]/*"))
    file.write_text('{"format": "mnemic-key/1", "generation": 1, "master": "", "wrapped": null}', encoding="utf-8")
    with pytest.raises(KeyFailed):
        ring(tmp_path).sign(b"line")


def test_an_event_says_whether_it_is_signed(tmp_path: Path) -> None:
    from mnemic.types import AuditEvent

    event = AuditEvent(tenant="acme", action="created", at=datetime(2026, 11, 23, tzinfo=UTC), actor="ana", hash="ab")
    assert not event.signed
    assert replace(event, hash="ab:cd:ef").signed
