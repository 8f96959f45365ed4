"""Small exports of every product that the importers read, made of given texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

AT = "2026-03-04T09:30:00Z"


def chatgpt(*said: str, **more: Any) -> Any:
    nodes: dict[str, Any] = {}
    for number, text in enumerate(said):
        message = {
            "id": f"m{number}",
            "author": {"role": "user"},
            "create_time": 1772616600.5,
            "content": {"content_type": "text", "parts": [text]},
            **more,
        }
        parent = f"m{number - 1}" if number else None
        nodes[f"m{number}"] = {"id": f"m{number}", "parent": parent, "message": message}
    return [{"title": "x", "create_time": 1.5, "mapping": nodes, "current_node": f"m{len(said) - 1}", "id": "c"}]


def claude(*said: str, **more: Any) -> Any:
    messages = [{"uuid": f"m{at}", "sender": "human", "text": one, **more} for at, one in enumerate(said)]
    return [{"uuid": "c", "name": "x", "created_at": AT, "chat_messages": messages}]


def gemini(*said: str, **more: Any) -> Any:
    return [
        {
            "header": "Gemini Apps",
            "title": f"Prompted {one}",
            "time": f"2024-03-12T10:{at:02}:00Z",
            "products": ["Gemini Apps"],
            **more,
        }
        for at, one in enumerate(said)
    ]


def sharegpt(*said: str, **more: Any) -> Any:
    return [{"id": "s", "conversations": [{"from": "human", "value": one, **more} for one in said]}]


def telegram(*said: str, **more: Any) -> Any:
    messages = [
        {
            "id": at,
            "type": "message",
            "date": "2026-03-04T10:30:00",
            "from": "Ana",
            "from_id": "u9",
            "text": one,
            **more,
        }
        for at, one in enumerate(said)
    ]
    return {"name": "Ben", "type": "personal_chat", "id": 7, "messages": messages}


def slack(*said: str, **more: Any) -> Any:
    return [
        {"type": "message", "user": "U1", "text": one, "ts": f"17102781{at:02}.5", **more}
        for at, one in enumerate(said)
    ]


def whatsapp(*said: str) -> str:
    return "".join(f"12/03/2024, 21:{at:02} - Ana: {one}\n" for at, one in enumerate(said))


def markdown(*said: str) -> str:
    return "".join(f"# Part {at}\n{one}\n\n" for at, one in enumerate(said))


def mem0(*said: str, **more: Any) -> Any:
    results = [
        {"id": f"m{at}", "memory": one, "created_at": AT, "user_id": "ana", **more} for at, one in enumerate(said)
    ]
    return {"results": results}


def letta(*said: str, **more: Any) -> Any:
    blocks = [{"label": f"b{at}", "value": one, **more} for at, one in enumerate(said)]
    return {"agent_type": "memgpt_agent", "name": "guide", "core_memory": blocks, "messages": []}


def graphiti(*said: str, **more: Any) -> Any:
    return {
        "edges": [
            {"uuid": f"e{at}", "name": "IS", "fact": one, "group_id": "ana", "created_at": AT, **more}
            for at, one in enumerate(said)
        ]
    }


def langmem(*said: str, **more: Any) -> Any:
    return [
        {"namespace": ["m", "ana"], "key": f"k{at}", "value": {"text": one, **more}, "created_at": AT, "updated_at": AT}
        for at, one in enumerate(said)
    ]


FORMATS: dict[str, tuple[str, Callable[..., Any]]] = {
    "chatgpt": ("conversations.json", chatgpt),
    "claude": ("conversations.json", claude),
    "gemini": ("MyActivity.json", gemini),
    "sharegpt": ("talks.json", sharegpt),
    "telegram": ("result.json", telegram),
    "slack": ("general.json", slack),
    "whatsapp": ("_chat.txt", whatsapp),
    "markdown": ("notes.md", markdown),
    "mem0": ("mem0.json", mem0),
    "letta": ("guide.af", letta),
    "graphiti": ("edges.json", graphiti),
    "langmem": ("store.json", langmem),
}


def exported(folder: Path, name: str, *said: str, **more: Any) -> Path:
    """Write an export of this format that says these texts in order; return its path."""
    ending, made = FORMATS[name]
    told = made(*said, **more)
    path = folder / ending
    path.write_text(told if isinstance(told, str) else json.dumps(told), encoding="utf-8")
    return path
