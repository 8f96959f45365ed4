"""backup and restore, as typed: checked, complete, and without those who were erased meanwhile."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import apsw
import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from tests.e2e.conftest import Call, complaint


def told(result):  # type: ignore[no-untyped-def]
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def exported(mnemic: Call, file: Path) -> list[str]:
    return sorted(mnemic("export", "--store", str(file)).stdout.splitlines())


def test_a_restored_file_says_the_same(mnemic: Call, store: Path, tmp_path: Path) -> None:
    mnemic("add", "vegan", "--key", "diet")
    mnemic("add", "omnivore", "--key", "diet")
    mnemic("add", "The office is open on Sundays.")
    taken = told(mnemic("backup", "monday", "--json"))
    assert taken["counts"]["memory"] == 3
    assert (tmp_path / "monday").stat().st_mode & 0o077 == 0
    restored = told(mnemic("restore", "monday", "--to", "again.db", "--json"))
    assert (restored["verified"], restored["erased_again"]) == (True, [])
    assert exported(mnemic, tmp_path / "again.db") == exported(mnemic, store)
    assert not [file.name for file in tmp_path.iterdir() if ".part" in file.name]
    assert (
        told(mnemic("audit", "verify", "--json", "--store", "again.db"))["last_hash"]
        == told(mnemic("audit", "verify", "--json"))["last_hash"]
    )
    assert "it must be empty or not exist yet" in " ".join(mnemic("restore", "--help").stdout.split())
    assert complaint(mnemic("restore", "monday", "--to", "again.db")).startswith("invalid_input:restore:exists")
    assert complaint(mnemic("backup", "monday")).startswith("invalid_input:backup:exists")
    assert complaint(mnemic("restore", "tuesday", "--to", "t.db")).startswith("invalid_input:backup:missing")


@pytest.mark.parametrize("how", ["erasures", "receipt"])
def test_nobody_comes_back_who_was_erased_since(mnemic: Call, store: Path, tmp_path: Path, how: str) -> None:
    canary = "zyxwvutbackupcanary"
    mnemic("add", f"{canary} is good.", user="cleo")
    mnemic("add", "A bystander stays.")
    mnemic("backup", "monday")
    assert canary.encode() in (tmp_path / "monday" / "memory.db").read_bytes()
    mnemic("erase", "cleo", "--yes", "--receipt", "r.json")
    given = ["--erasures", str(store)] if how == "erasures" else ["--receipt", "r.json"]
    restored = told(mnemic("restore", "monday", "--to", "again.db", "--json", *given))
    assert [one["complete"] for one in restored["erased_again"]] == [True]
    assert canary.encode() not in (tmp_path / "again.db").read_bytes()
    assert not list(tmp_path.glob("again.db-*"))
    assert mnemic("list", "--store", "again.db", user="cleo").stdout.strip() == "nothing remembered yet"
    assert "bystander" in mnemic("list", "--store", "again.db").stdout
    plain = mnemic("restore", "monday", "--to", "plain.db")
    assert "erased after this backup" in plain.stderr
    assert canary.encode() in (tmp_path / "plain.db").read_bytes()


def test_a_changed_copy_is_refused(mnemic: Call, tmp_path: Path) -> None:
    mnemic("add", "The sea is calm.")
    mnemic("backup", "monday")
    manifest, copy = tmp_path / "monday" / "manifest.json", tmp_path / "monday" / "memory.db"
    kept = copy.read_bytes()
    for place in range(100, len(kept), len(kept) // 7):
        copy.write_bytes(kept[:place] + bytes([kept[place] ^ 1]) + kept[place + 1 :])
        assert complaint(mnemic("restore", "monday", "--to", "no.db")).startswith("store_corrupt:backup")
    copy.write_bytes(kept)
    right = json.loads(manifest.read_text())
    for wrong in ({}, right | {"format": "x"}, right | {"counts": right["counts"] | {"memory": 2}}):
        manifest.write_text(json.dumps(wrong))
        assert complaint(mnemic("restore", "monday", "--to", "no.db")).startswith("store_corrupt:backup")
    manifest.write_text("no json")
    assert mnemic("restore", "monday", "--to", "no.db").exit_code == 4
    assert not list(tmp_path.glob("*no.db*"))


def test_a_backup_is_of_one_moment_while_others_write(mnemic: Call, store: Path, tmp_path: Path) -> None:
    enough = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        engine = MemoryEngine(store=SqliteStore(store, durability="fast"), embedder=WordEmbedder())
        with MemoryManager("ana", engine=engine) as memory:
            while not enough.is_set():
                memory.add(f"Statement {written} about ship {written * 7}.")
                written += 1

    mnemic("add", "The first.")
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(5):
            told(mnemic("backup", f"b{number}", "--json"))
    finally:
        enough.set()
        writer.join()
    assert written > 0
    for number in range(5):
        restored = told(mnemic("restore", f"b{number}", "--to", f"r{number}.db", "--json"))
        with apsw.Connection(str(tmp_path / f"r{number}.db")) as connection:
            ((memories, lines),) = connection.execute(
                "SELECT (SELECT count(*) FROM memory), (SELECT count(*) FROM audit)"
            )
        assert (memories, lines) == (restored["counts"]["memory"], restored["counts"]["audit"])
        assert memories == lines


def test_what_is_no_file_is_not_copied(mnemic: Call) -> None:
    assert mnemic("backup", "x", "--store", "memory:").exit_code == 4
    assert mnemic("restore", "x", "--to", "memory:").exit_code == 4


def test_doctor_names_what_a_killed_backup_has_left(mnemic: Call, tmp_path: Path) -> None:
    mnemic("add", "The sea is calm.")
    (tmp_path / ".monday.4194305.part").mkdir()
    checks = {one["check"]: one for one in json.loads(mnemic("doctor", "--json").stdout)["checks"]}
    assert (checks["leftovers"]["ok"], checks["leftovers"]["parts"]) == (False, [".monday.4194305.part"])
    mnemic("backup", "tuesday")
    assert not list(tmp_path.glob(".*.part"))


def test_restore_says_what_it_set_aside(mnemic: Call, store: Path) -> None:
    mnemic("add", "The sea is calm.")
    mnemic("backup", "monday")
    store.unlink()
    Path(f"{store}-wal").write_text("left by a process that was killed")
    done = mnemic("restore", "monday", "--to", str(store))
    assert f"set aside as {store.name}-wal.left" in done.stderr
    assert "The sea is calm." in mnemic("list").stdout


def test_one_damaged_row_is_named_forgotten_and_salvaged(mnemic: Call, store: Path, tmp_path: Path) -> None:
    for number in range(10):
        mnemic("add", f"Parcel {number} goes to a town.")
    with apsw.Connection(str(store)) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    data = bytearray(store.read_bytes())
    data[data.find(b'"content":"Parcel 4 goes') + 20] = 0xFF
    store.write_bytes(data)

    assert len(told(mnemic("list", "--json"))["memories"]) == 9
    assert "Parcel 7" in mnemic("search", "where does parcel 7 go?").stdout
    assert len(mnemic("export").stdout.splitlines()) == 9
    doctor = mnemic("doctor", "--json")
    assert doctor.exit_code == 4
    (rows,) = [one for one in json.loads(doctor.stdout)["checks"] if one["check"] == "rows"]
    hurt = rows["damaged"][0]["name"]
    assert hurt in mnemic("doctor").stdout
    assert complaint(mnemic("get", hurt)).startswith("store_corrupt:memory")
    refused = mnemic("backup", "monday")
    assert (refused.exit_code, hurt in refused.stderr) == (4, True)

    saved = mnemic("salvage", "saved.db", "--json")
    assert saved.exit_code == 4
    assert (json.loads(saved.stdout)["damaged"], json.loads(saved.stdout)["counts"]["memory"]) == ([hurt], 9)
    assert "damaged, left out" in mnemic("salvage", "again.db").stdout
    assert len(mnemic("export", "--store", "saved.db").stdout.splitlines()) == 9
    assert complaint(mnemic("salvage", "saved.db")).startswith("invalid_input:salvage:exists")
    assert mnemic("salvage", "x.db", "--store", "memory:").exit_code == 4

    assert mnemic("forget", hurt, "--yes").exit_code == 0
    assert told(mnemic("backup", "monday", "--json"))["counts"]["memory"] == 9
