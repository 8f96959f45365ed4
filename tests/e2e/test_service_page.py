"""The recipe of the service's page runs as it stands: a key, the service, an application with two users."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.test_explained_blocks import CHAT
from tests.e2e.test_pages_run import ROOT, blocks
from tests.service import serving

PAGE = "docs/service.md"


def test_the_recipe_for_a_backend_with_many_users_runs(tmp_path: Path) -> None:
    recipe, code = blocks(PAGE, "sh")[0].splitlines(), blocks(PAGE, "python")[0]
    making = next(line for line in recipe if line.startswith("mnemic apikeys"))
    environment = {**os.environ, "MNEMIC_STORE": str(tmp_path / "s.db")}
    words = [sys.executable, "-m", "mnemic", *shlex.split(making)[1:]]
    subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, check=True)
    assert stat.S_IMODE((tmp_path / "backend.key").stat().st_mode) == 0o600
    assert "mnemic serve" in recipe

    with serving(tmp_path) as served:
        script = code.replace("http://127.0.0.1:8377", served.address)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "I prefer aisle seats.\n"
    assert f"This prints `{done.stdout.strip()}`" in (ROOT / PAGE).read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("jq") is None or shutil.which("curl") is None, reason="NOT RUN: it needs jq and curl")
def test_the_requests_by_curl_are_answered(tmp_path: Path) -> None:
    by_hand = next(block for block in blocks(PAGE, "sh") if "/v1/search" in block)
    upload = next(block for block in blocks(PAGE, "sh") if "/v1/uploads" in block)
    (tmp_path / "_chat.txt").write_text(CHAT, encoding="utf-8")
    with serving(tmp_path) as served:
        given = {**os.environ, "KEY": served.key("reader", "writer")}

        def answers(commands: str) -> list[dict[str, Any]]:
            script = commands.replace("http://127.0.0.1:8377", served.address)
            words = ["bash", "-euo", "pipefail", "-c", f"{{ {script.rstrip()}\n}} | jq --compact-output ."]
            done = subprocess.run(words, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stderr
            return [json.loads(line) for line in done.stdout.splitlines()]

        kept, searched = answers(by_hand)
        assert searched["hits"][0]["memory"]["memory_id"] == kept["memory_id"]
        (counted,) = answers(upload)
        assert counted["messages"] == 3
        assert sum(counted["captured"].values()) == 2
        assert sum(counted["left_out"].values()) == 1


def test_each_person_of_a_team_gets_a_key_of_their_own(tmp_path: Path) -> None:
    recipe = next(block for block in blocks(PAGE, "sh") if "for user in" in block)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {**os.environ, "PATH": path, "MNEMIC_STORE": str(tmp_path / "s.db")}
    subprocess.run(["bash", "-euc", recipe], cwd=tmp_path, env=given, capture_output=True, check=True, timeout=120)
    keys = {path.stem: path.read_text().strip() for path in tmp_path.glob("*.key")}
    assert set(keys) == {"ana", "ben", "cleo", "olga"}
    with serving(tmp_path) as served:
        who = {
            name: httpx.get(
                f"{served.address}/v1/whoami", headers={"Authorization": f"Bearer {key}"}, timeout=60
            ).json()
            for name, key in keys.items()
        }
    assert {name: one["user"] for name, one in who.items()} == {name: name for name in keys}
    assert set(who["olga"]["roles"]) == {"operator", "reviewer"}
    assert set(who["ana"]["roles"]) == {"reader", "writer", "subject"}
