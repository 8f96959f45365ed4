"""Data sets as files: found, read, and refused with one clear line where they are not what was asked for."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mnemic.conversations import Format, read_conversation
from mnemic.errors import InvalidInput
from mnemic.types import Message


def found(path: Path, names: Sequence[str]) -> Path:
    """`path` itself, or the first of `names` in the folder `path`. Raises InvalidInput
    (`invalid_input:data:missing`).
    """
    if path.is_file():
        return path
    for name in names:
        if (path / name).is_file():
            return path / name
    raise InvalidInput("data:missing", hint=f"expected a file, or a folder with {' or '.join(names)}")


def loaded(path: Path) -> Any:
    """The JSON value in `path`, unpacked where it is gzipped. Raises InvalidInput (`invalid_input:data:json`)."""
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (OSError, EOFError, ValueError):
        raise InvalidInput("data:json", hint="the file cannot be read as JSON") from None


def messages_of(path: Path, file_format: Format) -> dict[str, list[Message]]:
    """Each conversation's messages, as `mnemic import` reads them. Raises InvalidInput, also for one bad message."""
    messages: dict[str, list[Message]] = {}
    for item in read_conversation(path, file_format):
        if item.problem is not None:
            raise item.problem
        if isinstance(item.content, Message):
            messages.setdefault(item.conversation, []).append(item.content)
    return messages
