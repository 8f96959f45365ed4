"""Inputs of a command line beyond words: moments, kinds, JSON, files and standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mnemic.errors import InvalidInput
from mnemic.plugins import is_offered
from mnemic.policy import strict_json

if TYPE_CHECKING:
    from datetime import datetime

MAX_INPUT_BYTES = 1024 * 1024
KINDS = ("working", "short_term", "long_term", "persona", "episodic", "entity", "structured")
LEVELS = ("user", "workspace", "agent", "session")


class Word(click.ParamType[str]):
    """One of some words, or a name that a package offers in `group`; any other is bad input (exit code 3), as in the
    engine.
    """

    def __init__(self, name: str, words: tuple[str, ...], *, group: str | None = None) -> None:
        self.name = name
        self._words = words
        self._group = group

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word. Raises InvalidInput (`invalid_input:<name>`)."""
        if value not in self._words and not (self._group and is_offered(self._group, str(value))):
            raise InvalidInput(self.name, hint=f"one of {', '.join(self._words)}")
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """Return the words that begin so."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(word) for word in self._words if word.startswith(incomplete)]


class Moment(click.ParamType["datetime"]):
    """A date or a time in ISO 8601; without a time zone it is UTC."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the moment, aware. Raises InvalidInput (`invalid_input:<option>`)."""
        from datetime import UTC, datetime

        if isinstance(value, datetime):
            return value
        try:
            found = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            written = param.opts[0].lstrip("-").replace("-", "_") if param is not None else self.name
            hint = "expected a date such as 2026-03-04 or 2026-03-04T09:30:00Z"
            raise InvalidInput(written, hint=hint) from None
        return found if found.tzinfo else found.replace(tzinfo=UTC)


KIND = Word("kind", KINDS)
LEVEL = Word("level", LEVELS)
MOMENT = Moment()


def text_or_stdin(content: str) -> str:
    """`content`, or standard input if it is `-`. Raises InvalidInput (`stdin:encoding`, `stdin:too_large`)."""
    if content != "-":
        return content
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise InvalidInput("stdin:closed", hint="standard input is closed")
    return _decode_bytes(stream.read(MAX_INPUT_BYTES + 1), "stdin")


def json_object(text: str | None, name: str) -> dict[str, Any]:
    """Return the JSON object that `text` spells; {} for None. Raises InvalidInput (`invalid_input:<name>`)."""
    if text is None:
        return {}
    try:
        value = strict_json.loads(text, max_bytes=MAX_INPUT_BYTES)
    except strict_json.NotStrictJson as error:
        rule = str(error)
        raise InvalidInput(name, hint=rule if rule == "not JSON" else f"not JSON: {rule}") from None
    if not isinstance(value, dict):
        raise InvalidInput(name, hint="expected a JSON object")
    return value


def json_file(path: str) -> dict[str, Any]:
    """Return the JSON object in the file at `path` (`-`: standard input). Raises InvalidInput (`file:<what>`)."""
    if path == "-":
        return json_object(text_or_stdin("-"), "stdin:json")
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_INPUT_BYTES + 1)
    except FileNotFoundError:
        raise InvalidInput("file:missing", hint="there is no such file") from None
    except IsADirectoryError:
        raise InvalidInput("file:directory", hint="a folder was given, not a file") from None
    except OSError as error:
        raise InvalidInput("file:unreadable", hint=error.strerror) from None
    return json_object(_decode_bytes(data, "file"), "file:json")


def _decode_bytes(data: bytes, name: str) -> str:
    if len(data) > MAX_INPUT_BYTES:
        raise InvalidInput(f"{name}:too_large", hint=f"more than {MAX_INPUT_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(f"{name}:encoding", hint=f"line {line}: not UTF-8") from None
