"""A walk with each coding agent as a person has it: install, a prompt, the session's end, and the next session knows.

Every event goes through the installed command, as a process of its own with the tool's payload on standard input.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from mnemic.coding_agents.json_edits import parse_json

SAID, ASKED, KNOWN = "we deploy with make ship on Fridays", "how do we deploy?", "make ship"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def home() -> Iterator[Path]:
    # Of a home with a long name the lock lies elsewhere.
    with TemporaryDirectory(prefix="h", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "shop").mkdir()
        subprocess.run(["git", "init", "-q", folder / "shop"], check=True)
        remote = ["git", "-C", folder / "shop", "remote", "add", "origin", "https://github.com/acme/shop.git"]
        subprocess.run(remote, check=True)
        yield folder
        # The process behind the hooks names itself in its lock.
        for lock in (folder / ".mnemic").glob("*.lock"):
            if number := lock.read_text():
                os.kill(int(number), signal.SIGTERM)


@pytest.fixture
def run(home: Path) -> Run:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "CLAUDE_", "CODEX_"))}
    environment = {**kept, "HOME": str(home), "MNEMIC_HOOK_SECONDS": "120", "USER": "ana", "LOGNAME": "ana"}
    environment.pop("XDG_CONFIG_HOME", None)

    def call(*command: Any, sent: Any = None, **variables: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            input=None if sent is None else json.dumps(sent),
            cwd=home / "shop",
            env=environment | variables,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stderr
        return done

    return call


@pytest.fixture
def mnemic(run: Run) -> Run:
    def call(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return run(sys.executable, "-m", "mnemic", *words, **options)

    return call


def commands(settings: Path) -> dict[str, list[str]]:
    """Return the installed command of each event, as the tool's shell would split it."""
    found = {}
    for name, entries in parse_json(settings.read_text()).value["hooks"].items():
        entry = entries[0]
        found[name] = shlex.split((entry.get("hooks") or [entry])[0]["command"])
    return found


def context(done: subprocess.CompletedProcess[str]) -> str:
    said = json.loads(done.stdout) if done.stdout else {}
    specific = said.get("hookSpecificOutput", said)
    return str(specific.get("additionalContext") or specific.get("additional_context") or "")


def base(home: Path, session: str) -> dict[str, Any]:
    return {"session_id": session, "transcript_path": None, "cwd": str(home / "shop")}


@pytest.mark.parametrize(
    ("tool", "settings", "start", "prompt", "end", "further"),
    [
        ("claude-code", ".claude/settings.json", "SessionStart", "UserPromptSubmit", "SessionEnd",
         {"permission_mode": "default", "source": "startup", "reason": "exit"}),
        ("codex", ".codex/hooks.json", "SessionStart", "UserPromptSubmit", "Stop",
         {"permission_mode": "default", "model": "gpt-5", "turn_id": "t", "source": "startup"}),
        ("gemini", ".gemini/settings.json", "SessionStart", "BeforeAgent", "SessionEnd",
         {"timestamp": "2026-11-29T10:00:00Z", "source": "startup", "reason": "exit"}),
    ],
)  # fmt: skip
def test_the_next_sessions_prompt_shows_what_this_one_said(
    home: Path,
    run: Run,
    mnemic: Run,
    tool: str,
    settings: str,
    start: str,
    prompt: str,
    end: str,
    further: dict[str, Any],
) -> None:
    mnemic("install", tool)
    hooks = commands(home / settings)

    def send(name: str, session: str, **fields: Any) -> subprocess.CompletedProcess[str]:
        return run(*hooks[name], sent={**base(home, session), **further, "hook_event_name": name, **fields})

    assert send(start, "one").stdout == ""
    assert KNOWN not in send(prompt, "one", prompt=SAID).stdout
    send(end, "one")
    assert KNOWN in context(send(start, "two"))
    assert KNOWN in context(send(prompt, "three", prompt=ASKED))
    assert SAID.lower() in mnemic("--repository", "list").stdout.lower()
    assert not (home / ".mnemic" / "hook-failure.json").exists()


def test_cursor_is_told_at_the_start_of_a_chat_and_every_prompt_passes(home: Path, run: Run, mnemic: Run) -> None:
    mnemic("install", "cursor")
    hooks = commands(home / ".cursor" / "hooks.json")

    def send(name: str, chat: str, **fields: Any) -> subprocess.CompletedProcess[str]:
        sent = {"conversation_id": chat, "generation_id": "g", "workspace_roots": [str(home / "shop")], **fields}
        return run(*hooks[name], sent={**sent, "hook_event_name": name})

    assert json.loads(send("beforeSubmitPrompt", "one", prompt=SAID, attachments=[]).stdout) == {"continue": True}
    assert json.loads(send("sessionEnd", "one", reason="completed").stdout) == {}
    assert KNOWN in context(send("sessionStart", "two", is_background_agent=False))


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_plugin_of_opencode_adds_a_part_to_the_message(home: Path, run: Run, mnemic: Run) -> None:
    mnemic("install", "opencode")
    plugin = home / ".config" / "opencode" / "plugins" / "mnemic.js"
    script = """
    const { MnemicMemory } = await import(process.argv[1])
    const hooks = await MnemicMemory({ directory: process.cwd(), worktree: process.cwd() })
    const send = async (sessionID, text) => {
      const output = { message: { id: "msg_1" }, parts: [{ type: "text", text }, { type: "file", url: "file:///x" }] }
      await hooks["chat.message"]({ sessionID }, output)
      return output.parts
    }
    const first = await send("one", process.argv[2])
    await hooks.event({ event: { type: "session.idle", properties: { sessionID: "one" } } })
    let second = []
    for (let tries = 0; tries < 40 && second.length < 3; tries++) second = await send("two" + tries, process.argv[3])
    console.log(JSON.stringify({ first: first.length, second }))
    """
    done = run("node", "--input-type=module", "-e", script, str(plugin.rename(plugin.with_suffix(".mjs"))), SAID, ASKED)
    said = json.loads(done.stdout)

    assert said["first"] == 2
    added = said["second"][2]
    assert KNOWN in added["text"]
    assert (added["type"], added["synthetic"], added["messageID"]) == ("text", True, "msg_1")


def test_the_status_line_is_one_line(home: Path, run: Run, mnemic: Run) -> None:
    mnemic("install", "claude-code")
    line = shlex.split(parse_json((home / ".claude/settings.json").read_text()).value["statusLine"]["command"])
    sent = {"session_id": "one", "cwd": str(home / "shop"), "workspace": {"current_dir": str(home / "shop")}}

    assert run(*line, sent=sent).stdout == "mnemic: github.com/acme/shop · 0 memories"


def test_a_prompt_passes_whatever_the_tool_sends(home: Path, mnemic: Run, run: Run) -> None:
    mnemic("install", "claude-code")
    hook = shlex.join(commands(home / ".claude" / "settings.json")["UserPromptSubmit"])
    for sent in ("no JSON", "[]", "{}", '{"hook_event_name": "UserPromptSubmit", "prompt": 7}'):
        assert run("sh", "-c", f"printf %s {shlex.quote(sent)} | {hook}").stdout == ""
        failure = home / ".mnemic" / "hook-failure.json"
        assert json.loads(failure.read_text())["reason"]
        failure.unlink()


def test_a_prompt_that_comes_before_the_memory_is_open_passes_and_is_remembered(
    home: Path, mnemic: Run, run: Run
) -> None:
    mnemic("install", "claude-code")
    hook = commands(home / ".claude" / "settings.json")["UserPromptSubmit"]
    sent = {**base(home, "one"), "hook_event_name": "UserPromptSubmit", "prompt": SAID}
    first = run(*hook, sent=sent, MNEMIC_HOOK_SECONDS="0.001")
    again = {**base(home, "two"), "hook_event_name": "SessionStart", "source": "startup"}

    assert first.stdout == ""
    assert KNOWN in context(run(*hook, sent=again))


def test_a_broken_memory_lets_prompts_through_and_is_named_in_the_status(home: Path, mnemic: Run, run: Run) -> None:
    mnemic("install", "claude-code")
    (home / ".mnemic" / "coding.db").write_text("this is no database, and long enough to be read as one" * 40)
    hook = commands(home / ".claude" / "settings.json")["UserPromptSubmit"]
    done = run(*hook, sent={**base(home, "one"), "hook_event_name": "UserPromptSubmit", "prompt": ASKED})

    assert done.stdout == ""
    assert "last failure" in mnemic("install").stdout
    assert "UserPromptSubmit: store_" in mnemic("install").stdout


def test_the_page_can_be_followed(home: Path, run: Run) -> None:
    page = (Path(__file__).parents[2] / "docs" / "coding-agents.md").read_text(encoding="utf-8")
    (team,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    team = team.replace("postgresql://mnemic@db.internal/mnemic", "team.db")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    shown = []
    for block in blocks:
        if "--trust" in block:
            (home / "shop" / "mnemic.toml").write_text(team)
        steps = "\n".join(line for line in block.splitlines() if not line.startswith("pip "))
        shown.append(run("sh", "-e", "-c", steps, PATH=path).stdout)

    assert len(shown) == len(blocks) == 6
    assert "walnut" in "".join(shown)
    assert "team  shop in " in "".join(shown)
    assert not (home / ".claude" / "settings.json").exists()
