"""LoCoMo: very long conversations between two people.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. Sessions are `session_<n>`,
each with a date; turns have `dia_id`, `speaker` and `text`.
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
    """Return True if `value` is a LoCoMo sample."""
    talk = value.get("conversation")
    return isinstance(talk, Mapping) and any(_SESSION.fullmatch(key) for key in talk)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the turns of every sample, session by session. `speaker_a` is the user, whose memory it becomes; the other
    is a `participant`.
    """
    for position, record in enumerate(found, start=1):
        value = record.value
        if record.problem is not None or not isinstance(value, Mapping) or not recognises(value):
            problem = record.problem or InvalidInput("conversation:shape", hint="expected a LoCoMo sample")
            yield Item(place=record.place, conversation=name, problem=problem)
            continue
        sample = value.get("sample_id")
        yield from _turns(value["conversation"], sample if isinstance(sample, str) else f"{name}-{position}")


def _turns(talk: Mapping[str, Any], conversation: str) -> Iterator[Item]:
    for key in sorted(filter(_SESSION.fullmatch, talk), key=lambda one: int(one.removeprefix("session_"))):
        turns = talk[key] if isinstance(talk[key], list) else []
        for position, turn in enumerate(turns, start=1):
            place = f"message {position} of {key} of {conversation}"
            yield entry(place, conversation, partial(_message, turn, talk, key, conversation))


def _message(turn: Any, talk: Mapping[str, Any], key: str, conversation: str) -> Message:
    if not isinstance(turn, Mapping):
        raise InvalidInput("message", hint="expected an object with speaker and text")
    speaker = text(turn, "speaker")
    said = talk.get(f"{key}_date_time")
    return Message(
        role="user" if speaker == talk.get("speaker_a") else "participant",
        content=_content(turn),
        message_id=text(turn, "dia_id"),
        session=f"{conversation}:{key}",
        speaker=speaker,
        sent_at=None if said is None else moment(said, f"conversation:{key}_date_time"),
        origin=Origin.IMPORT,
    )


def _content(turn: Mapping[str, Any]) -> str:
    said, caption = text(turn, "text") or "", text(turn, "blip_caption")
    return f"{said} [shares a picture: {caption}]".strip() if caption else said


IMPORTER = Importer(items=items, recognises=recognises, rank=10)
