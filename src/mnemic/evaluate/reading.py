"""The messages of a LoCoMo conversation and of a LongMemEval haystack."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from mnemic.types import Message

_SESSION = re.compile(r"session_(\d+)")


def locomo_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    """The turns in order of their sessions; the caption of a shared picture follows the text."""
    told = entry["conversation"]
    numbers = sorted(int(match[1]) for name in told if (match := _SESSION.fullmatch(name)))
    for number in numbers:
        moment = datetime.strptime(told[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in told[f"session_{number}"]:
            caption = turn.get("blip_caption")
            yield Message(
                role="user",
                content=f"{turn['text']} [image: {caption}]" if caption else turn["text"],
                message_id=turn["dia_id"],
                session=f"session-{number}",
                speaker=turn["speaker"],
                sent_at=moment,
            )


def longmemeval_messages(entry: Mapping[str, Any]) -> Iterator[Message]:
    """The turns of all sessions, numbered `<session id>:<turn>`."""
    sessions = zip(entry["haystack_session_ids"], entry["haystack_dates"], entry["haystack_sessions"], strict=True)
    for session, date, turns in sessions:
        moment = datetime.strptime(date, "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)
        for place, turn in enumerate(turns):
            yield Message(
                role=turn["role"],
                content=turn["content"],
                message_id=f"{session}:{place}",
                session=session,
                sent_at=moment,
            )
