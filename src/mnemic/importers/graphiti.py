"""Facts of Graphiti or Zep: `{"edges": [{"uuid", "fact", "created_at", "valid_at", "invalid_at"}]}`, or an edge
a line.

The validity of facts is preserved: facts no longer true are imported as superseded, for questions about their time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.entries import entry, mapping
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.foreign_memory import brought, first_moment
from mnemic.importers.importer_interface import Importer
from mnemic.maintenance.archive import ArchivedMemory

_OWNERS = ("group_id", "user_uuid", "graph_uuid")
_KEPT = ("name", *_OWNERS, "source_node_uuid", "source_node_name", "target_node_uuid", "target_node_name")


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a fact, or has edges that are."""
    if _is_fact(value):
        return True
    edges = value.get("edges")
    return isinstance(edges, list) and any(map(_is_fact, edges))


def _is_fact(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("fact"), str) and "uuid" in value


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield a memory for each fact."""
    for record in found:
        value = record.value
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif isinstance(value, Mapping) and isinstance(value.get("edges"), list):
            for at, edge in enumerate(value["edges"], start=1):
                yield entry(f"{record.place}, fact {at}", _whose(edge, name), partial(_memory, edge))
        else:
            yield entry(record.place, _whose(value, name), partial(_memory, value))


def _whose(value: Any, name: str) -> str:
    """Return the group of an edge (Graphiti), or its user or graph (Zep)."""
    named = [value.get(key) for key in _OWNERS] if isinstance(value, Mapping) else []
    return next((one for one in named if isinstance(one, str) and one), name)


def _memory(value: Any) -> ArchivedMemory:
    edge = mapping(value, "memory")
    fact, given = text(edge, "fact"), text(edge, "uuid")
    if not fact or not fact.strip() or given is None:
        raise InvalidInput("memory:fact", hint="expected an object with uuid and fact")
    about = {"id": given}
    for name in _KEPT:
        if isinstance(edge.get(name), str) and edge[name]:
            about[name] = edge[name]
    attributes = edge.get("attributes")
    return brought(
        given,
        fact,
        created=first_moment(edge, "created_at"),
        data={**(attributes if isinstance(attributes, Mapping) else {}), "graphiti": about},
        valid_from=first_moment(edge, "valid_at"),
        valid_to=first_moment(edge, "invalid_at", "expired_at"),
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=130)
