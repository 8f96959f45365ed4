"""Progress of long work, as a person at a terminal sees it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("given", ["chat.jsonl", "-"])
def test_an_import_tells_how_far_it_is_and_of_how_many(given: str, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"I own {count} maps."}) for count in range(30)]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    watched, terminal = pty.openpty()
    command = [sys.executable, "-m", "mnemic", "--store", str(tmp_path / "ana.db"), "import", given, "--no-extract"]
    with file.open("rb") as read:
        done = subprocess.run(
            command, cwd=tmp_path, stdin=read, stdout=subprocess.PIPE, stderr=terminal, timeout=120, check=False
        )
    os.close(terminal)
    told = os.read(watched, 65_536).decode()
    os.close(watched)
    assert done.returncode == 0, told
    assert ("read 30 of 30" if given != "-" else "read 30") in told
    if given != "-":
        assert f"read 30 of 30  [{'#' * 24}]" in told
    assert told.endswith("\r"), "the line is taken away again"


def seen(arguments: list[str], folder: Path, **variables: str) -> str:
    """Return what a person at a terminal sees of a command."""
    watched, terminal = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    command = [sys.executable, "-m", "mnemic", "--store", str(folder / "ana.db"), *arguments]
    subprocess.run(
        command, cwd=folder, stdout=terminal, stderr=terminal, env={**kept, "TERM": "xterm", **variables}, timeout=120
    )
    os.close(terminal)
    told = os.read(watched, 65_536).decode()
    os.close(watched)
    return told


def test_colour_helps_a_person_at_a_terminal_and_nobody_else(tmp_path: Path) -> None:
    add = [
        sys.executable,
        "-m",
        "mnemic",
        "--store",
        str(tmp_path / "ana.db"),
        "add",
        "The cat \x1b[31mis called Miso.",
    ]
    subprocess.run(add, check=True, timeout=120, capture_output=True)
    found = seen(["search", "cat"], tmp_path)
    assert "\x1b[1mThe cat" in found
    assert "\x1b[2m" in found
    assert "\x1b[31m" not in found, "no byte of a memory colours the screen"
    assert "\x1b[" not in seen(["search", "cat"], tmp_path, NO_COLOR="1")
    piped = subprocess.run([*add[:-2], "search", "cat"], check=True, timeout=120, capture_output=True, text=True)
    assert "\x1b[" not in piped.stdout
    assert "\x1b[31mmnemic:" in seen(["get", "nothing"], tmp_path)


def test_no_result_shows_the_codes_of_colours(tmp_path: Path) -> None:
    for command in (
        ["capture", "I love jazz and I live in Rome."],
        ["history", "home_city"],
        ["run", "--goal", "Where do I live?"],
        ["list"],
        ["search", "Where do I live?"],
        ["audit", "list"],
        ["backup", str(tmp_path / "copy.db")],
        ["erase", "--yes"],
    ):
        told = seen(command, tmp_path, TERM="xterm-256color")
        assert told.strip(), command
        assert "\\x1b" not in told, command
