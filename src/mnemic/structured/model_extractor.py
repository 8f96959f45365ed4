"""Structured data by a language model. It only proposes: the schema decides on the form, the text on the content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.grounding import NormalisedText
from mnemic.policy.proposal_check import objects_in
from mnemic.ports import Completer
from mnemic.prompts import fields_prompt
from mnemic.structured.schema import Schema
from mnemic.structured.shape import Shape
from mnemic.types import Deadline

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
