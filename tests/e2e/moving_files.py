"""Exports of a reader who moves from another product: small files with what each format can say."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.test_pages_run import ROOT

GOLDEN = ROOT / "tests" / "importers" / "golden"
HOME, DIET = "I live in Oslo.", "I am vegetarian."
NOON = 1710237600
"""12 March 2024, 10:00 UTC, in seconds."""


def _json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def _zip(path: Path, files: dict[str, Any]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in files.items():
            archive.writestr(name, value if isinstance(value, str) else json.dumps(value))


def _node(name: str, parent: str | None, role: str, said: str) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [said]}
    message = {"id": name, "author": {"role": role}, "create_time": NOON + ord(name[-1]), "content": content}
    return {"id": name, "parent": parent, "message": message}


def chatgpt(folder: Path) -> None:
    """Write a conversation whose answer was regenerated once, as the zip that the product gives."""
    nodes = [
        _node("m0", None, "system", ""),
        _node("m1", "m0", "user", f"{HOME} Where can I skate?"),
        _node("m2", "m1", "assistant", "Anywhere."),
        _node("m3", "m1", "assistant", "At Frogner stadion, from December."),
    ]
    tree = {node["id"]: node for node in nodes}
    talk = {"title": "Skating", "create_time": NOON, "mapping": tree, "current_node": "m3", "conversation_id": "c-1"}
    _zip(folder / "chatgpt.zip", {"conversations.json": [talk], "chat.html": "<html></html>"})


def claude(folder: Path) -> None:
    """Write a conversation, and what Claude remembers of its user."""
    said = [
        {"uuid": "m1", "sender": "human", "text": DIET, "created_at": "2024-03-12T10:00:00Z"},
        {"uuid": "m2", "sender": "assistant", "text": "Noted.", "created_at": "2024-03-12T10:00:05Z"},
    ]
    talk = {"uuid": "c-1", "name": "Food", "created_at": "2024-03-12T10:00:00Z", "chat_messages": said}
    kept = {"conversations_memory": "**Work context**\n\nAna restores wooden boats.", "project_memories": {}}
    _zip(folder / "claude.zip", {"conversations.json": [talk], "memories.json": [kept], "users.json": []})


def gemini(folder: Path) -> None:
    """Write two activities of Takeout, one of them no prompt."""
    asked = {
        "header": "Gemini Apps",
        "title": f"Prompted {HOME} Where can I skate?",
        "time": "2024-03-12T10:00:00.000Z",
        "products": ["Gemini Apps"],
        "safeHtmlItem": [{"html": "<p>At <b>Frogner stadion</b>.</p>"}],
    }
    setting = {
        "header": "Gemini Apps",
        "title": "Gemini Apps Activity turned on",
        "time": "2024-03-11T10:00:00.000Z",
        "products": ["Gemini Apps"],
    }
    _zip(folder / "takeout.zip", {"Takeout/My Activity/Gemini Apps/MyActivity.json": [asked, setting]})


def whatsapp(folder: Path) -> None:
    """Write a chat of two people, and the one of an iPhone, which names none of them."""
    said = (
        "12/03/2024, 21:14 - Messages and calls are end-to-end encrypted.\n"
        f"12/03/2024, 21:15 - Ana: {DIET} {HOME}\n"
        "12/03/2024, 21:16 - Ben: I prefer aisle seats.\n"
        "12/03/2024, 21:17 - Ben: <Media omitted>\n"
    )
    (folder / "WhatsApp Chat with Ben.txt").write_text(said, encoding="utf-8")
    phone = f"[12/03/2024, 21:15:42] Ana: {DIET} {HOME}\n[12/03/2024, 21:16:42] Ben: I prefer aisle seats.\n"
    _zip(folder / "chat.zip", {"_chat.txt": phone})


def slack(folder: Path) -> None:
    """Write a workspace of two people and one channel."""
    people = [
        {"id": "U1", "name": "ana", "profile": {"real_name": "Ana Roy"}},
        {"id": "U2", "name": "ben", "profile": {"real_name": "Ben King"}},
    ]
    said = [
        {"type": "message", "subtype": "channel_join", "user": "U1", "text": "joined", "ts": f"{NOON}.1"},
        {"type": "message", "user": "U2", "text": "<@U1>, can you come? :wave:", "ts": f"{NOON}.2"},
        {"type": "message", "user": "U1", "text": f"{HOME} So yes.", "ts": f"{NOON}.3", "thread_ts": f"{NOON}.2"},
    ]
    channels = [{"id": "C1", "name": "general"}]
    _zip(folder / "slack.zip", {"users.json": people, "channels.json": channels, "general/2024-03-12.json": said})


def telegram(folder: Path) -> None:
    """Write the export of one private chat."""
    ana = {"type": "message", "from": "Ana", "from_id": "user9"}
    ben = {"type": "message", "from": "Ben", "from_id": "user7"}
    said = [
        {"id": 1, "type": "service", "action": "create_chat", "date_unixtime": str(NOON)},
        {**ana, "id": 2, "date_unixtime": str(NOON + 60), "text": [HOME, {"type": "bold", "text": " And you?"}]},
        {**ben, "id": 3, "date_unixtime": str(NOON + 120), "text": "In Bergen."},
        {**ana, "id": 4, "date_unixtime": str(NOON + 180), "text": "I love jazz.", "forwarded_from": "Eva"},
    ]
    _json(folder / "result.json", {"name": "Ben", "type": "personal_chat", "id": 7, "messages": said})


def sharegpt(folder: Path) -> None:
    """Write one conversation a line."""
    said = [
        {"from": "system", "value": "Be brief."},
        {"from": "human", "value": DIET},
        {"from": "gpt", "value": "Noted."},
    ]
    (folder / "talks.jsonl").write_text(json.dumps({"id": "talk-1", "conversations": said}) + "\n", encoding="utf-8")


def markdown(folder: Path) -> None:
    """Write a folder of notes as a program for notes keeps them."""
    notes = folder / "notes"
    (notes / ".obsidian").mkdir(parents=True)
    (notes / ".obsidian" / "app.md").write_text("# Settings\nHidden.\n", encoding="utf-8")
    boat = "---\ntags: [boat]\n---\n# Hull\nThe hull is larch on oak.\n\n## Paint\nBlue above, red below.\n"
    (notes / "Boat.md").write_text(boat, encoding="utf-8")


def letta(folder: Path) -> None:
    """Write an agent with two blocks and a short conversation."""
    envelope = {"type": "user_message", "message": HOME, "time": "2024-03-12 10:00:00 AM UTC"}
    spoken = {"function": {"name": "send_message", "arguments": json.dumps({"message": "Noted."})}}
    at = "2024-03-12T10:00:00+00:00"
    said = [
        {"id": "m0", "role": "system", "content": "You are a guide.", "created_at": at},
        {"id": "m1", "role": "user", "content": json.dumps(envelope), "created_at": at},
        {"id": "m2", "role": "assistant", "content": None, "tool_calls": [spoken], "created_at": at},
    ]
    blocks = [
        {"id": "b1", "label": "human", "value": "Ana restores wooden boats."},
        {"id": "b2", "label": "persona", "value": "I am a patient guide."},
    ]
    _json(folder / "guide.af", {"agents": [{"name": "guide", "messages": said}], "blocks": blocks})


def graphiti(folder: Path) -> None:
    """Copy the edges that Graphiti itself wrote."""
    shutil.copy(GOLDEN / "graphiti-core-0.31.2.jsonl", folder / "edges.jsonl")


def nothing(_folder: Path) -> None:
    """Leave the file to a block of the page, which writes it."""


EXPORTS: dict[str, Callable[[Path], None]] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "gemini": gemini,
    "whatsapp": whatsapp,
    "slack": slack,
    "telegram": telegram,
    "sharegpt": sharegpt,
    "markdown": markdown,
    "letta": letta,
    "zep-graphiti": graphiti,
    "langmem": nothing,
}
"""Files that a reader brings to a page, by the name of the page."""
