"""Inputs of a command line beyond words: moments, kinds, JSON, files and standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import click
from click.shell_completion import CompletionItem

from mnemic.errors import InvalidInput
from mnemic.plugins import is_offered
from mnemic.policy import strict_json
from mnemic.requests import PARAMETERS, Request

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
        return [CompletionItem(word) for word in self._words if word.startswith(incomplete)]


class Moment(click.ParamType["datetime"]):
    """A time with its zone in ISO 8601, or a date: the beginning of that day in UTC."""

    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the moment, aware. Raises InvalidInput (`invalid_input:<option>`)."""
        from datetime import UTC, date, datetime, time

        if isinstance(value, datetime):
            return value
        with suppress(TypeError, ValueError):
            return datetime.combine(date.fromisoformat(value), time(tzinfo=UTC))
        with suppress(TypeError, ValueError):
            if (found := datetime.fromisoformat(value)).tzinfo is not None:
                return found
        written = param.opts[0].lstrip("-").replace("-", "_") if param is not None else self.name
        raise InvalidInput(
            written, hint="expected a date such as 2026-03-04, or a time with its zone: 2026-03-04T09:30:00Z"
        )


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


R = TypeVar("R", bound=Request[Any])
C = TypeVar("C", bound=Callable[..., Any])

FLAGS = {
    "categories": ("--category",),
    "happened_from": ("--since",),
    "happened_to": ("--until",),
    "keys": ("--key",),
    "kinds": ("--kind",),
    "levels": ("--level",),
    "limit": ("--limit", "-n"),
    "top_k": ("--top-k", "-k"),
}
"""Options that are not called as their field, or have a letter too."""
WORDS = {"kinds": KIND, "levels": LEVEL, "before": click.STRING}
HELP = {"asked_at": "Reference time for phrases such as 'last week'. [default: now]"}
"""Help that differs at a terminal."""


def options_of(
    request: type[Request[Any]], *, without: Collection[str] = (), **declared: dict[str, Any]
) -> Callable[[C], C]:
    """Give a command an option for each field of `request` that has a default, but for those `without`. `declared` are
    settings of a field's option that differ here.
    """
    hints = get_type_hints(request)

    def decorate(command: C) -> C:
        for one in reversed(fields(request)):
            if _default(one) is not MISSING and one.name not in without:
                flags = FLAGS.get(one.name, ("--" + one.name.replace("_", "-"),))
                settings = _settings(one, hints[one.name]) | declared.get(one.name, {})
                command = click.option(*flags, one.name, **settings)(command)
        return command

    return decorate


def parse_request(request: Callable[..., R], /, **options: Any) -> R:
    """Return the request that the options of a command spell. Raises InvalidInput for a filter that is no JSON object
    (`invalid_input:<name>`).
    """
    values: dict[str, Any] = {
        name: list(value) or None if isinstance(value, tuple) else value for name, value in options.items()
    }
    for name in {"where", "data"} & values.keys():
        values[name] = json_object(values[name], name) or None
    return request(**values)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _settings(field: Field[Any], hint: Any) -> dict[str, Any]:
    """Return the settings of a field's option."""
    default, text = _default(field), HELP.get(field.name, PARAMETERS.get(field.name, ""))
    written = str(hint)
    if "Mapping" in written:
        return {"metavar": "JSON", "help": text}
    if "Sequence" in written or "tuple" in written:
        return {"multiple": True, "type": WORDS.get(field.name), "help": text.removesuffix(".") + "; may be repeated."}
    if default is False:
        return {"is_flag": True, "help": text}
    if "datetime.datetime" in written:
        return {"type": MOMENT, "help": text}
    number = float if "float" in written else int if "int" in written else None
    shown = {"default": default, "show_default": True} if default else {"default": default}
    return {"type": number, "help": text, **shown}
