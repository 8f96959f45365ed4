"""The track record of mended bugs names tests that are there, each row one."""

from __future__ import annotations

import ast
import re
from datetime import date

import pytest

from tests.architecture.sources import ROOT, Function, read

PAGE = ROOT / "docs" / "benchmarks" / "track-record.md"
CONTRACTS = ROOT / "packages" / "mnemic-testing" / "src"
NODE = re.compile(r"`((?:tests|packages/[\w\-]+/tests)/[\w/]+\.py(?:::\w+)+)`")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if "| `tests/" in line or "| `packages/" in line
]


def is_in_a_contract(name: str) -> bool:
    """Whether a suite of contracts, which test classes inherit, defines the test."""
    return any(f"def {name}(" in path.read_text(encoding="utf-8") for path in CONTRACTS.rglob("*.py"))


def is_there(node: str) -> bool:
    """Whether a file defines the test, in the classes that lead to it. Nothing is imported."""
    path, *names = node.split("::")
    if not (ROOT / path).is_file():
        return False
    found: ast.AST = read(ROOT / path).tree
    for name in names:
        inside = [one for one in ast.iter_child_nodes(found) if getattr(one, "name", None) == name]
        if not inside:
            return isinstance(found, ast.ClassDef) and name == names[-1] and is_in_a_contract(name)
        found = inside[-1]
    return isinstance(found, Function) and names[-1].startswith("test_")


def test_the_page_has_rows_and_no_row_twice() -> None:
    assert len(ROWS) >= 40
    assert len({seen for seen, *_ in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_row_names_a_test_that_is_there_and_a_day(row: list[str]) -> None:
    assert len(row) == 5
    node = NODE.fullmatch(row[2])
    assert node is not None
    assert is_there(node[1]), node[1]
    assert date.fromisoformat(row[4])


@pytest.mark.parametrize(
    "node",
    [
        "tests/architecture/test_nothing.py::test_the_page_has_rows_and_no_row_twice",
        "tests/architecture/test_track_record.py::test_something_else",
        "tests/architecture/test_track_record.py::TestOfNothing::test_the_page_has_rows_and_no_row_twice",
        "tests/architecture/test_track_record.py::is_there",
    ],
)
def test_what_is_not_there_is_noticed(node: str) -> None:
    assert not is_there(node)
