"""Contract suites in a folder without any settings of pytest, as CONTRIBUTING promises."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mnemic.testing

SOURCES = sorted(Path(mnemic.testing.__file__).parent.rglob("*.py"))
BACKEND = """
from pathlib import Path

from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store import RecordStoreContract


class TestMyStore(RecordStoreContract):
    def new_store(self, folder: Path) -> RecordStore:
        return InProcessStore()
"""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_fixture_that_is_a_coroutine_needs_no_settings(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    coroutines = [node for node in ast.walk(tree) if isinstance(node, ast.AsyncFunctionDef)]
    plain = [
        node.name for node in coroutines if any(ast.unparse(one) == "pytest.fixture" for one in node.decorator_list)
    ]
    assert plain == []


def test_a_strangers_class_passes(tmp_path: Path) -> None:
    (tmp_path / "test_my_store.py").write_text(BACKEND, encoding="utf-8")
    options = [
        "-q",
        "-c",
        "/dev/null",
        "--rootdir",
        str(tmp_path),
        "-p",
        "no:cacheprovider",
        "-k",
        "relation or filter",
    ]

    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)], capture_output=True, text=True, timeout=120
    )

    assert run.returncode == 0, run.stdout
    assert " passed" in run.stdout
