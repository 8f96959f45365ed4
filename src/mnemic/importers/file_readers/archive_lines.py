"""Archives that `mnemic export --all` wrote: a memory in all its versions, or a consent, a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.maintenance.archive import FORMAT, read_line


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a line of an archive, of this version of the format or another."""
    return str(value.get("format", "")).startswith(FORMAT.partition("/")[0] + "/")


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the content of each line, or its problem."""
    for record in found:
        try:
            if record.problem is not None:
                raise record.problem
            if not isinstance(record.value, Mapping):
                raise InvalidInput("archive:shape", hint="expected an object")
            yield Item(place=record.place, conversation=name, content=read_line(record.value))
        except InvalidInput as problem:
            yield Item(place=record.place, conversation=name, problem=problem)
