"""Sessions of coding agents, and exports of further chat programs: recognised, in order, and whose words they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.file_import import Intake
from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import formats, read_conversation
from mnemic.types import Actor, Candidate, Message
from mnemic_eval.replay import chosen_embedder, throwaway_engine

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


def write(path: Path, text: str) -> list[Any]:
    path.write_text(text, encoding="utf-8")
    return list(read_conversation(path))


def told(items: list[Any]) -> list[tuple[str, str | None, str]]:
    return [(one.content.role, one.content.speaker, one.content.content) for one in items if one.content is not None]


def test_a_plain_transcript_is_read_by_its_names(tmp_path: Path) -> None:
    talk = "User: Where is the oven?\nIn the kitchen?\nAssistant: Yes\nUser: Is the dog fed?\nAssistant: Yes\n"
    assert told(write(tmp_path / "talk.txt", talk)) == [
        ("user", None, "Where is the oven?\nIn the kitchen?"),
        ("assistant", None, "Yes"),
        ("user", None, "Is the dog fed?"),
        ("assistant", None, "Yes"),
    ]
    people = "Ana Diaz: I moved to Faro.\nBo: Oh!\nAna Diaz: Last week.\n"
    assert told(write(tmp_path / "people.txt", people))[0] == ("participant", "Ana Diaz", "I moved to Faro.")


def test_notes_with_labels_are_no_transcript(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="file:json"):
        write(tmp_path / "notes.txt", "Name: Ana\nCity: Faro\nDiet: vegan\n")


def test_a_table_with_a_header_is_a_talk_or_memories(tmp_path: Path) -> None:
    talk = (
        'role,content,timestamp,session\nuser,"I moved, to Faro.",2026-03-01T10:00:00Z,s1\n'
        "assistant,Nice,,s1\nuser,,,s1\n"
    )
    items = write(tmp_path / "talk.csv", talk)
    assert told(items) == [("user", None, "I moved, to Faro."), ("assistant", None, "Nice")]
    assert (items[0].content.sent_at.year, items[0].content.session, items[2].skipped) == (2026, "s1", "empty")
    kept = write(tmp_path / "facts.csv", "id;fact;mood\n7;Ana keeps bees.;good\n")
    assert [one.content.content for one in kept] == ["Ana keeps bees."]


def test_a_chat_of_sillytavern_has_its_times(tmp_path: Path) -> None:
    head = {"user_name": "Ana", "character_name": "Sam", "chat_metadata": {}}
    said = {"name": "Ana", "is_user": True, "mes": "I keep bees.", "send_date": "June 23, 2024 3:04pm"}
    text = "\n".join(
        map(json.dumps, [head, said, {"name": "Sam", "is_user": False, "mes": "Oh!", "send_date": 1719155040000}])
    )
    items = write(tmp_path / "chat.jsonl", text)
    assert told(items) == [("user", None, "I keep bees."), ("assistant", None, "Oh!")]
    assert [one.content.sent_at.hour for one in items[1:]] == [15, 15]


def test_memories_of_openmemory_that_are_in_force(tmp_path: Path) -> None:
    known = [
        {"id": "a", "content": "Ana keeps bees.", "state": "active"},
        {"id": "b", "content": "Old.", "state": "deleted"},
    ]
    items = write(tmp_path / "memories.json", json.dumps({"user": {}, "apps": [], "memories": known}))
    assert [getattr(one.content, "content", one.skipped) for one in items] == ["Ana keeps bees.", "state:deleted"]


def test_zep_names_the_speaker_and_its_role(tmp_path: Path) -> None:
    said = {"role": "Ana", "role_type": "user", "content": "I keep bees.", "created_at": AT}
    assert told(write(tmp_path / "session.json", json.dumps({"messages": [said]}))) == [("user", "Ana", "I keep bees.")]


def test_a_file_of_unknown_form_says_what_it_looks_like_and_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        write(tmp_path / "x.json", json.dumps({"title": "secret words", "posts": [{"who": "Ana"}]}))
    hint = refused.value.hint or ""
    for said in ("title, posts", "posts is a list", "lacks role and content"):
        assert said in hint
    assert "secret" not in hint


def test_the_same_short_answer_without_a_time_is_another_message(tmp_path: Path) -> None:
    lines = [{"role": "assistant", "content": "Yes", "session": one} for one in ("s1", "s2", "s2")]
    items = write(tmp_path / "talk.jsonl", "\n".join(map(json.dumps, lines)))
    assert len({one.content.message_id for one in items}) == 3


async def test_a_note_is_found_by_its_title_which_only_its_headings_stand_under(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Kitchen renovation\n\n## Budget\n\n12,000 euros, agreed with Ola.\n", "utf-8")
    (notes / "b.md").write_text("# Boat repair\n\n## Budget\n\n4,500 euros, agreed with Per.\n", "utf-8")
    actor = Actor(user="ana")
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        await Intake(engine=engine, actor=actor).take(read_conversation(notes), progress=lambda _: None)
        for topic, figure in (("boat repair", "4,500"), ("kitchen renovation", "12,000")):
            found = await engine.search(f"What is the budget of the {topic}?", actor=actor)
            assert figure in found.hits[0].memory.content
            assert not found.abstains
