"""From a file's bytes to its JSON values, one at a time: lines, the elements of a list, or one document.

A file is somebody else's: what it may cost is bounded before it is parsed, in bytes, in values, in depth, and for a
packed one in what it unpacks to. A list is never held as a whole.
"""

from __future__ import annotations

import gzip
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from mnemic.errors import InvalidInput
from mnemic.policy import strict_json

MAX_LINE_BYTES = 128 * 1024 * 1024
"""A chat of ten million tokens in one line."""
MAX_DOCUMENT_BYTES = 512 * 1024 * 1024
MAX_TEXT_LINE_BYTES = 16 * 1024 * 1024
"""Of a file that is not JSON: far more than anybody writes without a new line."""
MAX_VALUES, MAX_VALUES_OF_A_FILE = 4_000_000, 32_000_000
"""Values that are parsed at a time, and in all of one list: an object without content takes 64 bytes of memory for two
in the file.
"""
UNPACKED_BYTES, UNPACKED_RATIO = 16 * 1024 * 1024, 50
"""Bytes that a packed file may become, and times its own size beyond that: talk packs to a tenth."""
STANDARD_INPUT = "-"

_CHUNK = 256 * 1024
_VALUES = b'{"'
"""First bytes of documents that may be one long line."""
_OPENING, _CLOSING = (b"[", b"{"), (b"]", b"}")
# What stands before the next sign of structure: everything else, and whole strings.
_BELOW = re.compile(rb'[^"\[\]{}]*+(?:"[^"]*+"[^"\[\]{}]*+)*+([\[\]{}"]|\Z)')
_TOP = re.compile(rb'[^"\[\]{},]*+(?:"[^"]*+"[^"\[\]{},]*+)*+([\[\]{},"]|\Z)')
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
            raw = stack.enter_context(_open_reader(Path(path)))
            name = conversation_name(Path(path).name)
        if raw.peek(2)[:2] != _GZIP:
            yield raw, name
            return
        yield cast(BinaryIO, stack.enter_context(BufferedReader(_Unpacked(raw), _CHUNK))), name


class _Counted:
    """A packed file, and the number of bytes that were read of it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.size = file, 0

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        data = self._file.read(size)
        self.size += len(data)
        return data


class _Unpacked(RawIOBase):
    """Bytes of a file packed with gzip, as long as it does not become far larger than it is."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed, self._size = _Counted(packed), 0
        self._unpacked = gzip.GzipFile(fileobj=cast(Any, self._packed))

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read unpacked bytes. Raises InvalidInput (`file:too_large`)."""
        data = self._unpacked.read1(len(buffer))
        buffer[: len(data)] = data
        self._size += len(data)
        require_ratio(self._size, self._packed.size)
        return len(data)


def require_ratio(unpacked: int, packed: int) -> None:
    """Refuse what is packed too well to be talk. Raises InvalidInput (`file:too_large`)."""
    if unpacked > max(UNPACKED_BYTES, UNPACKED_RATIO * packed):
        raise InvalidInput("file:too_large", hint=f"it unpacks to more than {UNPACKED_RATIO} times its size")


def conversation_name(file_name: str) -> str:
    """Return the identifier of a conversation named by its file only, without the number that browsers and phones add
    to a second download: `notes (1).md`.
    """
    return _NAME.sub("-", _COPY.sub("", file_name.partition(".")[0])).strip("-") or "file"


def _open_reader(path: Path) -> BufferedReader:
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
    source = _Ahead(stream)
    if _is_list(source):
        yield from _elements(source)
        return
    lines = _lines(source, MAX_DOCUMENT_BYTES if source.begins_with(_VALUES) else MAX_TEXT_LINE_BYTES)
    head = list(islice(lines, _FIRST_LINES))
    if not head:
        raise InvalidInput("file:empty", hint="the file is empty")
    if _is_document(head):
        yield from _document(head, lines)
        return
    if len(head) == 1:
        yield from _embedded_records(_record(*head[0]))
        return
    for number, line in head:
        yield _record(number, line)
    for number, line in lines:
        yield _record(number, line)


class _Ahead:
    """A stream whose beginning can be looked at."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._ahead = stream, b""

    def look(self) -> bytes:
        """Return the beginning up to the first bytes that are not blank, without taking it."""
        while len(self._ahead) < len(_BOM) or not self._ahead.removeprefix(_BOM).strip():
            more = self._more(_CHUNK)
            if not more:
                break
            self._ahead += more
            if len(self._ahead) > MAX_DOCUMENT_BYTES:
                raise InvalidInput("file:too_large", hint=f"more than {MAX_DOCUMENT_BYTES} bytes")
        return self._ahead

    def begins_with(self, signs: bytes) -> bool:
        """Return True if the first byte that is not blank is one of `signs`."""
        first = self.look().removeprefix(_BOM).lstrip()[:1]
        return bool(first) and first in signs

    def read(self, size: int) -> bytes:
        """Return the next bytes, at most `size` of what was not looked at."""
        if self._ahead:
            taken, self._ahead = self._ahead, b""
            return taken
        return self._more(size)

    def readline(self, limit: int) -> bytes:
        """Return the next line, or its first `limit` bytes."""
        end = self._ahead.find(b"\n") + 1
        if not end:
            taken, self._ahead = self._ahead, b""
            return taken + self._stream.readline(limit - len(taken))
        taken, self._ahead = self._ahead[:end], self._ahead[end:]
        return taken

    def _more(self, size: int) -> bytes:
        with _reading():
            return self._stream.read(size)


def _is_list(stream: _Ahead) -> bool:
    return stream.begins_with(b"[")


def _elements(stream: _Ahead) -> Iterator[Record]:
    """Yield the elements of a list one by one. Raises InvalidInput for the first place that is not JSON."""
    first = stream.read(_CHUNK).removeprefix(_BOM)
    start = len(first) - len(first.lstrip()) + 1
    place = _Place().after(first[:start])
    values = 0
    for position, (element, ended) in enumerate(_split(stream, first[start:] or stream.read(_CHUNK)), start=1):
        text = element.strip()
        # An empty list has one blank element, which is none.
        if text or not ended or position > 1:
            value = _parse_json(element, first_line=place.line, limit=MAX_LINE_BYTES, column=place.column)
            if not ended:
                raise InvalidInput("file:json", hint=f"line {place.after(element).line}: not JSON")
            values += 1 + element.count(b",")
            if values > MAX_VALUES_OF_A_FILE:
                raise InvalidInput("file:too_large", hint=f"more than {MAX_VALUES_OF_A_FILE} values")
            yield Record(place=f"entry {position}", value=value)
        place = place.after(element + b",")


@dataclass(frozen=True, slots=True)
class _Place:
    """Line of a file, and the bytes before it in this line."""

    line: int = 1
    column: int = 0

    def after(self, text: bytes) -> _Place:
        """Return the place behind a text that begins here."""
        breaks = text.count(b"\n")
        return _Place(self.line + breaks, len(text) - text.rfind(b"\n") - 1 if breaks else self.column + len(text))


def _split(stream: _Ahead, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the texts between the commas of a list whose bracket was read, and whether each has ended. The last is
    what stands before the closing bracket; anything behind it belongs to it, as a mistake.
    """
    parts: list[bytes] = []
    depth, size, within_string, kept = 1, 0, False, b""
    while chunk:
        # An escape must not be cut in two; escaped characters cannot end a string.
        whole = chunk.rstrip(b"\\")
        if (len(chunk) - len(whole)) % 2:
            chunk, kept = chunk[:-1], chunk[-1:]
        plain = chunk.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in chunk else chunk
        begin = at = 0
        while at < len(plain):
            if within_string:
                end = plain.find(b'"', at)
                at, within_string = (len(plain), True) if end < 0 else (end + 1, False)
                continue
            found = (_TOP if depth == 1 else _BELOW).match(plain, at)
            assert found is not None
            at, sign = found.end(), found[1]
            within_string = sign == b'"'
            depth += (sign in _OPENING) - (sign in _CLOSING)
            if depth > strict_json.MAX_DEPTH + 1:
                raise InvalidInput("file:json", hint=f"deeper than {strict_json.MAX_DEPTH} levels")
            if depth == 0 or sign == b",":
                parts.append(chunk[begin : at - 1])
                begin = at
                if depth == 0:
                    rest = chunk[at:] + kept
                    while not rest.strip() and (more := stream.read(_CHUNK)):
                        rest = more
                    yield b"".join(parts) + (b"]" + rest if rest.strip() else b""), True
                    return
                yield b"".join(parts), True
                parts, size = [], 0
        parts.append(chunk[begin:])
        size += len(parts[-1])
        if size > MAX_LINE_BYTES:
            raise InvalidInput("file:too_large", hint=f"an entry of more than {MAX_LINE_BYTES} bytes")
        more = stream.read(_CHUNK)
        chunk, kept = (kept + more, b"") if more else (b"", kept)
    yield b"".join([*parts, kept]), False


def _lines(stream: _Ahead, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines that are not blank."""
    number, total = 0, 0
    while line := _read_line(stream, longest):
        number += 1
        total += len(line)
        if number == 1:
            if line.startswith(_UTF16):
                raise InvalidInput("file:encoding", hint="line 1: the file is UTF-16; save it as UTF-8")
            line = line.removeprefix(_BOM)
        if line.strip():
            yield number, line


def text_lines(stream: BinaryIO) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a text. Raises InvalidInput (`file:encoding`, `file:empty`)."""
    number, blank = 0, True
    while line := _read_line(stream, MAX_TEXT_LINE_BYTES):
        number += 1
        try:
            text = line.removeprefix(_BOM if number == 1 else b"").decode("utf-8")
        except UnicodeDecodeError:
            raise InvalidInput("file:encoding", hint=f"line {number}: not UTF-8") from None
        # No text has it, and half of the characters of one in UTF-16 are it.
        if "\0" in text:
            raise InvalidInput("file:encoding", hint=f"line {number}: no text")
        blank = blank and not text.strip()
        yield number, text
    if blank:
        raise InvalidInput("file:empty", hint="the file is empty")


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile):
        raise InvalidInput("file:gzip", hint="the packed file is damaged or cut short") from None
    except OSError as error:
        raise InvalidInput("file:unreadable", hint=error.strerror) from None


def _read_line(stream: BinaryIO | _Ahead, longest: int) -> bytes:
    with _reading():
        line = stream.readline(longest + 1)
    if len(line) > longest:
        raise InvalidInput("file:too_large", hint=f"a line of more than {longest} bytes")
    return line


def _is_document(head: list[tuple[int, bytes]]) -> bool:
    """Return True if the file is one JSON value: it begins an object that its first line does not end.

    A damaged first line does not turn a file of lines into a document. Further down, a document also has lines that are
    values: the texts of a list.
    """
    first = head[0][1].strip()
    if first == b"{":
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
    yield from _entries(_parse_json(b"".join(parts), first_line=start, limit=MAX_DOCUMENT_BYTES))


def _entries(value: Any) -> Iterator[Record]:
    values = value if isinstance(value, list) else [value]
    for position, one in enumerate(values, start=1):
        yield Record(place=f"entry {position}", value=one)


def _embedded_records(record: Record) -> Iterator[Record]:
    """Yield the entries of a document that was written as one string of JSON, as some products' downloads are."""
    inner = record.value
    if not isinstance(inner, str) or not inner.lstrip().startswith(("{", "[")):
        yield record
        return
    try:
        value = strict_json.loads(inner, max_bytes=MAX_DOCUMENT_BYTES, max_values=MAX_VALUES)
    except strict_json.NotStrictJson:
        yield record
        return
    yield from _entries(value)


def _record(number: int, line: bytes) -> Record:
    place = f"line {number}"
    try:
        return Record(place=place, value=_parse_json(line, first_line=number, limit=MAX_LINE_BYTES))
    except InvalidInput as problem:
        return Record(place=place, problem=problem)


def _parse_json(data: bytes, *, first_line: int, limit: int, column: int = 0) -> Any:
    """Return the value of a text that begins behind that many bytes of its first line."""
    if len(data) > limit:
        raise InvalidInput("file:too_large", hint=f"line {first_line}: more than {limit} bytes")
    try:
        return _value(data.decode("utf-8"), limit)
    except UnicodeDecodeError as error:
        at = first_line + data.count(b"\n", 0, error.start)
        raise InvalidInput("file:encoding", hint=f"line {at}: not UTF-8") from None
    except strict_json.NotStrictJson as error:
        at = error.column + (column if error.line == 1 and error.column else 0)
        shown = f", column {at}" if at > _LONG_LINE else ""
        raise InvalidInput("file:json", hint=f"line {first_line + error.line - 1}{shown}: {error}") from None


def _value(text: str, limit: int) -> object:
    """Return the value of a text in which products may have cut an emoji in two: its half becomes U+FFFD. Raises
    NotStrictJson.
    """
    try:
        return strict_json.loads(text, max_bytes=limit, max_values=MAX_VALUES)
    except strict_json.NotStrictJson:
        whole = _HALVES.sub(lambda found: found[1] or "\\ufffd", text) if "\\ud" in text or "\\uD" in text else text
        if whole == text:
            raise
        return strict_json.loads(whole, max_bytes=limit, max_values=MAX_VALUES)
