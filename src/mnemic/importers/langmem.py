"""Memories of LangMem: items of a LangGraph store, `{"namespace", "key", "value", "created_at", "updated_at"}`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.entries import entry, mapping
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.foreign_memory import brought, first_moment
from mnemic.importers.importer_interface import Importer
from mnemic.maintenance.archive import ArchivedMemory

_TEXTS = ("content", "memory", "text")


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an item of a store."""
    return (
        isinstance(value.get("namespace"), list)
        and isinstance(value.get("key"), str)
        and isinstance(value.get("value"), Mapping)
    )


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield a memory for each item. Its conversation is its namespace."""
    for record in found:
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        else:
            yield entry(record.place, _namespace(record.value) or name, partial(_memory, record.value))


def _namespace(value: Any) -> str:
    parts = value.get("namespace") if isinstance(value, Mapping) else None
    return "/".join(part for part in parts if isinstance(part, str)) if isinstance(parts, list) else ""


def _memory(value: Any) -> ArchivedMemory:
    item = mapping(value, "memory")
    key, result = item.get("key"), mapping(item.get("value"), "memory:value")
    if not isinstance(key, str):
        raise InvalidInput("memory:key", hint="expected an item of a store with its key")
    inner = result.get("content")
    said = inner if isinstance(inner, Mapping) else result
    content = next((said[name] for name in _TEXTS if isinstance(said.get(name), str) and said[name].strip()), None)
    rest = {name: part for name, part in said.items() if name not in _TEXTS}
    if content is None and not rest:
        raise InvalidInput("memory:value", hint="expected an item that says something")
    about: dict[str, Any] = {"key": key, "namespace": _namespace(item)}
    if isinstance(result.get("kind"), str):
        about["kind"] = result["kind"]
    return brought(
        f"{_namespace(item)}/{key}" if len(key) < 32 else key,
        content if content is not None else json.dumps(rest, ensure_ascii=False),
        created=first_moment(item, "created_at"),
        updated=first_moment(item, "updated_at"),
        data={**{name: part for name, part in rest.items() if name != "kind"}, "langmem": about},
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=140)
