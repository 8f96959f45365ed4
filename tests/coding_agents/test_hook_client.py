"""What a tool starts at every prompt, and the events that it tells."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mnemic
from mnemic.coding_agents.hook_events import HookEvent, Moment, own_words
from mnemic.errors import InvalidInput

SOURCE = Path(mnemic.__file__).parents[1]


def test_a_hook_loads_nothing_that_takes_long_to_load() -> None:
    """A prompt waits for it. Without `site`, which may load anything on its own account."""
    told = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import mnemic.coding_agents.hook_client; print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-S", "-c", told], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {one for one in loaded if one.startswith("mnemic")} == {
        "mnemic",
        "mnemic.coding_agents",
        "mnemic.coding_agents.hook_client",
        "mnemic.coding_agents.state_files",
    }
    assert not loaded & {"typing", "tempfile", "hashlib", "asyncio", "dataclasses", "inspect", "click"}


CLAUDE = {
    "session_id": "abc123",
    "transcript_path": "~/.claude/projects/-shop/abc123.jsonl",
    "cwd": "/shop",
    "permission_mode": "default",
}
CODEX = {**CLAUDE, "model": "gpt-5", "turn_id": "t1", "transcript_path": None}
CURSOR = {
    "conversation_id": "c1",
    "generation_id": "g1",
    "model": "auto",
    "cursor_version": "2.4.0",
    "workspace_roots": ["/shop"],
    "user_email": None,
    "transcript_path": None,
}
GEMINI = {**CLAUDE, "timestamp": "2026-11-29T10:00:00Z"}


def specific(name: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "known"}}


@pytest.mark.parametrize(
    ("tool", "name", "payload", "moment", "answer"),
    [
        ("claude-code", "SessionStart", {**CLAUDE, "source": "startup"}, "start", specific("SessionStart")),
        ("claude-code", "UserPromptSubmit", {**CLAUDE, "prompt": "hi"}, "prompt", specific("UserPromptSubmit")),
        ("claude-code", "SessionEnd", {**CLAUDE, "reason": "exit"}, "end", None),
        ("codex", "SessionStart", {**CODEX, "source": "resume"}, "start", specific("SessionStart")),
        ("codex", "UserPromptSubmit", {**CODEX, "prompt": "hi"}, "prompt", specific("UserPromptSubmit")),
        ("codex", "Stop", {**CODEX, "stop_hook_active": False, "last_assistant_message": "x"}, "end", None),
        ("gemini", "BeforeAgent", {**GEMINI, "prompt": "hi"}, "prompt", specific("BeforeAgent")),
        ("gemini", "SessionStart", {**GEMINI, "source": "clear"}, "start", specific("SessionStart")),
        ("cursor", "sessionStart", {**CURSOR, "is_background_agent": False}, "start", {"additional_context": "known"}),
        ("cursor", "beforeSubmitPrompt", {**CURSOR, "prompt": "hi", "attachments": []}, "prompt", {"continue": True}),
        ("cursor", "sessionEnd", {**CURSOR, "reason": "completed"}, "end", {}),
        ("opencode", "chat.message", {"cwd": "/shop", "prompt": "hi"}, "prompt", {"context": "known"}),
    ],
)  # fmt: skip
def test_each_event_is_read_and_answered_in_the_form_of_its_tool(
    tool: str, name: str, payload: dict[str, Any], moment: str, answer: dict[str, Any] | None
) -> None:
    event = HookEvent.from_payload(tool, name, payload)

    assert event.moment is Moment(moment)
    assert str(event.folder) == "/shop"
    assert event.prompt == payload.get("prompt", "")
    said = event.answer("known")
    assert (json.loads(said) if said else None) == answer


def test_nothing_known_is_silence() -> None:
    assert HookEvent.from_payload("codex", "UserPromptSubmit", {**CODEX, "prompt": "hi"}).answer("") == ""


def test_sessions_of_two_tools_and_odd_names_stay_apart() -> None:
    names = {
        HookEvent.from_payload(tool, "UserPromptSubmit", {"cwd": "/", "session_id": session, "prompt": "x"}).session
        for tool in ("codex", "claude-code")
        for session in ("a", "b", "é", "x" * 500)
    }
    assert len(names) == 8
    assert max(map(len, names)) <= 100


@pytest.mark.parametrize(
    ("tool", "name", "payload"),
    [("vim", "x", {}), ("codex", "PreToolUse", {"cwd": "/"}), ("codex", "Stop", {}), ("codex", "Stop", [])],
)
def test_an_event_of_nothing_known_is_refused(tool: str, name: str, payload: Any) -> None:
    with pytest.raises(InvalidInput):
        HookEvent.from_payload(tool, name, payload)


@pytest.mark.parametrize(
    ("prompt", "own"),
    [
        ("We use pnpm here.", "We use pnpm here."),
        ("Why?\n```\nI live in Paris\n```\nWe use pnpm.", "Why?\nWe use pnpm."),
        ("> I hate tabs\n\nWe use spaces here.", "We use spaces here."),
        ("<file path='a.md'>We deploy by hand.</file>\nsummarise it", "summarise it"),
        ("/compact keep the plan", ""),
        ("!git log", ""),
        ("<command-name>/clear</command-name>", ""),
        ("<task-notification>done</task-notification>", ""),
        ("<environment_context>cwd</environment_context>", ""),
    ],
)
def test_pasted_text_files_and_commands_are_not_the_users_word(prompt: str, own: str) -> None:
    assert own_words(prompt) == own
