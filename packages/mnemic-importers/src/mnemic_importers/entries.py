"""One entry of a foreign file; an error in it affects no other entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mnemic.errors import InvalidInput
from mnemic_importers.conversations.item import Item, entry
from mnemic_importers.conversations.records import Record

__all__ = ["entry", "left_out", "mapping", "read", "wrong"]


def left_out(place: str, conversation: str, reason: str) -> Item:
    """Return the item of an entry that is left out on purpose."""
    return Item(place=place, conversation=conversation, skipped=reason)


def wrong(place: str, conversation: str, reason: str, hint: str) -> Item:
    """Return the item of an entry that cannot be used."""
    return Item(place=place, conversation=conversation, problem=InvalidInput(reason, hint=hint))


def read(
    found: Iterator[Record], name: str, recognises: Callable[[Mapping[str, Any]], bool], hint: str
) -> Iterator[Record | Item]:
    """Yield each record of the format, and an item with the problem in the place of each other one."""
    for record in found:
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif not isinstance(record.value, Mapping) or not recognises(record.value):
            yield wrong(record.place, name, "conversation:shape", hint)
        else:
            yield record


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return `value`, which must be an object. Raises InvalidInput (`invalid_input:<name>`)."""
    if not isinstance(value, Mapping):
        raise InvalidInput(name, hint="expected an object")
    return value
