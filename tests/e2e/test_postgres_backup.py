"""backup and restore of a database, as typed: of one moment, checked, and nobody comes back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from click.testing import Result

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.backup import NOT_COPIED, TABLES
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval.temporary_database import ScratchDatabase
from tests.azure_search import KEY, AzureSearchServer
from tests.e2e.conftest import Call, complaint
from tests.processes import running
from tests.servers import PostgresServer


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> str:
    """A database of the test's own."""
    return postgres.database(tmp_path)


@pytest.fixture
def empty(postgres: PostgresServer) -> Iterator[str]:
    """The address of a further database in which nothing is."""
    with ScratchDatabase(postgres.dsn()) as scratch:
        yield scratch.location


def told(result: Result) -> Any:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def at(dsn: str) -> tuple[str, str]:
    return "--store", dsn


def lines(mnemic: Call, dsn: str) -> list[str]:
    return sorted(mnemic("export", *at(dsn)).stdout.splitlines())


def test_a_restored_database_says_the_same_and_goes_on(mnemic: Call, dsn: str, empty: str, tmp_path: Path) -> None:
    mnemic("add", "vegan", "--key", "diet", *at(dsn))
    mnemic("add", "omnivore", "--key", "diet", *at(dsn))
    mnemic("add", "The office\nis open on Sundays: Größe, 日本.", *at(dsn))
    taken = told(mnemic("backup", "monday", "--json", *at(dsn)))
    assert (taken["counts"]["memory"], taken["counts"]["memory_version"], taken["store"]) == (3, 1, "postgres")
    assert (tmp_path / "monday").stat().st_mode & 0o077 == 0
    restored = told(mnemic("restore", "monday", "--to", empty, "--json", *at(dsn)))
    assert (restored["verified"], restored["erased_again"]) == (True, [])
    assert lines(mnemic, empty) == lines(mnemic, dsn)
    same = [told(mnemic("audit", "verify", "--json", *at(each)))["last_hash"] for each in (dsn, empty)]
    assert same[0] == same[1]
    assert told(mnemic("search", "open on Sundays", "--json", *at(empty)))["hits"][0]["memory"]["content"]
    assert told(mnemic("add", "vegan", "--key", "diet", "--json", *at(empty)))["outcome"] == "superseded"
    assert told(mnemic("add", "Something new.", "--json", *at(empty)))["outcome"] == "created"
    assert complaint(mnemic("restore", "monday", "--to", empty, *at(dsn))).startswith("invalid_input:restore:exists")
    assert complaint(mnemic("restore", "monday", "--to", "m.db", *at(dsn))).startswith("invalid_input:backup:other")


def test_a_backup_is_of_one_moment_while_others_write(mnemic: Call, dsn: str, empty: str) -> None:
    enough, written = threading.Event(), [0, 0]

    def write(number: int) -> None:
        engine = MemoryEngine(store=PostgresStore(dsn), embedder=WordEmbedder())
        with MemoryManager("ana", engine=engine) as memory:
            while not enough.is_set():
                memory.add(f"Statement {written[number]} of {number} about ship{written[number] * 7}.", kind="episodic")
                written[number] += 1

    mnemic("add", "The first.", *at(dsn))
    writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for writer in writers:
        writer.start()
    try:
        for number in range(4):
            told(mnemic("backup", f"b{number}", "--json", *at(dsn)))
    finally:
        enough.set()
        for writer in writers:
            writer.join()
    assert min(written) > 0
    restored = told(mnemic("restore", "b3", "--to", empty, "--json", *at(dsn)))
    assert restored["counts"]["memory"] == restored["counts"]["audit"]
    verified = told(mnemic("audit", "verify", "--json", *at(empty)))
    assert (verified["holds"], verified["lines"]) == (True, restored["counts"]["audit"])


@pytest.mark.parametrize("how", ["erasures", "receipt", "sealed"])
def test_nobody_comes_back_who_was_erased_since(
    mnemic: Call, dsn: str, empty: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    canary = "zyxwvutbackupcanary"
    if how == "sealed":
        monkeypatch.setenv("MNEMIC_KEY_FILE", str(tmp_path / "master.key"))
        monkeypatch.setenv("MNEMIC_SEAL", "1")
        assert mnemic("keys", "init").exit_code == 0
    mnemic("add", f"{canary} is good.", *at(dsn), user="cleo")
    mnemic("add", "A bystander stays.", *at(dsn))
    mnemic("backup", "monday", *at(dsn))
    assert (canary.encode() in (tmp_path / "monday" / "memory.copy").read_bytes()) == (how != "sealed")
    assert mnemic("erase", "cleo", "--yes", "--receipt", "r.json", *at(dsn)).exit_code == 0
    given = {"erasures": ["--erasures", dsn], "receipt": ["--receipt", "r.json"], "sealed": []}[how]
    restored = told(mnemic("restore", "monday", "--to", empty, "--json", *given, *at(dsn)))
    assert [one["complete"] for one in restored["erased_again"]] == [True] * len(given[:1])
    shown = mnemic("list", *at(empty), user="cleo").stdout
    assert "[erased]" in shown if how == "sealed" else shown.strip() == "nothing remembered yet"
    assert canary not in shown
    assert "bystander" in mnemic("list", *at(empty)).stdout


def test_a_changed_copy_is_refused_and_leaves_nothing(
    mnemic: Call, dsn: str, empty: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    mnemic("add", "The sea is calm.", *at(dsn))
    mnemic("backup", "monday", *at(dsn))
    manifest, copy = tmp_path / "monday" / "manifest.json", tmp_path / "monday" / "memory.copy"
    kept, right = copy.read_bytes(), json.loads(manifest.read_text())
    copy.write_bytes(kept[:100] + bytes([kept[100] ^ 1]) + kept[101:])
    assert complaint(mnemic("restore", "monday", "--to", empty, *at(dsn))).startswith("store_corrupt:backup_checksum")
    copy.write_bytes(kept)
    forged = {"default": right["tenants"]["default"] | {"last_hash": "0" * 64}}
    for wrong in (
        {},
        right | {"tenants": forged},
        right | {"layout": right["layout"] | {"tables": right["layout"]["tables"][:-1]}},
        right | {"layout": right["layout"] | {"schema": 10_000}},
    ):
        manifest.write_text(json.dumps(wrong))
        assert mnemic("restore", "monday", "--to", empty, *at(dsn)).exit_code == 4
    manifest.write_text(json.dumps(right))
    assert told(mnemic("restore", "monday", "--to", empty, "--json", *at(dsn)))["verified"]


def test_a_database_with_a_damaged_row_is_not_copied(
    mnemic: Call, dsn: str, tmp_path: Path, postgres: PostgresServer
) -> None:
    mnemic("add", "A seat by the window.", *at(dsn))
    (hurt,) = told(mnemic("list", "--json", *at(dsn)))["memories"]
    postgres.sql("UPDATE mnemic.memory_version SET body = replace(body, 'window', 'widow')")
    refused = mnemic("backup", "monday", *at(dsn))
    assert refused.exit_code == 4
    assert hurt["memory_id"] in refused.stderr
    assert not (tmp_path / "monday").exists()
    examined = json.loads(mnemic("doctor", "--json", *at(dsn)).stdout)
    (rows,) = [check for check in examined["checks"] if check["check"] == "rows"]
    assert (rows["ok"], [row["name"] for row in rows["damaged"]]) == (False, [hurt["memory_id"]])
    assert mnemic("get", hurt["memory_id"], *at(dsn)).exit_code == 4
    assert told(mnemic("list", "--json", *at(dsn)))["memories"] == []
    assert mnemic("forget", hurt["memory_id"], "--yes", *at(dsn)).exit_code == 0
    told(mnemic("backup", "monday", "--json", *at(dsn)))


def test_a_backup_of_a_schema_before_the_first_is_refused(mnemic: Call, dsn: str, empty: str, tmp_path: Path) -> None:
    mnemic("add", "A seat by the window.", *at(dsn))
    mnemic("backup", "monday", *at(dsn))
    manifest = tmp_path / "monday" / "manifest.json"
    right = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(right | {"layout": right["layout"] | {"schema": 11}}))
    assert complaint(mnemic("restore", "monday", "--to", empty, *at(dsn))).startswith("store_older")
    manifest.write_text(json.dumps(right))
    assert told(mnemic("restore", "monday", "--to", empty, "--json", *at(dsn)))["verified"]


def test_an_address_that_names_copies_is_backed_up_and_restored(mnemic: Call, dsn: str, empty: str) -> None:
    mnemic("add", "The sea is calm.", *at(dsn))
    with running(AzureSearchServer()) as service:
        copy = service.endpoint.replace("http://", f"azure-search://:{KEY}@") + "/memories"
        copied = [f"{each}&copy={copy}" for each in (dsn, empty)]
        assert all("?host=" in each for each in copied)
        told(mnemic("backup", "monday", "--json", *at(copied[0])))
        restored = mnemic("restore", "monday", "--to", copied[1], "--erasures", copied[0], "--json", *at(dsn))
    assert told(restored)["verified"]
    assert lines(mnemic, empty) == lines(mnemic, dsn)


def test_a_restore_that_cannot_ask_who_was_erased_leaves_nothing_open(
    mnemic: Call, dsn: str, empty: str, postgres: PostgresServer
) -> None:
    mnemic("add", "The sea is calm.", *at(dsn))
    mnemic("backup", "monday", *at(dsn))
    running = set(threading.enumerate())
    nowhere = postgres.dsn("nowhere")
    refused = mnemic("restore", "monday", "--to", empty, "--erasures", nowhere, *at(dsn))
    assert complaint(refused).startswith("store_unavailable")
    assert set(threading.enumerate()) <= running


def test_an_owner_who_is_no_superuser_copies_every_tenant(
    mnemic: Call, dsn: str, empty: str, postgres: PostgresServer
) -> None:
    mnemic("add", "The first, for which there must be a role.", *at(dsn))
    owned = ScratchDatabase(postgres.dsn())
    postgres.sql("DROP ROLE IF EXISTS keeper", "CREATE ROLE keeper LOGIN CREATEROLE", "GRANT mnemic_app TO keeper")
    with owned:
        places = [each.replace("postgres@", "keeper@") for each in (owned.location, empty)]
        for place in places:
            name = urlsplit(place).path[1:]
            postgres.sql(f"ALTER DATABASE {name} OWNER TO keeper")
            postgres.sql("CREATE EXTENSION vector WITH SCHEMA public", database=name)
        for tenant in ("default", "rival"):
            told(mnemic("add", f"The sea is calm, says {tenant}.", "--tenant", tenant, "--json", *at(places[0])))
        assert told(mnemic("backup", "monday", "--json", *at(places[0])))["counts"]["memory"] == 2
        assert told(mnemic("restore", "monday", "--to", places[1], "--json", *at(places[0])))["verified"]
        assert "says rival" in mnemic("list", "--tenant", "rival", *at(places[1])).stdout
        assert "says rival" not in mnemic("list", *at(places[1])).stdout
    postgres.sql(f"ALTER DATABASE {urlsplit(empty).path[1:]} OWNER TO postgres")


def test_every_table_is_copied_or_named_as_one_that_is_not(mnemic: Call, dsn: str, postgres: PostgresServer) -> None:
    mnemic("add", "The sea is calm.", *at(dsn))
    rows = postgres.sql(
        "SELECT relname FROM pg_class "
        "WHERE relnamespace = 'mnemic'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
    )
    assert {name for (name,) in rows} == {*TABLES, *NOT_COPIED}


def test_what_is_being_restored_is_closed_to_others(mnemic: Call, dsn: str, postgres: PostgresServer) -> None:
    mnemic("add", "The sea is calm.", *at(dsn))
    postgres.sql("CREATE TABLE mnemic.restoring ()")
    assert complaint(mnemic("list", *at(dsn))).startswith("store_unavailable:restoring")


def test_a_file_moves_into_a_database_with_everything(mnemic: Call, store: Path, empty: str, tmp_path: Path) -> None:
    mnemic("add", "vegan", "--key", "diet")
    mnemic("add", "omnivore", "--key", "diet")
    mnemic("add", "Canary words.", user="cleo")
    mnemic("consent", "grant", "diet")
    mnemic("erase", "cleo", "--yes", "--block")
    before = told(mnemic("audit", "verify", "--json"))
    moved = told(mnemic("move", "--to", empty, "--json"))
    assert moved["counts"]["memories"] == 2
    assert moved["counts"]["audit"] == before["lines"]
    assert told(mnemic("audit", "verify", "--json", *at(empty)))["last_hash"] == before["last_hash"]
    assert lines(mnemic, empty) == lines(mnemic, str(store))
    again = json.loads(mnemic("add", "I am back.", "--json", *at(empty), user="cleo").stdout)
    assert again["outcome"] == "blocked"
    assert complaint(mnemic("move", "--to", empty)).startswith("invalid_input:move:not_empty")
    assert "moved and compared" in mnemic("move", "--to", str(tmp_path / "back.db"), *at(empty)).stdout
    assert lines(mnemic, str(tmp_path / "back.db")) == lines(mnemic, str(store))
