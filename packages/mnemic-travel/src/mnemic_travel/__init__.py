"""TRAVEL CONFIRMATIONS IN, RESERVATIONS OUT: flights, trains, stays and events, as schema.org writes them.

`reservations` tries the most reliable sources first: data that the sender has put into the document (JSON-LD,
microdata, a calendar entry, the code of a boarding pass), and only then the text, by labels, tables and patterns.
Nothing here knows any one airline or agency.

The readers load when a document is first read: they are many, and most programs read none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mnemic_travel.document import document_of
    from mnemic_travel.reservation_reader import reservations

_HOMES = {"document_of": "document", "reservations": "reservation_reader"}

__all__ = ["document_of", "reservations"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mnemic_travel' has no attribute {name!r}")
    return getattr(import_module(f"mnemic_travel.{_HOMES[name]}"), name)
