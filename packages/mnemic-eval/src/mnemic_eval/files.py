"""Data sets as files: found, read, and refused with one clear line where they are not what was asked for."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemic.conversations import read_conversation
from mnemic.errors import InvalidInput
from mnemic.types import Message

Unread = Counter[str]
"""Counts of what could not be read in a set and is left out: `chats`, `messages`, `questions`."""


def found(path: Path, names: Sequence[str]) -> Path:
    """`path` itself, or the first of `names` (which may hold `*`) in the folder `path`. Raises InvalidInput
    (`invalid_input:data:missing`).
    """
    if path.is_file():
        return path
    for name in names:
        for file in sorted(path.glob(name)):
            if file.is_file():
                return file
    raise InvalidInput("data:missing", hint=f"expected a file, or a folder with {' or '.join(names)}")


def loaded(path: Path) -> Any:
    """Return the JSON value in `path`, unpacked where it is gzipped. Raises InvalidInput
    (`invalid_input:data:json`).
    """
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (OSError, EOFError, ValueError):
        raise InvalidInput("data:json", hint="the file cannot be read as JSON") from None


def messages_of(path: Path, file_format: str, unread: Unread) -> dict[str, list[Message]]:
    """Each conversation's messages, as `mnemic import` reads them; one that cannot be read is counted and left out, so
    that evidence which names it counts as not found. Raises InvalidInput where nothing can be read.
    """
    messages: dict[str, list[Message]] = {}
    problem: InvalidInput | None = None
    for item in read_conversation(path, file_format):
        problem = problem or item.problem
        unread.update({"messages": 1} if item.problem is not None else {})
        if isinstance(item.content, Message):
            messages.setdefault(item.conversation, []).append(item.content)
    if problem is not None and not messages:
        raise problem
    return messages
