"""EXAMPLE PLUG-IN: a reader of flight confirmations that returns schema.org's reservations.

`mnemic` finds it by the entry point in `pyproject.toml`, which names `build`. `schema_org` has the shapes of the data
and reads what a sender has embedded for machines; `flights` reads the sentences of a text.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from mnemic.structured.documents import DocumentReader
from mnemic.structured.shape import Shape
from mnemic_travel.flights import flights_in
from mnemic_travel.schema_org import RESERVATIONS, embedded_reservations, text_of

MAX_CHARS = 1024 * 1024


def read_reservations(text: str, *, sent_on: date | None = None) -> list[dict[str, Any]]:
    """Return the reservations in plain text or HTML: those that the sender has embedded as JSON-LD, else the flights of
    the sentences. `sent_on` is the day that "Tuesday" and dates without a year refer to.
    """
    text = text[:MAX_CHARS]
    return embedded_reservations(text) or flights_in(text_of(text), sent_on=sent_on)


class TravelReader:
    """Reads reservations for structured memory."""

    shapes: Mapping[str, Shape] = RESERVATIONS

    def read(self, text: str, *, sent_on: date) -> list[dict[str, Any]]:
        """Return the reservations of a text."""
        return read_reservations(text, sent_on=sent_on)


def build() -> DocumentReader:
    """Build the reader."""
    return TravelReader()


__all__ = ["TravelReader", "build", "read_reservations"]
