"""The command line on a service: `--store https://...` with a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx

from tests.service import serving


def test_the_command_line_works_on_a_service_with_the_key_of_its_user(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        key = tmp_path / "key"
        key.write_text(service.key("reader", "writer", user="ana"))

        def run(*words: str) -> tuple[int, str]:
            told = [sys.executable, "-m", "mnemic", "--store", service.address, *words]
            environment = {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
            done = subprocess.run(
                told, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path, timeout=120
            )
            return done.returncode, done.stdout + done.stderr

        named = ("--api-key-file", str(key))
        assert run(*named, "add", "I like green tea.")[0] == 0
        assert "I like green tea." in run(*named, "list")[1]
        assert "I like green tea." in run(*named, "search", "tea")[1]
        assert run(*named, "count") == (0, "1\n")
        code, told = run("list")
        assert (code, "this service needs a key" in told) == (1, True)
        assert "the key is that of another user" in run(*named, "--user", "ben", "list")[1]
        code, told = run(*named, "maintain")
        assert (code, "not_supported" in told) == (4, True)

        (tmp_path / "notes.md").write_text("# Tea\n\nI like white tea.\n")
        code, told = run(*named, "import", "notes.md")
        assert (code, "/v1/uploads" in told) == (4, True)
        piece = {"name": "notes.md", "text": (tmp_path / "notes.md").read_text(), "import_id": "tea"}
        bearer = {"Authorization": f"Bearer {key.read_text()}"}
        taken = httpx.post(f"{service.address}/v1/uploads", json=piece, headers=bearer, timeout=60)
        assert taken.json()["import_id"] == "tea"
        assert "white tea" in run(*named, "list")[1]
        code, told = run(*named, "import", "--undo", "tea")
        assert (code, "forgotten" in told) == (0, True)
        assert "white tea" not in run(*named, "list")[1]
        assert "the id is shown at its end" in run(*named, "import", "--undo", "nope")[1]
