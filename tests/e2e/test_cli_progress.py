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
    assert told.endswith("\r"), "the line is taken away again"
