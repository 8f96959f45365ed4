"""Blocks of the pages that need PostgreSQL: each runs as it stands but for addresses, on real servers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from mnemic_eval.temporary_database import ScratchDatabase
from tests.e2e.test_blocks_with_servers import OWNER, block_with
from tests.e2e.test_further_blocks import run
from tests.processes import running
from tests.servers import PostgresServer, PostgresStandby


@pytest.fixture
def empty(postgres: PostgresServer) -> Iterator[str]:
    """The address of a further database in which nothing is."""
    with ScratchDatabase(postgres.dsn()) as scratch:
        yield scratch.location


def test_the_page_of_postgresql_adds_a_memory(postgres: PostgresServer, tmp_path: Path) -> None:
    block = block_with("docs/postgres.md", "sister", "bash").replace(OWNER, f"'{postgres.database(tmp_path)}'")
    assert run(block, tmp_path).startswith("created")
    rows = postgres.sql("SELECT count(*) FROM mnemic.memory")
    assert rows == [(1,)]


def test_an_address_with_a_replica_is_searched_there(tmp_path: Path) -> None:
    block = block_with("docs/postgres.md", "?replica=", "bash")
    with (
        running(PostgresServer("fsync=off")) as primary,
        running(PostgresStandby(primary, "fsync=off", "log_statement=all")) as standby,
    ):
        replica = quote(standby.dsn(), safe="")
        block = block.replace(f"{OWNER}?replica=", f"{primary.dsn()}&replica=")
        block = block.replace("postgresql://ana@replica.internal/memories", replica)
        run(f"{block}\nmnemic add 'My sister lives in Bergen.'", tmp_path)
        assert "Bergen" in run(f"{block}\nmnemic search 'Where does my sister live?'", tmp_path)
        asked = (standby.folder / "log").read_text(errors="replace")
    assert "'{ana}'" in asked


def test_a_file_moves_into_a_database(postgres: PostgresServer, tmp_path: Path) -> None:
    run("mnemic add 'I like tea.'\nmnemic --user ben add 'The boat is in Oslo.'", tmp_path)
    database = postgres.database(tmp_path)
    block = block_with("docs/howto.md", "postgresql://db.internal")
    run(block.replace("postgresql://db.internal/memories", f"'{database}'"), tmp_path)
    for user, content in (("ana", "I like tea."), ("ben", "The boat is in Oslo.")):
        listed = json.loads(run(f"mnemic --user {user} list --json", tmp_path, MNEMIC_STORE=database))
        assert [memory["content"] for memory in listed["memories"]] == [content]


def test_a_database_is_copied_and_put_back_into_another(postgres: PostgresServer, empty: str, tmp_path: Path) -> None:
    database = postgres.database(tmp_path)
    run("mnemic add 'I like tea.'", tmp_path, MNEMIC_STORE=database)
    block = block_with("docs/governance.md", "postgresql://db/again")
    block = block.replace("postgresql://db/memories", f"'{database}'").replace("postgresql://db/again", f"'{empty}'")
    run(block, tmp_path)
    assert "I like tea." in run("mnemic list", tmp_path, MNEMIC_STORE=empty)
