"""An importer: lines of JSON with "who" and "what"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mnemic.importers.file_readers.item import Item
from mnemic.types import Message, Origin


def items(records: Iterator[Any], name: str) -> Iterator[Item]:
    """Yield the messages of a file called `name`; a record has `place`, and `value` or `problem`."""
    for record in records:
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
            continue
        message = Message(role=record.value["who"], content=record.value["what"], session=name, origin=Origin.IMPORT)
        yield Item(place=record.place, conversation=name, content=message)
