"""One entry of a foreign file; an error in it affects no other entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.item import Item, entry
from mnemic.importers.file_readers.multi_file_exports import Packed
from mnemic.importers.file_readers.records import Record, records
from mnemic.importers.file_readers.timestamps import moment

__all__ = ["began_at", "entry", "in_order", "left_out", "mapping", "read", "records_of", "wrong"]


MAX_DEFECTS, MAX_CONVERSATIONS = 10_000, 100_000


def left_out(place: str, conversation: str, reason: str) -> Item:
    """Return the item of an entry that is left out on purpose."""
    return Item(place=place, conversation=conversation, skipped=reason)


def wrong(place: str, conversation: str, reason: str, hint: str) -> Item:
    """Return the item of an entry that cannot be used."""
    return Item(place=place, conversation=conversation, problem=InvalidInput(reason, hint=hint))


def read(
    found: Iterator[Record], name: str, recognises: Callable[[Mapping[str, Any]], bool], hint: str
) -> Iterator[Record | Item]:
    """Yield each record of the format, and for each other one an item with the problem in its place. Raises
    InvalidInput if there are very many of them: then it is no such file.
    """
    defects = 0
    for record in found:
        if record.problem is None and isinstance(record.value, Mapping) and recognises(record.value):
            yield record
            continue
        defects += 1
        if defects > MAX_DEFECTS:
            raise InvalidInput("file:format", hint=f"{record.place}: more than {MAX_DEFECTS} entries cannot be read")
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        else:
            yield wrong(record.place, name, "conversation:shape", hint)


def records_of(files: Packed, names: Iterable[str]) -> Iterator[Record]:
    """Yield the records of each of these files; one that cannot be read affects no other."""
    for name in names:
        try:
            with files.open(name) as stream:
                yield from (replace(one, place=f"{name}, {one.place}") for one in records(stream))
        except InvalidInput as problem:
            yield Record(place=name, problem=problem)


def in_order(
    found: Iterator[Record | Item], began: Callable[[Mapping[str, Any]], datetime | None]
) -> Iterator[Record | Item]:
    """Yield conversations in the order in which they began: products export the newest first, but the earliest
    statements must be imported first. Conversations without a start time come last, in the order of the file, followed
    by other entries.
    """
    timed: list[tuple[datetime, int, Record]] = []
    untimed: list[Record] = []
    others: list[Item] = []
    for position, one in enumerate(found):
        # They are held until the last is known, so a file of empty ones must not fill the memory.
        if position > MAX_CONVERSATIONS:
            raise InvalidInput("file:too_large", hint=f"more than {MAX_CONVERSATIONS} conversations")
        if isinstance(one, Item):
            others.append(one)
            continue
        at = began(one.value)
        if at is None:
            untimed.append(one)
        else:
            timed.append((at, position, one))
    yield from (record for _, _, record in sorted(timed, key=lambda one: one[:2]))
    yield from untimed
    yield from others


def began_at(value: Any) -> datetime | None:
    """Return the time in a field of a conversation; None if it has none."""
    try:
        return None if value is None else moment(value, "conversation:time")
    except InvalidInput:
        return None


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """Return `value`, which must be an object. Raises InvalidInput (`invalid_input:<name>`)."""
    if not isinstance(value, Mapping):
        raise InvalidInput(name, hint="expected an object")
    return value
