"""The log of a server: one line for what happened, as text or JSON, with nothing in it but an allow-list of fields.

An exception is told by its type: its message, or a line of its traceback, may hold what somebody said. The same goes
for the messages of libraries: of these a line tells the place in their code instead.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO

FIELDS = ("method", "route", "status", "ms", "caller", "address", "reason", "error")
"""The fields that a line may carry besides its message."""
_LOGGERS = ("mnemic", "uvicorn")


class Line(logging.Formatter):
    """Formats a record as one line: `time LEVEL logger message field=value ...`, or as one JSON object. Without
    `messages` the message is `module:line` of whoever logged it.
    """

    def __init__(self, *, as_json: bool, messages: bool = True) -> None:
        super().__init__()
        self._as_json = as_json
        self._messages = messages

    def format(self, record: logging.LogRecord) -> str:
        """One line; line ends in a message are spelled out."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._message(record),
        }
        told |= {name: getattr(record, name) for name in FIELDS if getattr(record, name, None) is not None}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
        if self._as_json:
            return json.dumps(told, ensure_ascii=False, default=str)
        head = " ".join(str(told.pop(name)) for name in ("time", "level", "logger", "message"))
        return " ".join([head, *(f"{name}={value}" for name, value in told.items())])

    def _message(self, record: logging.LogRecord) -> str:
        if not self._messages:
            return f"{record.module}:{record.lineno}"
        return record.getMessage().replace("\r", "\\r").replace("\n", "\\n")


def configure(*, as_json: bool, stream: TextIO | None = None) -> None:
    """Log to `stream` (standard error) in this form, for this process and for good. The root logger is taken, too: a
    library that finds it without a handler would bring its own.
    """
    told = stream or sys.stderr
    root = logging.getLogger()
    root.handlers = [_handler(told, Line(as_json=as_json, messages=False))]
    root.setLevel(logging.WARNING)
    handler = _handler(told, Line(as_json=as_json))
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


def _handler(stream: TextIO, line: Line) -> logging.Handler:
    handler = logging.StreamHandler(stream)
    handler.setFormatter(line)
    return handler
