"""REALTALK ("REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation", 2025), as `mnemic.evaluate.chats`
measures it.

One JSON file a chat; a folder is read in the order of its file names. Evidence ids are read by LoCoMo's rule. Split:
the first half of the chats by file name is `dev`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.conversations import Format
from mnemic.errors import InvalidInput
from mnemic.evaluate import chats
from mnemic.evaluate.chats import Chat, ChatSet, Question
from mnemic.evaluate.files import loaded, messages_of
from mnemic.evaluate.locomo import evidence_ids
from mnemic.types import Message

FIGURES = ("recall@5", "recall@10", "recall@20")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
"""The names of the paper's table; a number that is not known is `other`."""


def read_chats(path: Path) -> list[Chat]:
    """The chats of a file, or of the files of a folder or its folders; files without questions are left out. Raises
    InvalidInput (`invalid_input:data:realtalk`).
    """
    files = (sorted(path.glob("*.json*")) or sorted(path.rglob("*.json*"))) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise InvalidInput("data:missing", hint="expected a file, or a folder with one JSON file a chat")
    read = [chat for file in files for chat in _chats(file)]
    if not read:
        raise InvalidInput("data:realtalk", hint="no chat has questions with evidence")
    return read


def _chats(file: Path) -> list[Chat]:
    value = loaded(file)
    try:
        entries = value if isinstance(value, list) else [value]
        if not any(entry.get("qa") for entry in entries):
            return []
        told = messages_of(file, Format.REALTALK).items()
        return [_chat(entry, *one) for entry, one in zip(entries, told, strict=True) if entry.get("qa")]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("data:realtalk", hint="a file has another shape than REALTALK's") from None


def _chat(entry: Mapping[str, Any], name: str, messages: Sequence[Message]) -> Chat:
    asked = [(number, item) for number, item in enumerate(entry["qa"]) if item.get("evidence")]
    return Chat(
        name=name,
        messages=tuple(messages),
        questions=tuple(
            Question(
                question_id=f"{name}/{number}",
                text=str(item["question"]),
                category=CATEGORIES.get(item.get("category"), "other"),
                evidence=evidence_ids(_listed(item["evidence"])),
            )
            for number, item in asked
        ),
    )


def _listed(evidence: object) -> Sequence[object]:
    return evidence if isinstance(evidence, list) else [evidence]


def run(path: str | Path, *, limit: int | None = None, **how: Any) -> dict[str, Any]:
    """Measure REALTALK at `path` (file or folder), its first `limit` chats; see `chats.run` for the rest.

    Raises InvalidInput for data that is not there or not REALTALK's.
    """
    told_of = read_chats(Path(path))[:limit]
    return chats.run(ChatSet(name="realtalk", chats=told_of, figures=FIGURES), **how)
