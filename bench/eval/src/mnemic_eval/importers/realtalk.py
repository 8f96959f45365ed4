"""REALTALK: three weeks of messages between two people who met in a study.

Lee et al., "REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation", 2025. One chat a file: `name` with both
speakers, `session_<n>` with turns of `clean_text`, `speaker`, `date_time` and `dia_id`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item, entry
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_SESSION = re.compile(r"session_(\d+)")


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a REALTALK chat."""
    return any(_SESSION.fullmatch(key) and isinstance(turns, list) for key, turns in value.items())


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the turns of every chat, session by session. The first speaker is the user, the other is a
    `participant`.
    """
    for position, record in enumerate(found, start=1):
        value = record.value
        if record.problem is not None or not isinstance(value, Mapping) or not recognises(value):
            problem = record.problem or InvalidInput("conversation:shape", hint="expected a REALTALK chat")
            yield Item(place=record.place, conversation=name, problem=problem)
            continue
        yield from _turns(value, name if position == 1 else f"{name}-{position}")


def _turns(chat: Mapping[str, Any], conversation: str) -> Iterator[Item]:
    user = _first_speaker(chat)
    for key in sorted(filter(_SESSION.fullmatch, chat), key=lambda one: int(one.removeprefix("session_"))):
        for position, turn in enumerate(chat[key] if isinstance(chat[key], list) else [], start=1):
            place = f"message {position} of {key} of {conversation}"
            yield entry(
                place,
                conversation,
                partial(_message, turn, user, chat.get(f"{key}_date_time"), f"{conversation}:{key}"),
            )


def _first_speaker(chat: Mapping[str, Any]) -> str | None:
    """As the chat names them; None if it does not, or by no text."""
    named = chat.get("name")
    first = named.get("speaker_1") if isinstance(named, Mapping) else None
    return first if isinstance(first, str) else None


def _message(turn: Any, user: str | None, began: object, session: str) -> Message:
    if not isinstance(turn, Mapping):
        raise InvalidInput("message", hint="expected an object with speaker and clean_text")
    speaker = text(turn, "speaker")
    said = turn.get("date_time") or began
    return Message(
        role="user" if user is None or speaker == user else "participant",
        content=_content(turn),
        message_id=text(turn, "dia_id"),
        session=session,
        speaker=speaker,
        sent_at=None if said is None else moment(said, "message:date_time"),
        origin=Origin.IMPORT,
    )


def _content(turn: Mapping[str, Any]) -> str:
    said, caption = text(turn, "clean_text", "text") or "", text(turn, "blip_caption")
    return f"{said} [shares a picture: {caption}]".strip() if caption else said


IMPORTER = Importer(items=items, recognises=recognises, rank=40)
