"""Printed output, made harmless: no byte of a memory can move the cursor, colour the screen or hide text."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, TextIO

import click

from mnemic import errors
from mnemic.errors import InvalidInput
from mnemic.plugins.extras import missing_extra

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


class Exit(IntEnum):
    """Exit codes of the process. Stable API."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    INPUT = 3
    STORE = 4
    MODEL = 5
    INTERRUPTED = 130
    PIPE_CLOSED = 141


_CODES: tuple[tuple[type[errors.MnemicError], Exit], ...] = (
    (errors.ModelFailed, Exit.MODEL),
    (errors.EmbedderFailed, Exit.MODEL),
    (errors.RerankerFailed, Exit.MODEL),
    (errors.StoreFailed, Exit.STORE),
    (errors.NotSupported, Exit.STORE),
    (errors.InvalidCandidates, Exit.INPUT),
    (errors.InvalidIntent, Exit.INPUT),
    (errors.InvalidInput, Exit.INPUT),
    (errors.InvalidConfig, Exit.INPUT),
    (errors.IdempotencyConflict, Exit.INPUT),
)


def exit_code(error: type[errors.MnemicError]) -> Exit:
    """Return the exit code of an error of the tree; an error of neither input, store nor model is a refusal."""
    return next((code for kind, code in _CODES if issubclass(error, kind)), Exit.REFUSED)


def exit_code_of_run(stop_reason: str) -> Exit:
    """Return the exit code of a run that did not end well: a failing store, model or embedder shows, the rest is a
    refusal.
    """
    code = exit_code(errors.error_behind(stop_reason))
    return code if code in {Exit.STORE, Exit.MODEL} else Exit.REFUSED


def exit_code_of_search(reason: str) -> Exit:
    """Return the exit code of an injection that could not look anything up: `<stage>:<reason>`. A stage that took too
    long counts as the store's failure.
    """
    failed = reason.partition(":")[2]
    return Exit.STORE if failed == "timeout" else exit_code(errors.error_behind(failed))


# A report carries the reason of a failure, not its hint; the command that mends it is worth more than its place.
_INSTALL = {"invalid_config:openai": "pip install 'mnemic[openai]'"}
_UNKNOWN = {
    "memory_not_found": "no memory of this user has that identifier or key; mnemic list shows them",
    "invalid_config:api_key": "set MNEMIC_API_KEY or MNEMIC_API_KEY_FILE to the key of the model's server",
}
"""Hints for errors that name none."""


def complain(reason: str, hint: str | None = None) -> None:
    """One line on standard error: `mnemic: <reason> - <hint>`."""
    hint = hint_of(reason, hint)
    line = reason if not hint else f"{reason} - {hint}"
    try:
        sys.stderr.write(f"{paint('mnemic:', stream=sys.stderr, fg='red')} {printable(' '.join(line.split()))}\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody listens; the exit code still reports it


def hint_of(reason: str, hint: str | None = None) -> str | None:
    """Return what to do about the error: its own hint, or that of the command line."""
    return _INSTALL.get(reason, hint) or _UNKNOWN.get(reason)


def missing_package(error: Exception) -> errors.MissingExtra | None:
    """Return the error for a missing package of mnemic's, with its command of installation; None for another error."""
    if not isinstance(error, ModuleNotFoundError) or isinstance(error, errors.MnemicError):
        return None
    package = (error.name or "").partition(".")[0]
    if not package.startswith("mnemic_"):
        return None
    return missing_extra(package.removeprefix("mnemic_"))


def run_guarded(work: Callable[[], Any], *, debug: bool) -> int:
    """Return the exit code of `work`; any exception is reported in one line first."""
    output = sys.stdout
    try:
        result = work()
        sys.stdout.flush()
        return int(result or 0)
    except SystemExit as left:
        # click exits on a broken pipe and replaces sys.stdout with a silent output, which is how the case is
        # recognised.
        return Exit.PIPE_CLOSED if sys.stdout is not output else int(left.code or 0)
    except Exception as error:  # noqa: BLE001 - the outermost frame: every exception becomes one line
        if debug:
            import traceback

            traceback.print_exc()
        return _report(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _report(error: Exception) -> int:
    while isinstance(error, ExceptionGroup):  # of tasks that ran together: the first is the cause
        error = error.exceptions[0]
    error = missing_package(error) or error
    if isinstance(error, errors.MnemicError):
        complain(error.reason, error.hint)
        return exit_code(type(error))
    if isinstance(error, click.Abort):
        complain("interrupted")
        return Exit.INTERRUPTED
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return Exit.USAGE
    if isinstance(error, click.ClickException):
        complain(f"usage: {_usage(error)}", _help_hint(error))
        return Exit.USAGE
    if isinstance(error, OSError):
        return _report_os_error(error)
    if isinstance(error, MemoryError):
        complain("out_of_memory", "the machine gave no more memory")
        return Exit.REFUSED
    complain(f"internal_error:{type(error).__name__}", "this is a bug in mnemic; --debug shows where")
    return Exit.REFUSED


def _usage(error: click.ClickException) -> str:
    return error.format_message().rstrip(".").replace("\n", " ")


def _help_hint(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path} --help" if context is not None else None


def _report_os_error(error: OSError) -> int:
    if error.errno == errno.EPIPE:
        # The reader has gone; the interpreter must not fail again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.PIPE_CLOSED
    complain(f"output_failed:{errno.errorcode.get(error.errno or 0, 'error')}", error.strerror)
    return Exit.REFUSED
