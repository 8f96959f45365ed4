"""Memories of mem0: the answer of `get_all()`, and that of `history()` if the file has it.

`{"results": [{"id", "memory", "metadata", "created_at", "updated_at", "user_id", ...}], "history": [...]}`. Identifiers
and times are preserved, and earlier values of a memory become versions. A file that names several users is read for
one: the first, or the one requested as its conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.entries import entry, left_out, mapping
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.foreign_memory import first_moment, memory_id_of
from mnemic.importers.importer_interface import Importer
from mnemic.maintenance.archive import MAX_VERSIONS, ArchivedMemory
from mnemic.types import Kind, Level, Memory, Origin, Scope, Source

_CONTEXT_FIELDS = ("agent_id", "run_id", "actor_id", "role", "expiration_date")
"""Fields of a memory outside its metadata that filters of mem0 see: fields of the data here."""


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a memory of mem0 or the answer of its `get_all()`."""
    if _is_memory(value):
        return True
    results = value.get("results")
    return isinstance(results, list) and any(isinstance(one, Mapping) and _is_memory(one) for one in results)


def _is_memory(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("memory"), str) and "id" in value


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield a memory with its versions for each of mem0's; those of another user are left out."""
    broken, result, history = _gather_records(found, name)
    yield from broken
    users = [text_or_none(value, "user_id") for _, value in result]
    user = name if name in users else next((one for one in users if one is not None), None)
    for (place, value), whose in zip(result, users, strict=True):
        if whose not in (None, user):
            yield left_out(place, whose or name, "other_user")
        else:
            yield entry(place, whose or name, partial(_archived_memory, value, history))


def text_or_none(value: Any, name: str) -> str | None:
    """Return that field of `value` if it is text, else None."""
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else None


def _gather_records(
    found: Iterator[Record], name: str
) -> tuple[list[Item], list[tuple[str, Any]], dict[str, list[Mapping[str, Any]]]]:
    broken: list[Item] = []
    entries: list[tuple[str, Any]] = []
    history: dict[str, list[Mapping[str, Any]]] = {}
    for record in found:
        value = record.value
        if record.problem is not None:
            broken.append(Item(place=record.place, conversation=name, problem=record.problem))
        elif isinstance(value, Mapping) and isinstance(value.get("results"), list):
            entries += [(f"{record.place}, memory {at}", one) for at, one in enumerate(value["results"], start=1)]
            for row in value["history"] if isinstance(value.get("history"), list) else []:
                if (whose := text_or_none(row, "memory_id")) is not None:
                    history.setdefault(whose, []).append(row)
        else:
            entries.append((record.place, value))
    return broken, entries, history


def _archived_memory(value: Any, history: Mapping[str, Sequence[Mapping[str, Any]]]) -> ArchivedMemory:
    memory = mapping(value, "memory")
    said, given = text(memory, "memory"), text(memory, "id")
    if not said or not said.strip() or given is None:
        raise InvalidInput("memory:memory", hint="expected an object with id and memory")
    created = first_moment(memory, "created_at")
    if created is None:
        raise InvalidInput("memory:created_at", hint="expected the time at which it was made")
    about = memory.get("metadata")
    data = dict(about) if isinstance(about, Mapping) else {}
    fields = {name: known for name in _CONTEXT_FIELDS if (known := text_or_none(memory, name)) is not None}
    whose = {"id": given, "user_id": text_or_none(memory, "user_id")}
    newest = Memory(
        memory_id=memory_id_of(given),
        kind=Kind.LONG_TERM,
        scope=Scope(tenant="import", level=Level.USER, owner="import"),
        content=said,
        data={**data, **fields, "mem0": {name: known for name, known in whose.items() if known is not None}},
        source=Source(origin=Origin.AGENT_INFERRED if memory.get("role") == "assistant" else Origin.IMPORT),
        created_at=created,
        updated_at=max(first_moment(memory, "updated_at") or created, created),
    )
    return ArchivedMemory(_versions(newest, history.get(given, ())))


def _versions(newest: Memory, rows: Sequence[Mapping[str, Any]]) -> tuple[Memory, ...]:
    """Return the values in its history, oldest first, and `newest`; only that one if they do not lead to it."""
    changes = [row for row in rows if row.get("event") in ("ADD", "UPDATE") and text_or_none(row, "new_memory")]
    timed = sorted(((_change_time(row) or newest.created_at, row) for row in changes), key=lambda one: one[0])
    if not timed or timed[-1][1]["new_memory"] != newest.content or len(timed) > MAX_VERSIONS:
        return (newest,)
    earlier = [
        replace(newest, content=row["new_memory"], version=number, updated_at=max(at, newest.created_at))
        for number, (at, row) in enumerate(timed[:-1], start=1)
    ]
    return (*earlier, replace(newest, version=len(timed)))


def _change_time(row: Mapping[str, Any]) -> datetime | None:
    return first_moment(row, "updated_at") or first_moment(row, "created_at")


IMPORTER = Importer(items=items, recognises=recognises, rank=90)
