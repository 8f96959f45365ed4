"""From a file's bytes to its JSON values, one at a time: lines, or one document."""

from __future__ import annotations

import gzip
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from mnemic.errors import InvalidInput
from mnemic.policy import strict_json

MAX_LINE_BYTES = 128 * 1024 * 1024
"""A chat of ten million tokens in one line."""
MAX_DOCUMENT_BYTES = 512 * 1024 * 1024
STANDARD_INPUT = "-"

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_FIRST_LINES = 20
_LONG_LINE = 200
"""Columns from which on an error names the column, too: a product writes its whole export into one line."""
_HALVES = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
"""Escapes of JSON for half a surrogate pair; escaped backslashes and whole pairs are matched so that they stay."""
_NAME = re.compile(r"[^A-Za-z0-9_.:@+-]+", re.ASCII)
_COPY = re.compile(r" ?\([0-9]{1,3}\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One JSON value of the file, or its error, and its place."""

    place: str
    value: Any = field(default=None, repr=False)
    problem: InvalidInput | None = None


@contextmanager
def open_file(path: str | Path) -> Iterator[tuple[BinaryIO, str]]:
    """Yield the file's bytes, decompressed if they are gzip, and a name (an identifier) for its content.

    Raises InvalidInput (`file:missing`, `file:directory`, `file:unreadable`).
    """
    with ExitStack() as stack:
        if str(path) == STANDARD_INPUT:
            raw, name = cast(BufferedReader, sys.stdin.buffer), "stdin"
        else:
            raw = stack.enter_context(_opened(Path(path)))
            name = conversation_name(Path(path).name)
        packed = raw.peek(2)[:2] == _GZIP
        yield cast(BinaryIO, stack.enter_context(gzip.GzipFile(fileobj=raw))) if packed else raw, name


def conversation_name(file_name: str) -> str:
    """Return the identifier of a conversation named by its file only, without the number that browsers and phones add
    to a second download: `notes (1).md`.
    """
    return _NAME.sub("-", _COPY.sub("", file_name.partition(".")[0])).strip("-") or "file"


def _opened(path: Path) -> BufferedReader:
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise InvalidInput("file:missing", hint="there is no such file") from None
    except IsADirectoryError:
        raise InvalidInput("file:directory", hint="a folder was given, not a file") from None
    except (OSError, ValueError) as error:
        raise InvalidInput("file:unreadable", hint=getattr(error, "strerror", None) or "not a path") from None


def records(stream: BinaryIO) -> Iterator[Record]:
    """Yield the values of `stream`: one a line (JSON lines), or the elements of one document.

    A line that is not JSON is a record with a problem. Raises InvalidInput for a defect of the whole file.
    """
    lines = _lines(stream)
    head = list(islice(lines, _FIRST_LINES))
    if not head:
        raise InvalidInput("file:empty", hint="the file is empty")
    if _is_document(head):
        yield from _document(head, lines)
        return
    if len(head) == 1:
        yield from _within(_record(*head[0]))
        return
    for number, line in head:
        yield _record(number, line)
    for number, line in lines:
        yield _record(number, line)


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines that are not blank."""
    number, total = 0, 0
    while line := _read_line(stream):
        number += 1
        total += len(line)
        if number == 1:
            if line.startswith(_UTF16):
                raise InvalidInput("file:encoding", hint="line 1: the file is UTF-16; save it as UTF-8")
            line = line.removeprefix(_BOM)
        if line.strip():
            yield number, line


def text_lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a text. Raises InvalidInput (`file:encoding`)."""
    number = 0
    while line := _read_line(stream):
        number += 1
        try:
            yield number, line.removeprefix(_BOM if number == 1 else b"").decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput("file:encoding", hint=f"line {number}: not UTF-8") from None


def _read_line(stream: BinaryIO) -> bytes:
    try:
        line = stream.readline(MAX_DOCUMENT_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise InvalidInput("file:gzip", hint="the packed file is damaged or cut short") from None
    except OSError as error:
        raise InvalidInput("file:unreadable", hint=error.strerror) from None
    if len(line) > MAX_DOCUMENT_BYTES:
        raise InvalidInput("file:too_large", hint=f"a line of more than {MAX_DOCUMENT_BYTES} bytes")
    return line


def _is_document(head: list[tuple[int, bytes]]) -> bool:
    """Return True if the file is one JSON value: it begins a list, or an object that its first line does not end.

    A damaged first line does not turn a file of lines into a document. Further down, a document also has lines that are
    values: the texts of a list.
    """
    first = head[0][1].strip()
    if first.startswith(b"[") or first == b"{":
        return True
    if not first.startswith(b"{"):
        return False
    return len(head) == 1 or not any(isinstance(_record(number, line).value, dict) for number, line in head)


def _document(head: list[tuple[int, bytes]], rest: Iterator[tuple[int, bytes]]) -> Iterator[Record]:
    start = head[0][0]
    parts: list[bytes] = []
    size, number = 0, start
    for lines in (head, rest):
        for at, line in lines:
            # Blank lines were left out; they count in the line number of an error.
            parts.append(b"\n" * (at - number - 1 if parts else 0) + line)
            number, size = at, size + len(line)
            if size > MAX_DOCUMENT_BYTES:
                raise InvalidInput("file:too_large", hint=f"more than {MAX_DOCUMENT_BYTES} bytes")
    value = _parsed(b"".join(parts), first_line=start, limit=MAX_DOCUMENT_BYTES)
    yield from _entries(value)


def _entries(value: Any) -> Iterator[Record]:
    values = value if isinstance(value, list) else [value]
    for position, one in enumerate(values, start=1):
        yield Record(place=f"entry {position}", value=one)


def _within(record: Record) -> Iterator[Record]:
    """Yield the entries of a document that was written as one string of JSON, as some products' downloads are."""
    inner = record.value
    if not isinstance(inner, str) or not inner.lstrip().startswith(("{", "[")):
        yield record
        return
    try:
        value = strict_json.loads(inner, max_bytes=MAX_DOCUMENT_BYTES)
    except strict_json.NotStrictJson:
        yield record
        return
    yield from _entries(value)


def _record(number: int, line: bytes) -> Record:
    place = f"line {number}"
    try:
        return Record(place=place, value=_parsed(line, first_line=number, limit=MAX_LINE_BYTES))
    except InvalidInput as problem:
        return Record(place=place, problem=problem)


def _parsed(data: bytes, *, first_line: int, limit: int) -> Any:
    if len(data) > limit:
        raise InvalidInput("file:too_large", hint=f"line {first_line}: more than {limit} bytes")
    try:
        return _value(data.decode("utf-8"), limit)
    except UnicodeDecodeError as error:
        at = first_line + data.count(b"\n", 0, error.start)
        raise InvalidInput("file:encoding", hint=f"line {at}: not UTF-8") from None
    except strict_json.NotStrictJson as error:
        column = f", column {error.column}" if error.column > _LONG_LINE else ""
        raise InvalidInput("file:json", hint=f"line {first_line + error.line - 1}{column}: {error}") from None


def _value(text: str, limit: int) -> object:
    """Return the value of a text in which products may have cut an emoji in two: its half becomes U+FFFD. Raises
    NotStrictJson.
    """
    try:
        return strict_json.loads(text, max_bytes=limit)
    except strict_json.NotStrictJson:
        whole = _HALVES.sub(lambda found: found[1] or "\\ufffd", text) if "\\ud" in text or "\\uD" in text else text
        if whole == text:
            raise
        return strict_json.loads(whole, max_bytes=limit)
