"""Mistakes put into the code on purpose (S26) are tried with tests that run the code: where a test has moved away,
mutmut finds no test for any mutant, many minutes later.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.strength.mutated import mutated, paths

FOLDERS = pytest.mark.parametrize("folder", mutated(), ids=lambda folder: folder.name)


def _tests(folder: Path) -> str:
    """The text of the tests that the folder's mutants are tried with, and of what pytest reads with them."""
    chosen = paths(folder, "pytest_add_cli_args_test_selection")
    files = {file for path in chosen for file in ([path] if path.is_file() else path.rglob("*.py"))}
    beside = {place / "conftest.py" for file in files for place in file.parents if place.is_relative_to(folder)}
    return "\n".join(file.read_text(encoding="utf-8") for file in sorted(files | beside) if file.is_file())


@FOLDERS
def test_every_path_of_the_settings_is_there(folder: Path) -> None:
    settings = mutated()[folder]
    named = [*settings["only_mutate"], *settings["pytest_add_cli_args_test_selection"]]
    assert [path for path in named if not list(folder.glob(path))] == []


@FOLDERS
def test_what_is_mutated_is_imported_by_the_tests_it_is_tried_with(folder: Path) -> None:
    modules = [
        ".".join(path.relative_to(folder / "src").with_suffix("").parts) for path in paths(folder, "only_mutate")
    ]
    tests = _tests(folder)
    assert any(re.search(rf"^from {re.escape(module)} import", tests, re.MULTILINE) for module in modules), (
        f"no test of {folder.name} that its mutants are tried with imports one of {modules}"
    )


@FOLDERS
def test_a_package_is_tried_without_the_repository_around_it(folder: Path) -> None:
    """Mutmut copies the folder: `tests` is the package's own there."""
    if folder != ROOT:
        assert re.findall(r"^from tests\b.*", _tests(folder), re.MULTILINE) == []
