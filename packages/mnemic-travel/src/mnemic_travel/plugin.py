"""Reader of travel documents, registered as entry point `travel` in `mnemic.documents`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from mnemic.structured.documents import DocumentReader
from mnemic.structured.shape import Shape
from mnemic_travel.airport_table import airport_table
from mnemic_travel.document import document_of
from mnemic_travel.reservation_reader import reservations
from mnemic_travel.schema_org import RESERVATIONS


class TravelReader:
    """Reads reservations from confirmations, calendars and boarding passes."""

    shapes: Mapping[str, Shape] = RESERVATIONS

    def read(self, text: str, *, sent_on: date) -> list[dict[str, Any]]:
        """Return the reservations of a text, names as codes and times with their zones."""
        return reservations(document_of(text, sent_on=sent_on), airports=airport_table())


def build() -> DocumentReader:
    """Build the reader."""
    return TravelReader()
