"""A log that nobody reads costs lines, and nobody an answer."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from mnemic.cli.server_log import BackgroundHandler, BackgroundWriter, LineFormatter


class Stuck(io.StringIO):
    """Takes nothing until it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.reached, self.let = Event(), Event()

    def write(self, told: str) -> int:
        """Take a line."""
        self.reached.set()
        assert self.let.wait(60)
        return super().write(told)


@contextmanager
def logger_to(writer: BackgroundWriter, *, as_json: bool = False) -> Iterator[logging.Logger]:
    """A logger that hands its lines to that writer."""
    logger, handler = logging.getLogger("test.log_lines"), BackgroundHandler(writer, LineFormatter(as_json=as_json))
    logger.propagate, logger.handlers = False, [handler]
    try:
        yield logger
    finally:
        logger.handlers = []
        handler.close()


def test_lines_that_nobody_takes_are_lost_and_counted() -> None:
    stream = Stuck()
    writer = BackgroundWriter(stream, unwritten=2)
    with logger_to(writer) as logger:
        logger.warning("written")
        assert stream.reached.wait(60)
        for number in range(5):
            logger.warning("line %d", number)
        assert not writer.flush(0.0)
        stream.let.set()
        assert writer.flush(60)
        logger.warning("after")
        logger.handlers[0].flush()
    told = [line.partition("WARNING ")[2] for line in stream.getvalue().splitlines()]
    assert told == [
        "test.log_lines written",
        "test.log_lines line 0",
        "test.log_lines line 1",
        "mnemic.log 3 lines were not written: nobody took them",
        "test.log_lines after",
    ]


def test_a_stuck_stream_does_not_hold_the_end_of_the_process() -> None:
    stream = Stuck()
    writer = BackgroundWriter(stream)
    assert writer.take("a line")
    assert not writer.flush(0.0)
    stream.let.set()


def test_a_stream_that_is_closed_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    stream = io.StringIO()
    stream.close()
    writer = BackgroundWriter(stream)
    with logger_to(writer) as logger:
        logger.warning("nobody is there")
    assert writer.flush(60)
    assert capsys.readouterr().err == ""
