"""`mnemic install` writes its entries in each tool's form and nothing else; `uninstall` gives back what was there."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mnemic.coding_agents.json_edits import parse_json
from mnemic.coding_agents.tools import TOOLS
from tests.coding_agents.conftest import Mnemic

CLAUDE = """{
  // the model that I like
  "model": "opus",
  "hooks": {
    "UserPromptSubmit": [
      {"hooks": [{"type": "command", "command": "~/bin/note-time"}]}
    ]
  },
  "permissions": {"allow": ["Bash(make:*)"]},
}
"""
CODEX = """# my own settings
model = "gpt-5"   # the big one

[mcp_servers.docs]
command = "docs-server"
"""


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".mnemic" not in path.parts and ".git" not in path.parts
    }


def loaded(path: Path) -> Any:
    return parse_json(path.read_text(encoding="utf-8")).value


@pytest.fixture
def settings(home: Path) -> Path:
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text(CLAUDE)
    (home / ".claude.json").write_text('{"numStartups":3,"mcpServers":{"docs":{"command":"docs"}}}')
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(CODEX)
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text('{"ui": {"theme": "GitHub"}}\r\n')
    return home


def test_an_installation_is_taken_out_without_a_trace(settings: Path, mnemic: Mnemic) -> None:
    before = tree(settings)
    assert mnemic("install", *TOOLS).exit_code == 0
    installed = tree(settings)
    assert mnemic("install", *TOOLS).exit_code == 0

    assert tree(settings) == installed
    assert installed != before
    assert mnemic("uninstall", *TOOLS).exit_code == 0
    assert tree(settings) == before


def test_what_the_user_has_in_a_file_stays_byte_for_byte(settings: Path, mnemic: Mnemic) -> None:
    mnemic("install", "claude-code", "codex")

    claude = (settings / ".claude" / "settings.json").read_text()
    for line in CLAUDE.splitlines()[:-1]:
        assert line.rstrip(",") in claude
    assert (settings / ".codex" / "config.toml").read_text().startswith(CODEX)
    assert loaded(settings / ".claude.json")["numStartups"] == 3
    assert set(loaded(settings / ".claude.json")["mcpServers"]) == {"docs", "mnemic"}


def test_what_the_user_changed_since_the_installation_stays(settings: Path, mnemic: Mnemic) -> None:
    mnemic("install", "claude-code", "codex")
    claude, codex = settings / ".claude" / "settings.json", settings / ".codex" / "config.toml"
    claude.write_text(claude.read_text().replace('"opus"', '"sonnet"'))
    codex.write_text(codex.read_text() + '\n[mcp_servers.later]\ncommand = "later"\n')
    mnemic("uninstall", "claude-code", "codex")

    assert claude.read_text() == CLAUDE.replace('"opus"', '"sonnet"')
    assert "mnemic" not in codex.read_text()
    assert set(tomllib.loads(codex.read_text())["mcp_servers"]) == {"docs", "later"}


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (".claude/settings.json", b'{"model": '),
        (".claude.json", b"\xff\xfe{}"),
        (".codex/config.toml", b"model = \n"),
        (".codex/config.toml", b'mcp_servers = {docs = {command = "x"}}\n'),
        (".gemini/settings.json", b'{"hooks": {"BeforeAgent": "mine"}}'),
        (".cursor/hooks.json", b"[]"),
        (".config/opencode/opencode.json", b'{"mcp": {"mnemic": {"type": "remote", "url": "https://x"}}}'),
        (".claude/skills/mnemic/SKILL.md", b"a skill of mine\n"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_stops_the_installation_before_it_begins(
    home: Path, mnemic: Mnemic, file: str, content: bytes
) -> None:
    path = home / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    before = tree(home)
    result = mnemic("install", *TOOLS)

    assert result.exit_code == 3
    assert "invalid_config:settings_file" in result.stderr
    assert path.name in result.stderr
    assert tree(home) == before


def test_a_dry_run_and_a_print_write_nothing(settings: Path, mnemic: Mnemic) -> None:
    before = tree(settings)
    dry, printed = mnemic("install", "claude-code", "--dry-run"), mnemic("install", "claude-code", "--print")

    assert tree(settings) == before
    assert not (settings / ".mnemic").exists()
    assert '+            "command": ' in dry.stdout
    assert "// the model that I like" in printed.stdout
    assert "name: mnemic" in printed.stdout


def test_a_status_line_of_the_users_is_kept(home: Path, mnemic: Mnemic) -> None:
    (home / ".claude").mkdir()
    path = home / ".claude" / "settings.json"
    path.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    result = mnemic("install", "claude-code")

    assert loaded(path)["statusLine"]["command"] == "mine"
    assert "statusLine is yours and stays" in result.stdout


def test_a_linked_settings_file_stays_a_link(home: Path, mnemic: Mnemic) -> None:
    kept = home / "dotfiles" / "settings.json"
    kept.parent.mkdir()
    kept.write_text("{}\n")
    kept.chmod(0o644)
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(kept)
    mnemic("install", "claude-code")

    assert (home / ".claude" / "settings.json").is_symlink()
    assert "hooks" in loaded(kept)
    assert kept.stat().st_mode & 0o777 == 0o644


def test_each_tool_gets_its_own_form(home: Path, mnemic: Mnemic) -> None:
    mnemic("install", *TOOLS)
    claude = loaded(home / ".claude" / "settings.json")
    codex, cursor = loaded(home / ".codex" / "hooks.json"), loaded(home / ".cursor" / "hooks.json")
    gemini, opencode = loaded(home / ".gemini" / "settings.json"), loaded(home / ".config/opencode/opencode.json")
    server = loaded(home / ".cursor" / "mcp.json")["mcpServers"]["mnemic"]

    assert set(claude["hooks"]) == {"SessionStart", "UserPromptSubmit", "SessionEnd"}
    assert set(codex["hooks"]) == {"SessionStart", "UserPromptSubmit", "Stop"}
    for hooks in (claude["hooks"], codex["hooks"]):
        (group,) = hooks["UserPromptSubmit"]
        (hook,) = group["hooks"]
        assert set(hook) == {"type", "command", "timeout"}
        assert hook["type"] == "command"
        assert hook["timeout"] <= 15  # seconds
    assert cursor["version"] == 1
    assert set(cursor["hooks"]) == {"sessionStart", "beforeSubmitPrompt", "sessionEnd"}
    assert set(cursor["hooks"]["beforeSubmitPrompt"][0]) == {"command", "timeout"}
    assert set(gemini["hooks"]) == {"SessionStart", "BeforeAgent", "SessionEnd"}
    assert gemini["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] >= 1000  # milliseconds
    assert tomllib.loads((home / ".codex" / "config.toml").read_text())["mcp_servers"]["mnemic"] == server
    assert opencode["mcp"]["mnemic"] == {
        "type": "local", "command": [server["command"], *server["args"]], "enabled": True,
    }  # fmt: skip
    for folder in (".claude", ".codex", ".cursor", ".gemini", ".config/opencode"):
        assert (home / folder / "skills" / "mnemic" / "SKILL.md").read_text().startswith("---\nname: mnemic\n")


def test_folders_that_a_tool_is_told_to_use_are_used(
    home: Path, mnemic: Mnemic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "c"))
    monkeypatch.setenv("CODEX_HOME", str(home / "x"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "g"))
    mnemic("install", "claude-code", "codex", "opencode")

    assert {"c/settings.json", "c/.claude.json", "x/hooks.json", "x/config.toml", "g/opencode/opencode.json"} <= set(
        tree(home)
    )
    assert not (home / ".claude.json").exists()


def test_without_a_tool_it_says_what_is_installed_and_whose_memory_this_is(home: Path, mnemic: Mnemic) -> None:
    assert "nowhere yet" in mnemic("install").stdout
    mnemic("install", "cursor", "--store", str(home / "all.db"))
    shown = json.loads(mnemic("install", "--json").stdout)

    assert shown["installed"] == ["cursor"]
    assert shown["store"] == str(home / "all.db")
    assert shown["repository"] == "github.com/acme/shop"
