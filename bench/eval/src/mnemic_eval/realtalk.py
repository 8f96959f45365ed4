"""REALTALK ("REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation", 2025), as `mnemic_eval.chats`
measures it.

One JSON file a chat; a folder is read in the order of its file names. Evidence ids are read by LoCoMo's rule. Split:
the first half of the chats by file name is `dev`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.records import open_file
from mnemic.types import Message
from mnemic_eval import chats
from mnemic_eval.chats import Chat, ChatSet, Question
from mnemic_eval.dataset_files import Unread, load_json, messages_of
from mnemic_eval.locomo import evidence_ids

FIGURES = ("recall@5", "recall@10", "recall@20")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "commonsense"}
"""The names of the paper's table; a number that is not known is `other`."""


def read_chats(path: Path, unread: Unread | None = None) -> list[Chat]:
    """Return the chats of a file, or of the files of a folder or its folders; files without questions are left out.
    Chats and questions of another shape are counted in `unread` and left out. Raises InvalidInput
    (`invalid_input:data:realtalk`) where no chat can be read.
    """
    unread = Unread() if unread is None else unread
    files = (sorted(path.glob("*.json*")) or sorted(path.rglob("*.json*"))) if path.is_dir() else [path]
    if not files or not files[0].is_file():
        raise InvalidInput("data:missing", hint="expected a file, or a folder with one JSON file a chat")
    read = [chat for file in files for chat in _chats(file, unread)]
    if not any(chat.questions for chat in read):
        raise InvalidInput("data:realtalk", hint="no chat has questions with evidence")
    return read


def _chats(file: Path, unread: Unread) -> list[Chat]:
    value = load_json(file)
    entries = value if isinstance(value, list) else [value]
    asked = {place: entry for place, entry in enumerate(entries, start=1) if isinstance(entry, Mapping)}
    unread.update({"chats": len(entries) - len(asked)} if len(asked) < len(entries) else {})
    asked = {place: entry for place, entry in asked.items() if entry.get("qa")}
    if not asked:
        return []
    with open_file(file) as (_, stem):
        names = {place: stem if place == 1 else f"{stem}-{place}" for place in asked}
    messages = messages_of(file, "realtalk", unread)
    return [_chat(entry["qa"], names[place], messages.get(names[place], ()), unread) for place, entry in asked.items()]


def _chat(asked: Any, name: str, messages: Sequence[Message], unread: Unread) -> Chat:
    questions: list[Question] = []
    for number, item in enumerate(asked if isinstance(asked, list) else [asked]):
        if not isinstance(item, Mapping) or not isinstance(item.get("question"), str) or not item["question"].strip():
            unread["questions"] += 1
        elif evidence := evidence_ids(_evidence_list(item.get("evidence"))):
            questions.append(
                Question(
                    question_id=f"{name}/{number}",
                    text=item["question"],
                    category=_category(item.get("category")),
                    evidence=evidence,
                )
            )
    return Chat(name=name, messages=tuple(messages), questions=tuple(questions))


def _category(given: object) -> str:
    """Return the name of a category given by number or by name."""
    number = int(given) if isinstance(given, str) and given.isdecimal() else given
    named = CATEGORIES.get(number) if isinstance(number, int) else None
    return named or (given if isinstance(given, str) and not given.isdecimal() else "other")


def _evidence_list(evidence: object) -> Sequence[object]:
    if isinstance(evidence, Mapping):
        evidence = list(evidence.values())
    return evidence if isinstance(evidence, list) else [] if evidence is None else [evidence]


def run(path: str | Path, *, limit: int | None = None, **how: Any) -> dict[str, Any]:
    """Measure REALTALK at `path` (file or folder), its first `limit` chats; see `chats.run` for the rest.

    Raises InvalidInput for data that is not there or not REALTALK's.
    """
    unread = Unread()
    chats_read = read_chats(Path(path), unread)[:limit]
    return chats.run(ChatSet(name="realtalk", chats=chats_read, figures=FIGURES, unread=unread), **how)
