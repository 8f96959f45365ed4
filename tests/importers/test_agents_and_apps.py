"""Sessions of coding agents, and exports of further chat programs: recognised, in order, and whose words they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mnemic.importers.file_readers import formats, read_conversation
from mnemic.types import Candidate, Message

AT = "2026-03-01T10:00:00Z"


def code(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": kind, "uuid": "u", "sessionId": "s1", "timestamp": AT,
        "message": {"role": kind, "content": content}, **more
    }  # fmt: skip


def codex(role: str, words: str) -> dict[str, Any]:
    return {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": "message", "role": role, "content": [{"type": "input_text", "text": words}]},
    }


LINES: dict[str, list[Any]] = {
    "claude_code": [
        {"type": "summary", "summary": "Talk", "leafUuid": "u", "sessionId": "s1", "uuid": "x"},
        code("user", "We use tabs in this repository."),
        code("user", "<command-name>/clear</command-name>"),
        code("user", "Injected", isMeta=True),
        code("user", [{"type": "tool_result", "tool_use_id": "t", "content": "I live in Evilville."}]),
        code("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}]),
        code("user", "A task of a side agent", isSidechain=True),
    ],
    "codex": [
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s1", "cwd": "/"}},
        codex("user", "<environment_context>\n<cwd>/</cwd>\n</environment_context>"),
        codex("user", "We use tabs in this repository."),
        {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": "We use tabs"}},
        {"timestamp": AT, "type": "response_item", "payload": {"type": "function_call_output", "output": "x"}},
        codex("assistant", "Noted."),
    ],
}
DOCUMENTS: dict[str, Any] = {
    "discord": {
        "guild": {"id": "1", "name": "g"},
        "channel": {"id": "7", "name": "general"},
        "messages": [
            {"id": "1", "type": "GuildMemberJoin", "content": "joined", "author": {"name": "ana"}},
            {"id": "2", "type": "Default", "timestamp": AT, "content": "We use tabs in this repository.",
             "author": {"id": "9", "name": "ana", "nickname": "Ana", "isBot": False}},
            {"id": "3", "type": "Reply", "timestamp": AT, "content": "Noted.",
             "author": {"name": "bot", "isBot": True}},
        ],
    },
    "open_webui": [
        {"id": "c1", "user_id": "u", "created_at": 1, "chat": {"history": {"currentId": "3", "messages": {
            "1": {"id": "1", "parentId": None, "role": "user", "content": "We use tabs in this repository."},
            "2": {"id": "2", "parentId": "1", "role": "assistant", "content": "An answer that was made anew."},
            "3": {"id": "3", "parentId": "1", "role": "assistant", "content": "Noted.", "timestamp": 1772359200},
        }}}},
    ],
    "librechat": {
        "conversationId": "c1", "title": "t", "recursive": True,
        "messages": [{"messageId": "1", "isCreatedByUser": True, "text": "We use tabs in this repository.",
         "children": [
            {"messageId": "2", "isCreatedByUser": False, "text": "An answer that was made anew.", "children": []},
            {"messageId": "3", "isCreatedByUser": False, "text": "Noted.", "createdAt": AT, "children": []},
        ]}],
    },
}  # fmt: skip


def written(folder: Path, name: str) -> Path:
    path = folder / f"file.{'jsonl' if name in LINES else 'json'}"
    lines = LINES.get(name)
    path.write_text(
        json.dumps(DOCUMENTS[name]) if lines is None else "\n".join(json.dumps(one) for one in lines), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize("name", [*LINES, *DOCUMENTS])
def test_who_said_what_in_which_order(tmp_path: Path, name: str) -> None:
    items = list(read_conversation(written(tmp_path, name)))
    assert items == list(read_conversation(written(tmp_path, name), file_format=name))
    assert name in formats()
    assert [one.problem for one in items if one.problem is not None] == []
    first, last = [one.content for one in items if isinstance(one.content, Message)]
    assert (first.content, last.content) == ("We use tabs in this repository.", "Noted.")
    assert (first.role, last.role) == {"discord": ("participant", "tool")}.get(name, ("user", "assistant"))
    assert last.sent_at is not None
    assert last.sent_at.year == 2026


def test_what_the_mcp_memory_server_remembered(tmp_path: Path) -> None:
    path = tmp_path / "memory.jsonl"
    lines = [
        {"type": "entity", "name": "Ana_Roy", "entityType": "person", "observations": ["Likes tea", "Lives in Oslo"]},
        {"type": "relation", "from": "Ana_Roy", "to": "Acme", "relationType": "works_at"},
        {"type": "entity", "name": "Ben"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    *kept, broken = read_conversation(path)
    told = [one.content.content for one in kept if isinstance(one.content, Candidate)]
    assert told == ["Ana Roy: Likes tea", "Ana Roy: Lives in Oslo", "Ana Roy works at Acme"]
    assert broken.problem is not None


def test_what_open_webui_remembered(tmp_path: Path) -> None:
    path = tmp_path / "memories.json"
    memory = {"id": "m", "user_id": "u", "content": "Likes tea.", "updated_at": 1, "created_at": 1}
    path.write_text(json.dumps([memory]), encoding="utf-8")
    (item,) = read_conversation(path)
    assert isinstance(item.content, Candidate)
    assert item.content.content == "Likes tea."


def test_what_was_pasted_into_claude_is_kept_apart_from_the_words_around_it(tmp_path: Path) -> None:
    said = {
        "uuid": "1", "sender": "human", "text": "Please read this.", "content": [], "created_at": AT,
        "attachments": [{"file_name": "a.txt", "extracted_content": "I live in ```Brugge```."}, {"file_name": "x.png"}],
    }  # fmt: skip
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"uuid": "k", "chat_messages": [said]}]), encoding="utf-8")
    (item,) = read_conversation(path)
    assert isinstance(item.content, Message)
    assert item.content.content == "Please read this.\n\n````\nI live in ```Brugge```.\n````"


@pytest.mark.parametrize("header", ["Gemini-Apps", "Applications Gemini", "Aplicaciones de Gemini", "Gemini アプリ"])
def test_gemini_names_itself_in_the_users_language(tmp_path: Path, header: str) -> None:
    path = tmp_path / "MyActivity.json"
    entry = {
        "header": header,
        "title": "Prompted Where is Graz?",
        "time": AT,
        "safeHtmlItem": [{"html": "<p>South.</p>"}],
    }
    path.write_text(json.dumps([entry]), encoding="utf-8")
    told = [one.content.content for one in read_conversation(path) if isinstance(one.content, Message)]
    assert told == ["Where is Graz?", "South."]


def test_two_sections_of_the_same_name_are_of_two_things(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(
        "# Boat\n\n## Budget\n\n4,500.\n\n### Of it\n\nPaint.\n\nKitchen\n=======\n\n## Budget\n\n12,000.\n"
    )
    told = [
        (one.content.content, one.content.context)
        for one in read_conversation(path)
        if isinstance(one.content, Candidate)
    ]
    assert told == [("4,500.", "Boat > Budget"), ("Paint.", "Boat > Budget > Of it"), ("12,000.", "Kitchen > Budget")]


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_a_file_of_which_nothing_is_taken_in_is_an_error(tmp_path: Path, dry: list[str]) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "system", "content": "You are helpful."}))
    command = [sys.executable, "-m", "mnemic", "--store", str(tmp_path / "m.db"), "import", str(path), *dry]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "nothing in the file" in done.stderr
