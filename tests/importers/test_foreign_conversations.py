"""Reading exports of other products: files written by hand after the documented formats."""

from __future__ import annotations

import json
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.export_import import summary_text
from mnemic.cli.file_import import Intake
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import read_conversation
from mnemic.importers.file_readers.item import Item
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Message, Origin


def node(name: str, parent: str | None, role: str | None, *parts: Any, **fields: Any) -> dict[str, Any]:
    said = {
        "id": name,
        "author": {"role": role},
        "create_time": 1772616600.5,
        "content": {"content_type": "text", "parts": list(parts)},
        "recipient": "all",
        **fields,
    }
    return {"id": name, "parent": parent, "children": [], "message": said if role else None}


def chatgpt(*nodes: dict[str, Any], current: str | None) -> dict[str, Any]:
    return {
        "title": "Boats",
        "create_time": 1772616600.5,
        "mapping": {one["id"]: one for one in nodes},
        "current_node": current,
        "conversation_id": "c-1",
    }


CLAUDE = {
    "uuid": "c-2",
    "name": "Kale",
    "created_at": "2026-03-04T09:30:00.000000Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "I grow kale.", "created_at": "2026-03-04T09:30:00.000000Z"},
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Since when?"}],
        },
        {"uuid": "m3", "sender": "nobody", "text": "?"},
        "broken",
    ],
}
SHAREGPT = {
    "id": "s-1",
    "conversations": [
        {"from": "system", "value": "Be kind."},
        {"from": "human", "value": "I live in Oslo."},
        {"from": "gpt", "value": "Noted."},
        {"from": "tool", "value": "rain"},
        {"from": "ghost", "value": "boo"},
        {"from": "human", "value": " "},
    ],
}
TELEGRAM = {
    "name": "Ben",
    "type": "personal_chat",
    "id": 7,
    "messages": [
        {"id": 1, "type": "service", "date": "2026-03-04T09:00:00", "action": "phone_call", "text": ""},
        {
            "id": 2,
            "type": "message",
            "date": "2026-03-04T10:30:00",
            "date_unixtime": "1772616600",
            "from": "Ana",
            "from_id": "user9",
            "text": ["Look: ", {"type": "link", "text": "https://example.org"}],
        },
        {"id": 3, "type": "message", "date": "2026-03-04T09:31:00", "from": "Ben", "from_id": "user7", "text": "Nice"},
    ],
}
ONE, TWO, OTHER = (f"0b7c1f0e-1111-4222-8333-00000000000{n}" for n in range(3))
MEM0 = {
    "results": [
        {
            "id": ONE,
            "memory": "Lives in Oslo",
            "hash": "x",
            "metadata": {"topic": "home"},
            "created_at": "2025-01-02T03:04:05-08:00",
            "updated_at": "2025-06-01T00:00:00+00:00",
            "user_id": "ana",
            "run_id": "r1",
        },
        {"id": TWO, "memory": "Suggested skiing", "created_at": "2025-01-03", "user_id": "ana", "role": "assistant"},
        {"id": OTHER, "memory": "Lives in Rome", "created_at": "2025-01-03", "user_id": "bob"},
        {"id": "x", "memory": "No time", "user_id": "ana"},
    ],
    "history": [
        {"memory_id": ONE, "event": "UPDATE", "new_memory": "Lives in Oslo", "updated_at": "2025-06-01T00:00:00Z"},
        {"memory_id": ONE, "event": "ADD", "new_memory": "Lives in Bergen", "created_at": "2025-01-02T11:04:05Z"},
    ],
}


ANA = Actor(user="ana")


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    clock = ManualClock(datetime(2026, 3, 5, tzinfo=UTC))
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock) as empty:
        yield empty


def read(folder: Path, value: Any, **options: Any) -> list[Item]:
    path = folder / "file"
    path.write_text(json.dumps(value), encoding="utf-8")
    return list(read_conversation(path, **options))


def messages(items: list[Item]) -> list[Message]:
    return [item.content for item in items if isinstance(item.content, Message)]


def problems(items: list[Item]) -> list[str]:
    return [item.problem.reason for item in items if item.problem is not None]


def skipped(items: list[Item]) -> list[str]:
    return [item.skipped for item in items if item.skipped is not None]


def test_chatgpt_keeps_the_branch_that_was_seen_last(tmp_path: Path) -> None:
    talk = chatgpt(
        node("root", None, None),
        node("sys", "root", "system", ""),
        node("u", "sys", "user", "I sail.", {"asset_pointer": "file"}),
        node("old", "u", "assistant", "Where?"),
        node("call", "u", "assistant", "search()", recipient="browser"),
        node("tool", "call", "tool", "a page"),
        node("a", "tool", "assistant", "In Bergen?"),
        node("hid", "a", "user", "x", metadata={"is_visually_hidden_from_conversation": True}),
        current="hid",
    )
    items = read(tmp_path, [talk])
    user, tool, assistant = messages(items)
    assert (user.content, user.role, user.session, user.message_id) == ("I sail.", "user", "c-1", "u")
    assert user.sent_at == datetime(2026, 3, 4, 9, 30, 0, 500000, tzinfo=UTC)
    origins = (user.origin, tool.origin, assistant.origin)
    assert origins == (Origin.IMPORT, Origin.TOOL_OUTPUT, Origin.AGENT_INFERRED)
    assert skipped(items) == ["system_message", "not_said", "hidden", "other_branch"]


def test_exports_are_read_from_the_oldest_conversation_on(tmp_path: Path) -> None:
    chats = [
        {**chatgpt(node("a", None, "user", text), current="a"), "create_time": began}
        for text, began in (("third", 30), ("untimed", None), ("first", 10), ("second", 20.5))
    ]
    assert [one.content for one in messages(read(tmp_path, chats))] == ["first", "second", "third", "untimed"]
    claudes = [
        {"uuid": text, "created_at": began, "chat_messages": [{"uuid": "1", "sender": "human", "text": text}]}
        for text, began in (("later", "2026-05-02T08:00:00Z"), ("earlier", "2026-05-01T08:00:00Z"), ("?", "soon"))
    ]
    assert [one.content for one in messages(read(tmp_path, claudes))] == ["earlier", "later", "?"]


def test_a_circle_in_chatgpt_stays_a_problem_of_its_conversation(tmp_path: Path) -> None:
    circle = chatgpt(node("a", "b", "user", "1"), node("b", "a", "user", "2"), current="a")
    orphan = chatgpt(node("a", "gone", "user", "1"), current="a")
    good = chatgpt(node("a", None, "user", "I sail."), current=None)
    items = read(tmp_path, [circle, orphan, good, {"mapping": 3}, 7])
    assert [message.content for message in messages(items)] == ["I sail."]
    assert problems(items) == ["invalid_input:conversation:tree"] * 2 + ["invalid_input:conversation:shape"] * 2


def test_chatgpt_messages_that_cannot_be_read(tmp_path: Path) -> None:
    strange = [node("a", None, "user", "1"), node("b", "a", "alien", "2"), node("c", "b", "user")]
    strange[0]["message"] = "text"
    strange[2]["message"]["content"]["parts"] = "text"
    items = read(tmp_path, [chatgpt(*strange, current="c")])
    assert problems(items) == [f"invalid_input:{what}" for what in ("message", "message:role", "message:content")]


def test_claude(tmp_path: Path) -> None:
    items = read(tmp_path, [CLAUDE, {"name": "no messages"}])
    user, assistant = messages(items)
    assert (user.content, user.role, user.session, user.message_id) == ("I grow kale.", "user", "c-2", "m1")
    assert user.sent_at == datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
    assert (assistant.content, assistant.origin) == ("Since when?", Origin.AGENT_INFERRED)
    assert problems(items) == [f"invalid_input:{what}" for what in ("message:sender", "message", "conversation:shape")]


REMEMBERED = {
    "conversations_memory": (
        "**Work context**\n\nAna is a nurse in Bergen.\nShe works nights.\n\n## Food\n\nAna grows kale."
    ),
    "project_memories": {"p-1": "The boat is 7 metres long.", "p-2": None},
    "account_uuid": "a-1",
}


@pytest.mark.parametrize("name", ["memories.json", "memories/a-1.json"])
@pytest.mark.parametrize("zipped", [False, True])
def test_what_claude_remembers_comes_after_the_conversations(tmp_path: Path, name: str, zipped: bool) -> None:
    files = {
        "export/conversations.json": [CLAUDE],
        f"export/{name}": [REMEMBERED],
        "export/users.json": [{"uuid": "u"}],
    }
    if zipped:
        with zipfile.ZipFile(tmp_path / "claude.zip", "w") as archive:
            for one, value in files.items():
                archive.writestr(one, json.dumps(value))
    else:
        for one, value in files.items():
            (tmp_path / one).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / one).write_text(json.dumps(value), encoding="utf-8")
    items = list(read_conversation(tmp_path / "claude.zip" if zipped else tmp_path / "export"))
    assert [one.content for one in messages(items)] == ["I grow kale.", "Since when?"]
    kept = [item.content for item in items if isinstance(item.content, Candidate)]
    assert [(one.context, one.content) for one in kept] == [
        ("Work context", "Ana is a nurse in Bergen.\nShe works nights."),
        ("Food", "Ana grows kale."),
        ("", "The boat is 7 metres long."),
    ]
    assert [one.data for one in kept[1:]] == [
        {"claude": {"account": "a-1"}, "heading": "Food"},
        {"claude": {"account": "a-1", "project": "p-1"}},
    ]
    assert isinstance(items[-1].content, Candidate)


def test_a_file_of_what_claude_remembers_alone_and_files_that_are_called_so(tmp_path: Path) -> None:
    assert len([item for item in read(tmp_path, [REMEMBERED]) if isinstance(item.content, Candidate)]) == 3
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "memories.json").write_text('[{"photo": 1}]', encoding="utf-8")
    (folder / "conversations.json").write_text(json.dumps([CLAUDE]), encoding="utf-8")
    assert len(messages(list(read_conversation(folder)))) == 2


def test_sharegpt(tmp_path: Path) -> None:
    items = read(tmp_path, [SHAREGPT, {**SHAREGPT, "id": None}])
    assert [(one.role, one.content, one.session) for one in messages(items)[:3]] == [
        ("user", "I live in Oslo.", "s-1"),
        ("assistant", "Noted.", "s-1"),
        ("tool", "rain", "s-1"),
    ]
    assert messages(items)[3].session == "file-2"
    assert skipped(items) == ["system_message", "empty"] * 2
    assert problems(items) == ["invalid_input:message:from"] * 2


def test_telegram_chat_and_account(tmp_path: Path) -> None:
    items = read(tmp_path, TELEGRAM)
    ana, ben = messages(items)
    assert (ana.role, ana.speaker, ana.content) == ("user", "Ana", "Look: https://example.org")
    assert ana.sent_at == datetime(2026, 3, 4, 9, 30, tzinfo=UTC)
    assert (ben.role, ben.message_id) == ("participant", "telegram-7:3")
    assert skipped(items) == ["system_message"]

    group = {**TELEGRAM, "type": "private_group"}
    assert {one.role for one in messages(read(tmp_path, group))} == {"participant"}
    saved = {**TELEGRAM, "type": "saved_messages"}
    assert {one.role for one in messages(read(tmp_path, saved))} == {"user"}
    third = {"id": 4, "type": "message", "date": "2026-03-04T09:32:00", "from": "Eve", "from_id": "user5", "text": "Hi"}
    several = {**TELEGRAM, "messages": [*TELEGRAM["messages"], third]}
    assert {one.role for one in messages(read(tmp_path, several))} == {"participant"}  # which of both is the user?
    renumbered = {**TELEGRAM, "id": 70}  # the chat's id is not its partner's, but its name is
    assert [one.role for one in messages(read(tmp_path, renumbered))] == ["user", "participant"]
    headless = {"messages": TELEGRAM["messages"]}
    assert {one.role for one in messages(read(tmp_path, headless))} == {"participant"}
    account = {"personal_information": {"user_id": 9}, "chats": {"list": [group, {"id": 1}]}}
    items = read(tmp_path, account)
    assert [one.role for one in messages(items)] == ["user", "participant"]
    assert problems(items) == ["invalid_input:conversation:shape"]


def test_mem0_keeps_ids_times_users_and_history(tmp_path: Path) -> None:
    items = read(tmp_path, MEM0)
    home, skiing = (item.content for item in items if isinstance(item.content, ArchivedMemory))
    first, second = home.versions
    assert (first.content, second.content, second.version) == ("Lives in Bergen", "Lives in Oslo", 2)
    assert second.memory_id == ONE
    assert second.created_at == first.updated_at == datetime(2025, 1, 2, 11, 4, 5, tzinfo=UTC)
    assert second.updated_at == datetime(2025, 6, 1, tzinfo=UTC)
    assert second.data == {"topic": "home", "run_id": "r1", "mem0": {"id": ONE, "user_id": "ana"}}
    assert skiing.versions[0].source.origin is Origin.AGENT_INFERRED
    assert skipped(items) == ["other_user"]
    assert problems(items) == ["invalid_input:memory:created_at"]


def test_mem0_reads_the_user_that_is_asked_for(tmp_path: Path) -> None:
    items = read(tmp_path, MEM0["results"], conversation="bob")
    (bob,) = (item.content for item in items if isinstance(item.content, ArchivedMemory))
    assert bob.versions[0].content == "Lives in Rome"


@pytest.mark.parametrize("value", [{"mapping": {}}, {"conversations": [1]}, {"results": []}, {"chats": {}}])
def test_what_only_resembles_them_is_refused(tmp_path: Path, value: Any) -> None:
    with pytest.raises(InvalidInput, match="file:format"):
        read(tmp_path, value)


async def test_a_second_import_of_mem0_changes_nothing(tmp_path: Path, engine: MemoryEngine) -> None:
    items = read(tmp_path, MEM0)
    first = await Intake(engine=engine, actor=ANA).take(iter(items), lambda _: None)
    second = await Intake(engine=engine, actor=ANA).take(iter(items), lambda _: None)

    assert (first.recorded, second.recorded, second.refreshed) == (2, 0, 2)
    assert first.skipped == second.skipped == {"other_user": 1}
    versions = await engine.history(ONE, actor=ANA)
    assert [one.content for one in versions] == ["Lives in Bergen", "Lives in Oslo"]
    assert versions[0].created_at == datetime(2025, 1, 2, 11, 4, 5, tzinfo=UTC)
    assert versions[0].scope.owner == ANA.user


async def test_a_second_import_of_a_chat_changes_nothing(tmp_path: Path, engine: MemoryEngine) -> None:
    items = read(tmp_path, TELEGRAM)
    first = await Intake(engine=engine, actor=ANA, extract=False).take(iter(items), lambda _: None)
    second = await Intake(engine=engine, actor=ANA, extract=False).take(iter(items), lambda _: None)

    assert (first.recorded, second.recorded, second.refreshed) == (2, 0, 2)


async def test_an_imported_value_that_waits_is_said_to_wait(tmp_path: Path) -> None:
    """An import is trusted less than the user's statements, so its other value of a key waits for a person."""
    chat = tmp_path / "WhatsApp Chat with Ben.txt"
    chat.write_text("3/12/24, 9:15 AM - Ana: I live in Porto\n3/12/24, 9:16 AM - Ben: ok\n", encoding="utf-8")
    ana = Actor(user="ana")
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as engine:
        await engine.add("Lisbon", key="home_city", actor=ana)
        items = read_conversation(str(chat), "auto")
        summary = await Intake(engine=engine, actor=ana).take(iter(items), lambda _: None)
    assert (summary.captured, summary.waiting) == ({"home_city": 1}, 1)
    assert summary.as_dict()["waiting"] == 1
    assert "1 of the captured: mnemic review list" in summary_text(summary)
