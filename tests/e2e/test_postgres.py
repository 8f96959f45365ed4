"""The whole of mnemic on PostgreSQL, through its URL alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mnemic.bootstrap import build_store, store_file
from mnemic.errors import InvalidConfig
from mnemic.stores.postgres import PostgresStore
from tests.servers import PostgresServer


def run(dsn: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mnemic", "--store", dsn, "--user", "ana", "--json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


def test_the_command_line_works_on_a_server(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    added = run(dsn, tmp_path, "add", "My sister lives in Bergen")
    assert (added.returncode, json.loads(added.stdout)["outcome"]) == (0, "created"), added.stderr
    found = run(dsn, tmp_path, "search", "Where does the sister live?")
    assert "Bergen" in found.stdout
    again = run(dsn, tmp_path, "add", "My sister lives in Bergen")
    assert json.loads(again.stdout)["outcome"] == "refreshed"
    for said in ("The ferry leaves at noon.", "The ferry does not leave at noon."):
        run(dsn, tmp_path, "add", said)
    checked = run(dsn, tmp_path, "doctor")
    found = {one["check"]: one for one in json.loads(checked.stdout)["checks"]}
    assert (checked.returncode, found["memories"]["total"], found["audit"]["lines"]) == (0, 3, 5), checked.stdout
    assert (found["vectors"]["without_vector"], found["review"]["waiting"]) == (0, 0)
    assert (found["duplicates"]["count"], found["contradictions"]["count"], found["junk"]["count"]) == (0, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_the_doctor_finds_what_is_wrong_on_a_server(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    empty = run(dsn, tmp_path, "doctor")
    assert (empty.returncode, "store_unavailable" in empty.stdout) == (4, True)
    run(dsn, tmp_path, "add", "The sea is calm.")
    run(dsn, tmp_path, "add", "Ana keeps bees.")
    assert run(dsn, tmp_path, "audit", "verify").returncode == 0  # joins the lanes into the chain
    postgres.sql(
        "UPDATE mnemic.memory SET vector = NULL WHERE number = 1",
        "ALTER TABLE mnemic.audit DISABLE TRIGGER USER",
        "UPDATE mnemic.audit SET event = replace(event, 'created', 'revised') WHERE sequence = 2",
    )
    checked = run(dsn, tmp_path, "doctor")
    found = {one["check"]: one["ok"] for one in json.loads(checked.stdout)["checks"]}
    assert (checked.returncode, found["vectors"], found["audit"], found["embedder"]) == (4, False, False, True)


def test_a_server_that_is_not_there_is_said_to_be_unavailable(tmp_path: Path) -> None:
    refused = run("postgresql://ana:secret@/memories?host=/nonexistent", tmp_path, "list")
    assert refused.returncode == 4
    assert "store_unavailable" in refused.stdout + refused.stderr
    assert "secret" not in refused.stdout + refused.stderr


def test_the_url_chooses_the_store() -> None:
    for scheme in ("postgresql", "postgres"):
        store = build_store(f"{scheme}://ana@db/memories", durability="fast")
        assert isinstance(store, PostgresStore)
        assert not store.capabilities.durable
        assert store_file(f"{scheme}://ana@db/memories") is None
    assert store_file("sqlite:///a/b.db") == Path("a/b.db")
    with pytest.raises(InvalidConfig, match="store"):
        store_file("mysql://ana@db/memories")


def test_without_the_driver_it_says_what_to_install(tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['asyncpg'] = None\n"
        "from mnemic.bootstrap import build_store\n"
        "from mnemic.errors import InvalidConfig\n"
        "try:\n    build_store('postgresql://db', durability='durable')\n"
        "except InvalidConfig as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert "store:postgres" in done.stdout
    assert "mnemic[postgres]" in done.stdout
