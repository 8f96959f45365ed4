"""Packages that the command writes: installed outside this repository, each works by its name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mnemic.cli import cli
from mnemic.errors import InvalidInput
from mnemic.testing.plugin_project import KINDS, write_project

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--quiet", "--no-deps"]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["plugin", *arguments], prog_name="mnemic")


def outside(folder: Path, *command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command with the packages in `folder` and those installed here, in a clean environment."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_", "COV"))}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**clean, "PYTHONPATH": str(folder), **settings},
        capture_output=True,
        text=True,
        timeout=240,
    )


def test_every_kind_passes_its_own_test_where_it_is_installed(tmp_path: Path) -> None:
    made = [write_project(f"my_{kind}", kind, tmp_path / f"mnemic-my-{kind}") for kind in KINDS]
    site = tmp_path / "site"
    install = [*PIP, "--no-index", "--no-build-isolation", "--target", str(site), *map(str, made)]
    subprocess.run(install, check=True, capture_output=True, timeout=240)
    tests = tmp_path / "tests"
    tests.mkdir()
    for folder in made:
        for file in (folder / "tests").iterdir():
            (site / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")

    ran = outside(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto", ".")
    assert ran.returncode == 0, ran.stdout + ran.stderr

    program = "from mnemic import MemoryManager\nwith MemoryManager('ada') as memory: print(type(memory.engine.store))"
    used = outside(site, "-c", program, MNEMIC_STORE="my_store://team", MNEMIC_EMBEDDER="my_embedder")
    assert used.stdout.strip() == "<class 'mnemic_my_store.store.MyStoreStore'>", used.stderr
    listed = json.loads(outside(site, "-m", "mnemic", "plugin", "list", "--json").stdout)
    assert {
        "group": "stores",
        "name": "my_store",
        "object": "mnemic_my_store.store:build",
        "package": "mnemic-my-store 0.1.0",
    } in listed


def test_the_command_says_how_to_try_it(tmp_path: Path) -> None:
    folder = tmp_path / "acme"
    done = run("new", "acme", "--kind", "store", "--folder", str(folder))
    assert done.exit_code == 0, done.output
    assert "MNEMIC_STORE=acme://anything mnemic doctor" in done.output
    assert (folder / "src" / "mnemic_acme" / "store.py").exists()
    told = json.loads(run("new", "a2", "--kind", "detector", "--folder", str(tmp_path / "a2"), "--json").output)
    assert "src/mnemic_a2/detector.py" in told["files"]
    assert 'A2 = "mnemic_a2.detector:build"' in (tmp_path / "a2" / "pyproject.toml").read_text(encoding="utf-8")


def test_without_a_folder_it_is_made_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_project("two_words", "command") == Path("mnemic-two-words")
    assert (tmp_path / "mnemic-two-words" / "README.md").exists()


def test_installed_plugins_are_listed() -> None:
    listed = run("list")
    assert "mnemic_travel.plugin:build" in listed.output
    assert "plugin" in listed.output


@pytest.mark.parametrize("name", ["Acme", "2fast", "a-b", "a__b", "_a", "import me", ""])
def test_a_name_that_is_no_word_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:name"):
        write_project(name, "store", tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_a_folder_with_files_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InvalidInput, match="invalid_input:folder"):
        write_project("acme", "store", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("given", [("new",), ("new", "acme"), ("new", "--kind", "store")])
def test_new_needs_a_name_and_a_kind(given: tuple[str, ...]) -> None:
    refused = run(*given)
    assert refused.exit_code == 3
    assert "mnemic plugin new NAME --kind KIND" in refused.output
