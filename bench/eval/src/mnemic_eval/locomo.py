"""LoCoMo ("Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024), as `mnemic_eval.chats`
measures it.

Evidence ids are read by one rule: every `D<session>:<turn>` in the text counts, however it is separated, with an
extra colon ("D:11:26") or zeros in front ("D30:05") taken away. Whatever is left, and an id that names no turn of the
conversation, stays in the denominator as evidence that nothing can find: a figure is never flattered by a fault in
the data. Questions without evidence are left out (1,982 of 1,986 remain). Split: five and five conversations of
`locomo10.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.types import Message
from mnemic_eval import chats
from mnemic_eval.chats import Chat, ChatSet, Question
from mnemic_eval.dataset_files import Unread, find_file, load_json, messages_of

FILES = ("locomo10.json", "locomo.json")
FIGURES = ("recall@5", "recall@10", "recall@20")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: chats.ADVERSARIAL}

_EVIDENCE = re.compile(r"D:?0*(\d+):0*(\d+)")


def evidence_ids(raw: Iterable[object]) -> frozenset[str]:
    """Return the turns that `raw` names, by the rule of this module."""
    ids: set[str] = set()
    for entry in map(str, raw):
        ids.update(f"D{session}:{turn}" for session, turn in _EVIDENCE.findall(entry))
        ids.update(re.sub(r"[;,]", " ", _EVIDENCE.sub(" ", entry)).split())
    return frozenset(ids)


def conversations(path: Path, unread: Unread | None = None) -> list[Chat]:
    """Return the conversations of a LoCoMo file, or of the folder that contains it. Raises InvalidInput
    (`invalid_input:data:locomo`).
    """
    file = find_file(path, FILES)
    messages = messages_of(file, "locomo", Unread() if unread is None else unread)
    try:
        return [_conversation(entry, messages) for entry in load_json(file)]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("data:locomo", hint="the file has another shape than LoCoMo's") from None


def _conversation(entry: Mapping[str, Any], messages: Mapping[str, Sequence[Message]]) -> Chat:
    name = entry["sample_id"]
    asked = [(number, item) for number, item in enumerate(entry["qa"]) if item.get("evidence")]
    return Chat(
        name=name,
        messages=tuple(messages[name]),
        questions=tuple(
            Question(
                question_id=f"{name}/{number}",
                text=str(item["question"]),
                category=CATEGORIES.get(item.get("category"), "other"),
                evidence=evidence_ids(item["evidence"]),
            )
            for number, item in asked
        ),
    )


def run(path: str | Path, *, limit: int | None = None, **how: Any) -> dict[str, Any]:
    """Measure LoCoMo at `path` (file or folder), its first `limit` conversations; see `chats.run` for the rest.

    Raises InvalidInput for data that is not there or not LoCoMo's.
    """
    unread = Unread()
    chats_read = conversations(Path(path), unread)[:limit]
    return chats.run(ChatSet(name="locomo", chats=chats_read, figures=FIGURES, unread=unread), **how)
