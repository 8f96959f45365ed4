"""A chat imported in order leaves what capturing its messages one by one leaves, from each kind of file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import MemoryManager, Message
from mnemic.types import Kind
from tests.service import run

TALK = {
    "en": (
        "I live in Leeds.",
        "I work as a nurse at St. James.",
        "I'm allergic to penicillin.",
        "My favourite tea is rooibos.",
        "The wasp nest under the roof is gone.",
        "I have a dog called Biscuit.",
        "I moved to York last week.",
        "My favourite tea is Earl Grey now.",
        "My sister Ruth lives in Cardiff.",
        "I no longer work at St. James.",
        "Thanks, that helped a lot!",
        "Please remember that my passport expires in March 2031.",
    ),
    "de": (
        "Ich wohne in Kassel.",
        "Ich arbeite als Lehrerin.",
        "Ich bin allergisch gegen Erdnüsse.",
        "Meine Lieblingsfarbe ist Grün.",
        "Mein Bruder Jonas wohnt in Bremen.",
        "Ich bin letzte Woche nach Göttingen gezogen.",
        "Meine Lieblingsfarbe ist jetzt Blau.",
        "Das Wespennest unter dem Dach ist weg.",
        "Danke, das hat geholfen!",
        "Bitte merke dir, dass mein Vertrag im Mai 2031 endet.",
    ),
}
BEGAN = datetime(2026, 5, 4, 9, tzinfo=UTC)
Told = Sequence[tuple[datetime, str]]


def chat(told: Told) -> str:
    """Return lines of messages."""
    made = [
        {"role": "user", "content": text, "timestamp": at.isoformat(), "session": "s", "id": str(place)}
        for place, (at, text) in enumerate(told)
    ]
    return "".join(json.dumps(one) + "\n" for one in made)


def chatgpt(told: Told) -> str:
    """Return a data export of ChatGPT."""
    nodes: list[dict[str, object]] = [{"id": "root", "parent": None, "children": ["0"], "message": None}]
    for place, (at, text) in enumerate(told):
        nodes.append({
            "id": str(place),
            "parent": str(place - 1) if place else "root",
            "children": [str(place + 1)] if place + 1 < len(told) else [],
            "message": {
                "id": str(place),
                "author": {"role": "user"},
                "create_time": at.timestamp(),
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
            },
        })  # fmt: skip
    return json.dumps([{
        "title": "Talk",
        "create_time": told[0][0].timestamp(),
        "mapping": {str(one["id"]): one for one in nodes},
        "current_node": str(len(told) - 1),
        "conversation_id": "s",
    }])  # fmt: skip


def claude(told: Told) -> str:
    """Return a data export of Claude."""
    said = [
        {"uuid": str(place), "sender": "human", "text": text, "created_at": at.isoformat().replace("+00:00", "Z")}
        for place, (at, text) in enumerate(told)
    ]
    return json.dumps([{"uuid": "s", "name": "Talk", "created_at": said[0]["created_at"], "chat_messages": said}])


def telegram(told: Told) -> str:
    """Return a chat of Telegram Desktop."""
    said = [
        {
            "id": place + 1,
            "type": "message",
            "date": at.strftime("%Y-%m-%dT%H:%M:%S"),
            "date_unixtime": str(int(at.timestamp())),
            "from": "Ana",
            "from_id": "user1",
            "text": text,
        }
        for place, (at, text) in enumerate(told)
    ]
    return json.dumps({"name": "Bo", "type": "personal_chat", "id": 7, "messages": said})


FILES: dict[str, tuple[Callable[[Told], str], str, tuple[str, ...]]] = {
    "chat": (chat, "chat.jsonl", ()),
    "chatgpt": (chatgpt, "conversations.json", ()),
    "claude": (claude, "conversations.json", ()),
    "telegram": (telegram, "result.json", ("--me", "Ana")),
}


def told_in(language: str) -> Told:
    """Return the talk, told one message a day."""
    return [(BEGAN + place * timedelta(days=1), text) for place, text in enumerate(TALK[language])]


def live(store: Path) -> list[str]:
    """Return the memories that hold in a store, without the messages that an import keeps."""
    with MemoryManager("ana", store=str(store)) as manager:
        return sorted(one.content for one in manager.list(limit=500) if one.kind is Kind.LONG_TERM)


@pytest.mark.parametrize("language", ["en", "de"])
def test_an_import_leaves_what_capturing_leaves(tmp_path: Path, language: str) -> None:
    told = told_in(language)
    with MemoryManager("ana", store=str(tmp_path / "captured.db")) as manager:
        for at, text in told:
            manager.capture(Message(role="user", content=text, sent_at=at, session="s"))
    captured = live(tmp_path / "captured.db")
    assert len(captured) > len(told) // 2
    for name, (written, file, options) in FILES.items():
        folder = tmp_path / name
        folder.mkdir()
        (folder / file).write_text(written(told), encoding="utf-8")
        done = run(folder, "import", str(folder / file), "--format", name, "--user", "ana", *options)
        assert done.returncode == 0, (name, done.stderr)
        assert live(folder / "s.db") == captured, name
