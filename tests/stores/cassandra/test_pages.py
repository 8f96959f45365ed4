"""The commands of docs/cassandra.md, unchanged except for the address, on a real node."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
ADDRESS = re.compile(r"cassandra://[^\s']+")


def test_the_commands_of_the_page_run(tmp_path: Path, cassandra: str) -> None:
    page = (ROOT / "docs" / "cassandra.md").read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in found] == ["sh"]
    lines = [line for line in found[0][1].splitlines() if not line.startswith("pip install ")]
    block = "\n".join(lines).replace("'", "")
    named = ADDRESS.sub(f"'{cassandra}&prefix=pages'", block)
    assert named != block
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", named],
        cwd=tmp_path,
        env={**kept, "PATH": path, "MNEMIC_USER": "ana"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all is well" in done.stdout
