"""Names of the mutation run's tests that are others when they are collected a second time in one process.

mutmut asks for tests by the names of the first collection; one that has another name by then is not found, and the run
takes that for a test that failed: every mutant would look noticed.
"""

from __future__ import annotations

import contextlib
import io
import tomllib
from pathlib import Path

import pytest

CONFIG = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutmut"]
"""The settings of the folder that this runs in, as mutmut does."""


class _Names:
    def __init__(self) -> None:
        self.found: list[str] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.found = [item.nodeid for item in items]


def collected() -> list[str]:
    """The names of the tests, in order."""
    names = _Names()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(
            ["--collect-only", *CONFIG["pytest_add_cli_args"], *CONFIG["pytest_add_cli_args_test_selection"]],
            plugins=[names],
        )
    return names.found


if __name__ == "__main__":
    first, second = collected(), collected()
    changed = [one for one, other in zip(first, second, strict=True) if one != other]
    print("\n".join(changed) or f"{len(first)} names, the same twice")
