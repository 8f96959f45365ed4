"""Printed output, made harmless: no byte of a memory can move the cursor, colour the screen or hide text."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from mnemic.errors import InvalidInput

_SHOWN_FORMATS = frozenset("\u200c\u200d")
_BAR_WIDTH = 24
_JSON_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")


class Painted(str):
    """Text that is printable already, with colours of the command line's own."""

    __slots__ = ()


def paint(text: str, *, stream: TextIO | None = None, **style: Any) -> Painted:
    """Return `text`, made printable, in a style of click's where a person sees it: on a terminal (standard output, or
    `stream`), unless NO_COLOR is set.
    """
    shown, to = printable(text), sys.stdout if stream is None else stream
    coloured = to.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    # click ends a text without a style, too, with a reset, which `printable` would spell out in a joined text.
    return Painted(click.style(shown, **style) if coloured and style and shown else shown)


def printable(text: str) -> str:
    """`text` with control, bidirectional, surrogate and separator characters spelled out; line ends and tabs stay."""
    if isinstance(text, Painted) or (text.isascii() and text.isprintable()):
        return text
    return "".join(character if _is_printable(character) else _spell_character(character) for character in text)


def _is_printable(character: str) -> bool:
    if character in "\n\t" or character in _SHOWN_FORMATS:
        return True
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


def _spell_character(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def one_line(text: str, width: int | None = None) -> str:
    """`text` printable, on one line, cut to `width` characters."""
    line = printable(" ".join(text.split()))
    return line if width is None or len(line) <= width else line[: max(1, width - 3)].rstrip() + "..."


def say(text: str = "") -> None:
    """One piece of human output on standard output."""
    click.echo(printable(text))


def note(text: str) -> None:
    """Print a remark on standard error, for people; never part of the result."""
    click.echo(printable(text), err=True)


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """JSON in readable script, with nothing in it that a terminal obeys."""
    return harmless(json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False))


def write_json(file: str, value: Any) -> None:
    """Write the JSON to a file that only its owner may read. Raises InvalidInput (`file:unwritable`)."""
    write_private(file, json_text(value) + "\n")


def write_private(file: str, text: str) -> None:
    """Write a text to a file that only its owner may read. Raises InvalidInput (`file:unwritable`)."""
    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise unwritable(file, error) from None


def unwritable(file: str | Path, error: OSError) -> InvalidInput:
    """Return the error for a file that cannot be written: a folder that is missing is named."""
    folder = Path(file).absolute().parent
    missing = f"the folder {folder} does not exist"
    return InvalidInput("file:unwritable", hint=error.strerror if folder.is_dir() else missing)


def require_new_file(file: str) -> None:
    """Raise InvalidInput (`file:exists`, `file:missing`) unless `file` can be written without replacing another. To be
    asked before an act that cannot be undone.
    """
    if Path(file).exists():
        raise InvalidInput("file:exists", hint="the file already exists; name another one")
    if not Path(file).absolute().parent.is_dir():
        raise InvalidInput("file:missing", hint="there is no such folder")


def harmless(text: str) -> str:
    """JSON `text` with everything in its values spelled out that a terminal obeys."""
    return _JSON_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say_json(value: Any) -> None:
    """JSON on standard output."""
    click.echo(json_text(value))


def at_terminal() -> bool:
    """Return True if a person at a terminal can be asked."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask_confirmation(question: str) -> bool:
    """Return the answer of the person or of a pipe. Raises UsageError if neither can answer."""
    try:
        return click.confirm(question, err=True)
    except click.Abort:
        if at_terminal():
            raise
        click.echo(err=True)  # the question has not ended its line
        raise click.UsageError(
            "cannot ask for confirmation without a terminal; add --yes", ctx=click.get_current_context()
        ) from None


def table(
    rows: Iterable[Sequence[str]],
    *,
    indent: str = "",
    style: Callable[[int, str], Mapping[str, Any] | None] = lambda _column, _cell: None,
) -> str:
    """Columns aligned to their widest cell, two blanks apart. `style` returns how a cell is painted, by the number of
    its column and its text.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = []
    for row in cells:
        filled = max((at for at, cell in enumerate(row) if cell), default=-1)
        line = indent
        for at, (cell, width) in enumerate(zip(row[: filled + 1], widths, strict=False)):
            line += paint(cell, **(style(at, cell) or {})) + (" " * (width - len(cell) + 2) if at < filled else "")
        lines.append(line.rstrip())
    return Painted("\n".join(lines))


def pairs(values: Mapping[str, object], *, indent: str = "") -> str:
    """Names and values below each other; empty values are left out."""
    return table([(name, str(value)) for name, value in values.items() if value not in (None, "", ())], indent=indent)


def tally(counter: Counter[str]) -> str | None:
    """Return a total with its parts, the largest first; None for nothing."""
    names = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in counter.most_common())
    return f"{counter.total()} ({names})" if counter else None


class Progress:
    """Progress of long work, on a terminal's standard error; silent elsewhere."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shown = sys.stderr.isatty()
        self._width = 0

    @property
    def is_shown(self) -> bool:
        """True if it is displayed."""
        return self._shown

    def show_progress(self, done: int, total: int | None = None) -> None:
        """`done` pieces are finished, of `total` if that is known."""
        if self._shown:
            line = f"{self._what} {done:,}" + (f" of {total:,}  {_bar(done / total)}" if total else "")
            self._write(line.ljust(self._width))
            self._width = max(self._width, len(line))

    def end(self) -> None:
        """Take the line away again."""
        if self._shown and self._width:
            self._write(" " * self._width)
            self._write("")

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r{printable(line)}")
        sys.stderr.flush()


def _bar(part: float) -> str:
    """Return a bar of which this part, 0 to 1, is done."""
    full = round(min(1.0, part) * _BAR_WIDTH)
    return f"[{'#' * full}{'.' * (_BAR_WIDTH - full)}]"
