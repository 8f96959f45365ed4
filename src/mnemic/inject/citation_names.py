"""The names by which an answer cites memories, and the memories as a model and a report are shown them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mnemic.types import Hit


def hits_by_citation(hits: Sequence[Hit]) -> dict[str, Hit]:
    """Return each hit under the name by which an answer cites it: its key, `scope:key` if a key occurs in two scopes or
    twice, and `m<n>` for a memory without a key.
    """
    keys = [hit.memory.key for hit in hits]
    names: dict[str, Hit] = {}
    for number, hit in enumerate(hits, start=1):
        key = hit.memory.key
        name = key or f"m{number}"
        if key is not None and keys.count(key) > 1:
            name = f"{hit.memory.scope.level}:{key}"
        names[name if name not in names else f"{name}#{number}"] = hit
    return names


def memory_item(ref: str, hit: Hit) -> dict[str, Any]:
    """Return a memory as a model is shown it."""
    # The day on which it was said or happened: without it an old fact looks like a new one.
    return {"ref": ref, **_as_json(hit), "since": hit.memory.happened_at.date().isoformat()}


def applied_entry(hit: Hit) -> dict[str, Any]:
    """Return a memory that an answer cites, for the report."""
    memory = hit.memory
    return {"memory_id": memory.memory_id, "version": memory.version, **_as_json(hit), "score": round(hit.score, 3)}


def _as_json(hit: Hit) -> dict[str, Any]:
    memory = hit.memory
    return {
        "key": memory.key,
        "value": memory.content,
        "scope": memory.scope.level.value,
        "confidence": memory.confidence,
    }
