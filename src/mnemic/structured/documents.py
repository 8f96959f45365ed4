"""Readers of documents that other packages bring (`mnemic.documents`): data of known shapes, by rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, Protocol

from mnemic.errors import MissingExtra
from mnemic.plugins import names, plugin
from mnemic.plugins.extras import missing_extra
from mnemic.structured.shape import Shape

_BROUGHT_BY = dict.fromkeys(
    "BusReservation EventReservation FlightReservation FoodEstablishmentReservation LodgingReservation "
    "RentalCarReservation TrainReservation".split(),
    "travel",
)
"""The package that brings a shape, for those that the core had itself once."""


class DocumentReader(Protocol):
    """Reads data from documents. An entry point of `mnemic.documents` is called without arguments and returns one."""

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """The shapes that it reads, by name."""

    def read(self, text: str, *, sent_on: date) -> list[dict[str, Any]]:
        """Return the data in `text` (plain, HTML, a mail, a calendar), each item with the name of its shape as `@type`,
        and nothing that the text does not contain. `sent_on` is the day that relative dates refer to. Called from
        several threads, never on the event loop.
        """


@cache
def installed_readers() -> tuple[DocumentReader, ...]:
    """Return the readers of all installed packages, by name; found once. Raises InvalidConfig
    (`invalid_config:plugin:<name>`) for one that cannot be loaded.
    """
    found = (plugin("documents", name) for name in names("documents"))
    return tuple(build() for build in found if build is not None)


def package_missing(shape: str) -> MissingExtra | None:
    """Return the error for a shape that a package brings which is not installed; None for a shape that no package
    brings.
    """
    extra = _BROUGHT_BY.get(shape)
    return None if extra is None else missing_extra(extra)


def no_reader() -> MissingExtra:
    """Return the error for a document that may be of any shape where no reader is installed."""
    return missing_extra("travel")
