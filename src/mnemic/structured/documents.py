"""Readers of documents that other packages bring (`mnemic.documents`): data of known shapes, by rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any, Protocol

from mnemic.errors import InvalidInput, MissingExtra
from mnemic.extract.grounding import NormalisedText
from mnemic.plugins import names, plugin
from mnemic.plugins.extras import missing_extra
from mnemic.policy.proposal_check import objects_in
from mnemic.ports import Completer
from mnemic.prompts import fields_prompt
from mnemic.structured.schema import Schema
from mnemic.structured.shape import Shape
from mnemic.types import Deadline

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


MAX_TEXT_CHARS = 32_768
MAX_FOUND = 50
_NUMBER = re.compile(r"\d+")


async def fields_by_model(
    completer: Completer, text: str, shape: Shape, *, sent_on: date | None, deadline: Deadline
) -> list[dict[str, Any]]:
    """Return the data of this shape that the model finds in `text`, without any value that the text does not contain.

    A text must occur in `text` as whole words; a date or time must consist of numbers that do (a year may be omitted).
    Values that then break the schema are removed. Raises ModelFailed and its subclasses, InvalidInput (`text`).
    """
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidInput("text:too_long", hint=f"at most {MAX_TEXT_CHARS} characters")
    completion = await completer.complete(
        fields_prompt(text, shape.schema.document, sent_on=sent_on), deadline=deadline
    )
    found = objects_in(completion.text, "found", shape.schema.document.get("properties", ()))[:MAX_FOUND]
    grounding = _Grounding(text)
    grounded = (grounding.only(one, shape.schema, ()) for one in found)
    normal = [dict(shape.normalise(one)) for one in grounded if one]
    return [one for one in normal if one and not any(shape.schema.problems(one))]


class _Grounding:
    """Words and numbers of a text."""

    def __init__(self, text: str) -> None:
        self._folded = NormalisedText(text)
        self._numbers = {int(number) for number in _NUMBER.findall(text)}

    def only(self, value: Any, schema: Schema, path: tuple[str, ...]) -> Any:
        """Return `value` without the leaves that the text does not contain; None if nothing is left."""
        if isinstance(value, Mapping):
            inner = {str(name): self.only(one, schema, (*path, str(name))) for name, one in value.items()}
            return {name: one for name, one in inner.items() if one is not None} or None
        if isinstance(value, list):
            return [one for each in value if (one := self.only(each, schema, path)) is not None] or None
        return value if self._holds(value, schema.find_property(path) or {}) else None

    def _holds(self, value: Any, schema: Mapping[str, Any]) -> bool:
        if isinstance(value, bool) or value is None or "enum" in schema or "const" in schema:
            return True
        if isinstance(value, int | float):
            return value in self._numbers or self._folded.find(str(value)) is not None
        if str(schema.get("format")) in ("date", "date-time", "time"):
            return self._holds_time(str(value))
        return self._folded.find(str(value)) is not None

    def _holds_time(self, value: str) -> bool:
        """Return True if day, hour and minute occur in the text; on a twelve-hour clock the hour may differ by 12."""
        match = re.match(r"(?:\d{4}-\d\d-(\d\d))?[T ]?(?:(\d\d):(\d\d))?", value)
        day, hour, minute = (
            (None if part is None else int(part)) for part in (match.groups() if match else (None,) * 3)
        )
        days = day is None or day in self._numbers or not hour
        hours = hour is None or bool({hour, (hour - 12) % 24} & self._numbers)
        return days and hours and (not minute or minute in self._numbers)
