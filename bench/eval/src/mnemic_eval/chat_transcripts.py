"""Talk between two people in plain text, one file a chat.

A line `# 2026-03-02 18:40` opens a session at that time, in UTC; every other line is a message, `NAME: what was said`.
A line without a name continues the message before it. Empty lines are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mnemic.errors import InvalidInput
from mnemic.types import Message
from mnemic_eval.chats import Chat

_SAID = re.compile(r"([^\s:][^:]{0,39}): (.+)")
_PACE = timedelta(seconds=20)
"""Between two messages of a session, as files name the start of each session only."""


def read_talk(path: Path) -> list[Chat]:
    """Return the chats of a file, or of the `*.txt` of a folder in the order of their names. Raises InvalidInput
    (`invalid_input:data:talk`) where there is none, or a file opens without the time of a session.
    """
    files = sorted(path.glob("*.txt")) if path.is_dir() else [path]
    chats = [Chat(name=file.stem, messages=tuple(_messages(file)), questions=()) for file in files]
    if not any(chat.messages for chat in chats):
        raise InvalidInput("data:talk", hint="expected text files with lines 'NAME: what was said'")
    return chats


def _messages(file: Path) -> Iterator[Message]:
    at: datetime | None = None
    session, said = 0, ("", "")
    for line in [*filter(str.strip, file.read_text(encoding="utf-8").splitlines()), "# end"]:
        spoken = _SAID.fullmatch(line.strip())
        if not line.startswith("#") and spoken is None:
            said = (said[0], f"{said[1]} {line.strip()}")
            continue
        if said[1]:
            if at is None:
                raise InvalidInput("data:talk", hint=f"{file.name} opens without a line '# YYYY-MM-DD HH:MM'")
            at += _PACE
            yield Message(role="user", content=said[1], session=f"{file.stem}:{session}", speaker=said[0], sent_at=at)
        said = (spoken[1], spoken[2]) if spoken else ("", "")
        if line.startswith("# ") and line != "# end":
            at, session = _opening_time(line, file), session + 1


def _opening_time(line: str, file: Path) -> datetime:
    try:
        return datetime.fromisoformat(line.removeprefix("# ").strip()).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidInput("data:talk", hint=f"{file.name}: '{line}' is no time of a session") from None
