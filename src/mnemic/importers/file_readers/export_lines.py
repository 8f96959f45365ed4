"""Exports that `mnemic export` wrote: one memory a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.retrieve.export import FORMAT, as_candidate
from mnemic.types import Status


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an exported memory, of this version of the format or another."""
    return str(value.get("format", "")).startswith(FORMAT.partition("/")[0] + "/")


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield a candidate for each memory that was active.

    Superseded, pending and expired memories are skipped, so that the import does not revive them.
    """
    for record in found:
        yield _item(record, name)


def _item(record: Record, conversation: str) -> Item:
    try:
        if record.problem is not None:
            raise record.problem
        if not isinstance(record.value, Mapping):
            raise InvalidInput("export:shape", hint="expected an object")
        status = record.value.get("status", Status.ACTIVE)
        candidate = as_candidate(record.value)
    except InvalidInput as problem:
        return Item(place=record.place, conversation=conversation, problem=problem)
    if status != Status.ACTIVE:
        return Item(place=record.place, conversation=conversation, skipped=f"status_{status}")
    return Item(place=record.place, conversation=conversation, content=candidate)
