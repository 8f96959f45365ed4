"""BEAM ("Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs", 2025), as
`mnemic_eval.chats` measures it.

One chat a line. The evidence of a question is every message that its `source_chat_ids` name, in whatever shape they are
given; `all@10` of `contradiction_resolution` is whether both sides are among the first ten. Questions without sources
(`abstention`, and a few others) are left out. `standing`: see `mnemic_eval.pinned`, for the instructions and
preferences that questions test. Split: the first half of the chats in the file's order is `dev`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.records import open_file, records
from mnemic.types import Message
from mnemic_eval import chats
from mnemic_eval.chats import Chat, ChatSet, Question
from mnemic_eval.dataset_files import Unread, find_file, messages_of
from mnemic_eval.pinned import Wish

FILES = ("beam_100k.jsonl*", "beam_500k.jsonl*", "beam_1m.jsonl*", "beam_10m.jsonl*", "*.jsonl*")
WISHES = {"instruction_following": "instruction_being_tested", "preference_following": "preference_being_tested"}
FIGURES = ("recall@5", "recall@10", "recall@20", "all@10")


def read_chats(path: Path, unread: Unread | None = None) -> list[Chat]:
    """Return the chats of a BEAM file, or of the folder that contains it. A chat or question of another shape is
    counted in `unread` and skipped. Raises InvalidInput (`invalid_input:data:beam`) if no chat can be read.
    """
    file, unread = find_file(path, FILES), Unread() if unread is None else unread
    messages = messages_of(file, "beam", unread)
    chats_of: list[Chat] = []
    with open_file(file) as (stream, _):
        for record in records(stream):
            chat = _chat(record.value, messages, unread)
            unread.update({"chats": 1} if chat is None else {})
            chats_of += [] if chat is None else [chat]
    if not chats_of:
        raise InvalidInput("data:beam", hint="the file has another shape than BEAM's")
    return chats_of


def _chat(entry: Any, messages: Mapping[str, Sequence[Message]], unread: Unread) -> Chat | None:
    abilities = entry.get("questions") if isinstance(entry, Mapping) else None
    if not isinstance(abilities, Mapping) or "chat" not in entry:
        return None
    name = str(entry["chat"])
    asked = list(_chat_questions(abilities, name, unread))
    return Chat(
        name=name,
        messages=tuple(messages.get(name, ())),
        questions=tuple(question for one in asked if (question := _question(*one)) is not None),
        wishes=tuple(wish for one in asked if (wish := _wish(*one)) is not None),
    )


def _chat_questions(
    abilities: Mapping[str, Any], chat: str, unread: Unread
) -> Iterator[tuple[str, str, Mapping[str, Any], frozenset[str]]]:
    """Yield each question of a chat with its id, its ability and its source messages."""
    for ability, asked in abilities.items():
        for number, item in enumerate(asked if isinstance(asked, list) else [asked]):
            if isinstance(item, Mapping) and isinstance(item.get("question"), str) and item["question"].strip():
                yield f"{chat}/{ability}/{number}", ability, item, frozenset(source_ids(item.get("source_chat_ids")))
            else:
                unread["questions"] += 1


def _question(question_id: str, ability: str, item: Mapping[str, Any], evidence: frozenset[str]) -> Question | None:
    if not evidence:
        return None
    return Question(question_id=question_id, text=item["question"], category=ability, evidence=evidence)


def _wish(question_id: str, ability: str, item: Mapping[str, Any], evidence: frozenset[str]) -> Wish | None:
    """Return the instruction or preference that an answer must follow; None if the question has none."""
    wanted = item.get(WISHES.get(ability, ""))
    if not wanted:
        return None
    return Wish(
        question_id=f"{question_id}/context",
        question=item["question"],
        category=ability,
        wanted=str(wanted),
        evidence=evidence,
    )


def source_ids(sources: object) -> Iterator[str]:
    """Yield the messages that `source_chat_ids` names: a number, or lists and objects of them."""
    if isinstance(sources, Mapping):
        sources = list(sources.values())
    if isinstance(sources, list):
        for one in sources:
            yield from source_ids(one)
    elif sources is not None:
        yield str(sources)


def run(path: str | Path, *, limit: int | None = None, **how: Any) -> dict[str, Any]:
    """Measure BEAM at `path` (file or folder), its first `limit` chats; see `chats.run` for the rest.

    Raises InvalidInput for data that is not there or not BEAM's.
    """
    unread = Unread()
    chats_read = read_chats(Path(path), unread)[:limit]
    return chats.run(ChatSet(name="beam", chats=chats_read, figures=FIGURES, unread=unread), **how)
