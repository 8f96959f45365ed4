"""Commands on pages without a test of their own: the README, getting started, and the settings for editors."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.test_guides import clean
from tests.e2e.test_pages_run import ROOT, blocks
from tests.scripted_model import ModelRequest, ScriptedModelServer

CHAT = '{"role": "user", "content": "I live in Oslo."}\n'
FOR_EDITORS = ["docs/frameworks/mcp.md", "docs/guides/mcp-in-an-editor.md"]
PROGRAMS = ["claude-code", "claude-desktop", "cursor", "vscode"]
PRINTED = re.compile(r"^ *(mnemic [^\n|$]*--print-config )[\w-]+$", re.MULTILINE)


def run(command: str, folder: Path, said: str = "", **settings: str) -> str:
    environment: Mapping[str, str] = {**clean(), "HOME": str(folder), "MNEMIC_USER": "ana", **settings}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def model(request: ModelRequest) -> str:
    """Answer a turn of a conversation; extract nothing."""
    return json.dumps({"items": []}) if request.user.startswith("{") else "Hello."


def test_the_commands_of_the_readme_run_one_after_the_other(tmp_path: Path) -> None:
    _, made, commands = blocks("README.md", "sh")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{line.split()[1]}:" in makefile for line in made.splitlines())
    (tmp_path / "chat.jsonl").write_text(CHAT, encoding="utf-8")
    with ScriptedModelServer(model) as server:
        named = {"MNEMIC_MODEL": "scripted", "MNEMIC_MODEL_URL": server.base_url}
        for line in commands.splitlines():
            given = named if line.startswith("mnemic chat") else {}
            if "MEMORY_ID" in line:
                newest = json.loads(run("mnemic list --limit 1 --json", tmp_path))["memories"][0]
                line = line.replace("MEMORY_ID", f"--yes {newest['memory_id']}")
            printed = run(line, tmp_path, said="Hello.\n", **given)
            assert "sit" not in line or "aisle" in printed
    assert (tmp_path / "everything.jsonl").read_text(encoding="utf-8").count("\n") >= 4


def test_the_commands_at_the_head_of_the_page_of_the_command_line_run(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text(CHAT, encoding="utf-8")
    printed = "".join(run(line, tmp_path) for line in blocks("docs/cli.md", "sh")[0].splitlines())
    assert "I will prioritize aisle seats for the flight to Denver." in printed
    assert "all is well" in printed


def test_getting_started_shows_what_its_policy_does(tmp_path: Path) -> None:
    (policy,) = blocks("docs/getting-started.md", "toml")
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    shown = next(block for block in blocks("docs/getting-started.md", "sh") if "--policy policy.toml" in block)
    printed = [line.split()[:2] for line in run(shown, tmp_path).splitlines()]
    told = [line.removeprefix("# ").split()[:2] for line in shown.splitlines() if line.startswith("# ")]
    assert printed == told


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("page", FOR_EDITORS)
def test_the_settings_for_an_editor_are_printed_with_absolute_paths(page: str, program: str, tmp_path: Path) -> None:
    (command,) = set(PRINTED.findall((ROOT / page).read_text(encoding="utf-8")))
    printed = json.loads(run(command + program, tmp_path))
    (servers,) = printed.values()
    server = servers["memory"]
    store = server["args"][server["args"].index("--store") + 1]
    assert (Path(server["command"]).is_absolute(), Path(store).parent) == (True, tmp_path)
