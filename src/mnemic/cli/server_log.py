"""The log of a server: one line for an event, as text or JSON, with only an allow-list of fields.

An exception is logged by its type: its message, or a line of its traceback, may contain a user's text. The same is true
of messages of libraries, which are replaced by their place in the code.

A thread writes the lines. Their reader may stop (a full pipe, a disk that hangs), and a server that
waited for it would answer no requests: lines are dropped then, and counted.
"""

from __future__ import annotations

import json
import logging
import sys
from contextlib import suppress
from datetime import UTC, datetime
from queue import Full, Queue
from threading import Event, Thread
from typing import TextIO

FIELDS = ("method", "route", "status", "ms", "caller", "address", "reason", "error")
"""The fields that a line may carry besides its message."""
_LOGGERS = ("mnemic", "uvicorn")
_UNWRITTEN = 10_000
"""Lines that may wait to be written; more are lost."""
_FLUSH_SECONDS = 1.0
"""Longest time that the end of the process waits for unwritten lines."""


class LineFormatter(logging.Formatter):
    """Formats a record as one line: `time LEVEL logger message field=value ...`, or as one JSON object. Without
    `messages` the message is `module:line` of the caller.
    """

    def __init__(self, *, as_json: bool, messages: bool = True) -> None:
        super().__init__()
        self._as_json = as_json
        self._messages = messages

    def format(self, record: logging.LogRecord) -> str:
        """One line; line ends in a message are spelled out."""
        fields: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._message(record),
        }
        fields |= {name: getattr(record, name) for name in FIELDS if getattr(record, name, None) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            fields["error"] = record.exc_info[0].__name__
        if self._as_json:
            return json.dumps(fields, ensure_ascii=False, default=str)
        head = " ".join(str(fields.pop(name)) for name in ("time", "level", "logger", "message"))
        return " ".join([head, *(f"{name}={value}" for name, value in fields.items())])

    def _message(self, record: logging.LogRecord) -> str:
        if not self._messages:
            return f"{record.module}:{record.lineno}"
        return record.getMessage().replace("\r", "\\r").replace("\n", "\\n")


class BackgroundWriter:
    """Writes lines to a stream in a thread, so that no caller waits for it."""

    def __init__(self, stream: TextIO, unwritten: int = _UNWRITTEN) -> None:
        self._stream = stream
        self._waiting: Queue[str | Event] = Queue(unwritten)
        Thread(target=self._write, name="mnemic-log", daemon=True).start()

    def take(self, line: str) -> bool:
        """Return True if there was room for one more line."""
        with suppress(Full):
            self._waiting.put_nowait(line)
            return True
        return False

    def flush(self, seconds: float = _FLUSH_SECONDS) -> bool:
        """Wait until all that was taken is written; whether it is."""
        written = Event()
        try:
            self._waiting.put(written, timeout=seconds)
        except Full:
            return False
        return written.wait(seconds)

    def _write(self) -> None:
        while True:
            line = self._waiting.get()
            if isinstance(line, Event):
                line.set()
                continue
            with suppress(OSError, ValueError):  # closed, or its reader has gone
                self._stream.write(line + "\n")
                self._stream.flush()


class BackgroundHandler(logging.Handler):
    """Hands its lines to a writer, and reports in the next line how many it had to drop."""

    def __init__(self, writer: BackgroundWriter, line: LineFormatter) -> None:
        super().__init__()
        self.setFormatter(line)
        self._writer = writer
        self._lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Hand over the line."""
        text = self.format(record)
        if self._lost:
            gap = logging.makeLogRecord({"name": "mnemic.log", "levelno": logging.WARNING, "levelname": "WARNING"})
            gap.msg = f"{self._lost} lines were not written: nobody took them"
            text = f"{self.format(gap)}\n{text}"
        self._lost = 0 if self._writer.take(text) else self._lost + 1

    def flush(self) -> None:
        """Wait, within limits, until every line has been written."""
        self._writer.flush()


def configure(*, as_json: bool, stream: TextIO | None = None) -> BackgroundWriter:
    """Log to `stream` (standard error) in this form, for this process and for good. The root logger is taken, too: a
    library that finds it without a handler would add one. Returns what writes, to be flushed.
    """
    writer = BackgroundWriter(stream or sys.stderr)
    root = logging.getLogger()
    root.handlers = [BackgroundHandler(writer, LineFormatter(as_json=as_json, messages=False))]
    root.setLevel(logging.WARNING)
    handler = BackgroundHandler(writer, LineFormatter(as_json=as_json))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)
    return writer
