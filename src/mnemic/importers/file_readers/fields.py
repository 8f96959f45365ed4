"""The fields of one JSON object, read with their types checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.errors import InvalidInput


def first(value: Mapping[str, Any], *names: str) -> Any:
    """Return the first of these fields that is present and not null, else None."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def text(value: Mapping[str, Any], *names: str) -> str | None:
    """Return that field, which must be text; a whole number is spelled out. Raises InvalidInput (`message:<name>`)."""
    found = first(value, *names)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    if found is not None and not isinstance(found, str):
        raise InvalidInput(f"message:{names[0]}", hint="expected text")
    return found
