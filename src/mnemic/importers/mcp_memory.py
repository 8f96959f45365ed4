"""The memory server of the Model Context Protocol: `memory.jsonl`, an entity or a relation a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mnemic.extract.messages import text_parts
from mnemic.importers.entries import wrong
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.importer_interface import Importer
from mnemic.types import Candidate, Origin, Source


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an entity or a relation."""
    if value.get("type") == "entity":
        return isinstance(value.get("name"), str) and isinstance(value.get("observations"), list)
    return value.get("type") == "relation" and all(isinstance(value.get(one), str) for one in _RELATION)


_RELATION = ("from", "relationType", "to")


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield a memory for each observation and each relation."""
    for record in found:
        value = record.value
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif not isinstance(value, Mapping) or not recognises(value):
            yield wrong(record.place, name, "memory:shape", "expected an entity with observations, or a relation")
        elif value["type"] == "relation":
            words = " ".join(value[one].replace("_", " ") for one in _RELATION)
            yield from _memory(record.place, name, words, {one: value[one] for one in _RELATION})
        else:
            about = {"entity": value["name"], "entity_type": str(value.get("entityType") or "")}
            for at, observed in enumerate(value["observations"], start=1):
                place = f"{record.place}, observation {at}"
                if isinstance(observed, str) and observed.strip():
                    yield from _memory(place, name, f"{value['name'].replace('_', ' ')}: {observed}", about)
                else:
                    yield wrong(place, name, "memory:observation", "expected text")


def _memory(place: str, name: str, words: str, about: Mapping[str, str]) -> Iterator[Item]:
    for part in text_parts(words):
        source = Source(origin=Origin.IMPORT, ref=f"{name}:{place}")
        kept = Candidate(content=part, category="note", data={"mcp": dict(about)}, source=source)
        yield Item(place=place, conversation=name, content=kept)


IMPORTER = Importer(items=items, recognises=recognises, main_files=("memory.jsonl",), rank=42)
