"""Files of data sets: found, read, and refused with one clear line if they are of another format."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import read_conversation
from mnemic.types import Message

Unread = Counter[str]
"""Numbers of `chats`, `messages` and `questions` of a set that could not be read and were skipped."""


def find_file(path: Path, names: Sequence[str]) -> Path:
    """Return `path` itself, or the first of `names` (which may contain `*`) in the folder `path`. Raises InvalidInput
    (`invalid_input:data:missing`).
    """
    if path.is_file():
        return path
    for name in names:
        for file in sorted(path.glob(name)):
            if file.is_file():
                return file
    raise InvalidInput("data:missing", hint=f"expected a file, or a folder with {' or '.join(names)}")


def load_json(path: Path) -> Any:
    """Return the JSON value in `path`, decompressed if it is gzip. Raises InvalidInput (`invalid_input:data:json`)."""
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (OSError, EOFError, ValueError):
        raise InvalidInput("data:json", hint="the file cannot be read as JSON") from None


def messages_of(path: Path, file_format: str, unread: Unread) -> dict[str, list[Message]]:
    """Return each conversation's messages as `mnemic import` reads them. A message that cannot be read is counted and
    skipped, so that evidence in it counts as not found. Raises InvalidInput if nothing can be read.
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
