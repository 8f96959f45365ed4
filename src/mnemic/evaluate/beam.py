"""BEAM ("Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs", 2025), as
`mnemic.evaluate.chats` measures it.

One chat a line. The evidence of a question is every message that its `source_chat_ids` name, in whatever shape they
stand; `all@10` of `contradiction_resolution` is whether both sides are among the first ten. Questions without sources
(`abstention`, and a few others) are left out. `standing`: see `mnemic.evaluate.standing`, for the instructions and
preferences that questions test. Split: the first half of the chats in the file's order is `dev`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.conversations import Format
from mnemic.conversations.records import open_file, records
from mnemic.errors import InvalidInput
from mnemic.evaluate import chats
from mnemic.evaluate.chats import Chat, ChatSet, Question
from mnemic.evaluate.files import found, messages_of
from mnemic.evaluate.standing import Wish
from mnemic.types import Message

FILES = ("beam_100k.jsonl*", "beam_500k.jsonl*", "beam_1m.jsonl*", "beam_10m.jsonl*", "*.jsonl*")
WISHES = {"instruction_following": "instruction_being_tested", "preference_following": "preference_being_tested"}
FIGURES = ("recall@5", "recall@10", "recall@20", "all@10")


def read_chats(path: Path) -> list[Chat]:
    """The chats of a BEAM file, or of the folder it lies in. Raises InvalidInput (`invalid_input:data:beam`)."""
    file = found(path, FILES)
    messages = messages_of(file, Format.BEAM)
    try:
        with open_file(file) as (stream, _):
            return [_chat(record.value, messages) for record in records(stream)]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("data:beam", hint="the file has another shape than BEAM's") from None


def _chat(entry: Mapping[str, Any], messages: Mapping[str, Sequence[Message]]) -> Chat:
    name = str(entry["chat"])
    return Chat(
        name=name,
        messages=tuple(messages.get(name, ())),
        questions=tuple(_questions(entry["questions"], name)),
        wishes=tuple(_wishes(entry["questions"], name)),
    )


def _questions(abilities: Mapping[str, Sequence[Mapping[str, Any]]], chat: str) -> Iterator[Question]:
    for ability, asked in abilities.items():
        for number, item in enumerate(asked):
            evidence = frozenset(source_ids(item.get("source_chat_ids")))
            if evidence:
                yield Question(
                    question_id=f"{chat}/{ability}/{number}",
                    text=str(item["question"]),
                    category=ability,
                    evidence=evidence,
                )


def _wishes(abilities: Mapping[str, Sequence[Mapping[str, Any]]], chat: str) -> Iterator[Wish]:
    """What answers have to follow, for the questions that name it."""
    for ability, field in WISHES.items():
        for number, item in enumerate(abilities.get(ability, ())):
            if item.get(field):
                yield Wish(
                    question_id=f"{chat}/{ability}/{number}/context",
                    question=str(item["question"]),
                    category=ability,
                    wanted=str(item[field]),
                    evidence=frozenset(source_ids(item.get("source_chat_ids"))),
                )


def source_ids(sources: object) -> Iterator[str]:
    """The messages that `source_chat_ids` names: a number, or lists and objects of them."""
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
    told_of = read_chats(Path(path))[:limit]
    return chats.run(ChatSet(name="beam", chats=told_of, figures=FIGURES), **how)
