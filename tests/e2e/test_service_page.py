"""The recipe of the service's page runs as it stands: a key, the service, an application with two users."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from tests.e2e.test_pages_run import ROOT, blocks
from tests.service import serving

PAGE = "docs/service.md"


def test_the_recipe_for_a_backend_with_many_users_runs(tmp_path: Path) -> None:
    recipe, code = blocks(PAGE, "sh")[0].splitlines(), blocks(PAGE, "python")[0]
    making = next(line for line in recipe if line.startswith("mnemic apikeys"))
    command, _, file = making.partition(" > ")
    environment = {**os.environ, "MNEMIC_STORE": str(tmp_path / "s.db")}
    words = [sys.executable, "-m", "mnemic", *shlex.split(command)[1:]]
    made = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    (tmp_path / file).write_text(made.stdout, encoding="utf-8")
    assert "mnemic serve" in recipe

    with serving(tmp_path) as served:
        script = code.replace("http://127.0.0.1:8377", served.address)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "I prefer aisle seats.\n"
    assert f"This prints `{done.stdout.strip()}`" in (ROOT / PAGE).read_text(encoding="utf-8")
