"""One body of SQL in two dialects: complete in both, and each with what only it understands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import apsw
import pytest

from mnemic.stores.relational.statements import Dialect, in_json, load
from mnemic.stores.sqlite.database_file import BusyHandler, prepare

FILES = ("documents", "graph", "jobs")


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("dialect", get_args(Dialect))
def test_every_statement_is_complete(file: str, dialect: Dialect) -> None:
    statements = load(file, dialect)
    assert len(statements) > 5
    for name, text in statements.items():
        assert "{" not in text, name
        assert not text.startswith("--"), name
        assert bool(re.search(r"\?\d", text)) == (dialect == "sqlite"), name
        assert "::" not in text or dialect == "postgres", name


def test_both_dialects_have_the_same_statements() -> None:
    for file in FILES:
        assert load(file, "sqlite").keys() == load(file, "postgres").keys()


@pytest.mark.parametrize("file", FILES)
def test_sqlite_understands_each(file: str, tmp_path: Path) -> None:
    connection: apsw.Connection = prepare(tmp_path / "m.db", durability="fast", busy=BusyHandler())
    for text in load(file, "sqlite").values():
        parameters = max(map(int, re.findall(r"\?(\d)", text)))
        connection.execute("EXPLAIN " + text, [None] * parameters)
    connection.close()


def test_lists_become_json_and_nothing_else_changes() -> None:
    assert in_json(["a", 1, None, ["b", "ü"], []]) == ["a", 1, None, '["b","ü"]', "[]"]
