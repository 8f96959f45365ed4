"""LongMemEval: one question each with the user's chat sessions before it (Wu et al., "LongMemEval: Benchmarking Chat
Assistants on Long-Term Interactive Memory", ICLR 2025). Each question is a separate conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item, entry
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a question with its sessions."""
    return isinstance(value.get("haystack_sessions"), list)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of every question's sessions, in the file's order; `<session>:<n>` names the n-th message."""
    for position, record in enumerate(found, start=1):
        value = record.value
        if record.problem is not None or not isinstance(value, Mapping) or not recognises(value):
            problem = record.problem or InvalidInput("conversation:shape", hint="expected a LongMemEval question")
            yield Item(place=record.place, conversation=name, problem=problem)
            continue
        question = value.get("question_id")
        yield from _sessions(value, question if isinstance(question, str) else f"{name}-{position}")


def _sessions(value: Mapping[str, Any], conversation: str) -> Iterator[Item]:
    for number, session in enumerate(value["haystack_sessions"]):
        given = _value_at(value.get("haystack_session_ids"), number)
        name = given if isinstance(given, str) else f"{conversation}:session_{number + 1}"
        turns = session if isinstance(session, list) else [session]
        for position, turn in enumerate(turns, start=1):
            place = f"message {position} of {name} of {conversation}"
            yield entry(
                place,
                conversation,
                partial(_message, turn, _value_at(value.get("haystack_dates"), number), f"{name}:{position}", name),
            )


def _value_at(values: Any, number: int) -> Any:
    return (
        values[number]
        if isinstance(values, Sequence) and not isinstance(values, str) and number < len(values)
        else None
    )


def _message(turn: Any, said: Any, message_id: str, session: str) -> Message:
    if not isinstance(turn, Mapping) or turn.get("role") not in ("user", "assistant"):
        raise InvalidInput("message:role", hint="expected an object with role user or assistant")
    return Message(
        role=turn["role"],
        content=text(turn, "content") or "",
        message_id=message_id,
        session=session,
        sent_at=None if said is None else moment(said, "conversation:haystack_dates"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=20)
