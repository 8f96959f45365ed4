"""The command line on a service: `--store https://...` with a key."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
        assert (code, "recorded" in told) == (0, True)
        undo = re.search(r"mnemic import --undo (\S+) takes it back", told)
        assert undo is not None
        assert "white tea" in run(*named, "list")[1]
        code, told = run(*named, "import", "--undo", undo[1])
        assert (code, "forgotten" in told) == (0, True)
        assert "white tea" not in run(*named, "list")[1]
        assert "the id is shown at its end" in run(*named, "import", "--undo", "nope")[1]


def test_a_file_is_imported_into_a_service_as_into_a_file_of_ones_own(tmp_path: Path) -> None:
    """A folder, the zip of a chat whose user must be named, and memories with their times: all that is read here."""
    with serving(tmp_path) as service:
        key = tmp_path / "key"
        key.write_text(service.key("reader", "writer", user="ana"))
        (tmp_path / "files").mkdir()

        def run(*words: str, at_service: bool = True) -> tuple[int, dict[str, Any], str]:
            store = ["--store", service.address, "--api-key-file", str(key)]
            own = ["--store", str(tmp_path / "own.db"), "--user", "ana"]
            done = subprocess.run(
                [sys.executable, "-m", "mnemic", *(store if at_service else own), "--json", *words],
                capture_output=True,
                text=True,
                check=False,
                env={name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")},
                cwd=tmp_path / "files",
                timeout=120,
            )
            return done.returncode, json.loads(done.stdout or "{}"), done.stderr

        def both(*words: str) -> tuple[dict[str, Any], dict[str, Any]]:
            (code, there, told), (own_code, here, own_told) = run(*words), run(*words, at_service=False)
            assert (code, told.splitlines()) == (own_code, own_told.splitlines())
            return there, here

        lines = [{"role": "user", "content": f"Day {at} of the trip was fine.", "id": f"m{at}"} for at in range(100)]
        lines[60] |= {"role": "assistant", "content": "Where do you like to sit on a plane?"}
        lines[61]["content"] = "By the window."
        lines[98] = {"role": "nobody", "content": "x"}
        (tmp_path / "files/chat.jsonl").write_text("\n".join(map(json.dumps, lines)))
        talk = "".join(f"0{day}/02/2024, 9:15 PM - {who}: I moved to {city}.\n" for day, who, city in TALK)
        with zipfile.ZipFile(tmp_path / "files/WhatsApp Chat.zip", "w") as packed:
            packed.writestr("_chat.txt", talk)
        times = {"created_at": "2024-01-05T10:00:00Z", "updated_at": "2024-01-05T10:00:00Z"}
        stored = {"id": "6a1f4c5e-6f0d-4c0a-9c52-3d8a0f1d7e60", "memory": "Plays the cello", "user_id": "ana", **times}
        (tmp_path / "files/mem0.json").write_text(json.dumps({"results": [stored]}))

        for words in (["chat.jsonl"], ["WhatsApp Chat.zip", "--me", "Ben"], ["mem0.json"], ["chat.jsonl"]):
            there, here = both("import", *words)
            ids = {"import_id", "memory_id"}
            assert {**there, "learnt": _without(there["learnt"], ids), "import_id": None} == {
                **here,
                "learnt": _without(here["learnt"], ids),
                "import_id": None,
            }
        assert (there["recorded"], [one["place"] for one in there["failed"]]) == (0, ["line 99"])
        shown = [sorted((one["content"], one["occurred_at"]) for one in _listed(run, at)) for at in (True, False)]
        assert shown[0] == shown[1]
        assert all(one in str(shown) for one in ("Bergen", "Plays the cello", "By the window"))
        assert (run("import", "mem0.json", "--own")[0], run("import", "mem0.json", "--again")[0]) == (4, 4)


TALK = ((1, "Ana", "Oslo"), (2, "Ben", "Bergen"), (3, "Cleo", "Molde"))


def _without(found: list[dict[str, Any]], names: set[str]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name not in names} for one in found]


def _listed(run: Callable[..., tuple[int, Any, str]], at_service: bool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run("list", "--limit", "200", at_service=at_service)[1]["memories"]
    return found
