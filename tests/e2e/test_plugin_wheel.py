"""A package that is no part of this repository, built and installed as a stranger would, works by its URL alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
PROGRAM = """
from mnemic import MemoryManager
with MemoryManager("ada") as memory:
    memory.add("likes aisle seats")
    print(type(memory.engine.store).__module__, [hit.memory.content for hit in memory.search("aisle seats").hits])
"""


def test_the_wheel_of_a_stranger_is_a_store(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input"]
    copied = tmp_path / "source"
    shutil.copytree(EXAMPLE, copied)
    build = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(copied)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("mnemic_example-*.whl")
    site = tmp_path / "site"
    install = [*pip, "install", "--quiet", "--no-deps", "--no-index", "--target", str(site), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=120)

    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**clean, "PYTHONPATH": str(site), "MNEMIC_STORE": "example://team", "MNEMIC_EMBEDDER": "example"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "mnemic_example.store ['likes aisle seats']"
