"""The command line on a service: `--store https://...` with a key."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
