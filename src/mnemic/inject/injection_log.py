"""The recall log: which memories, in which version, entered the model's input of which run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, AuditEvent, Hit, JsonValue
from mnemic.unit_of_work import Mutation, apply

INJECTED = "injected"
"""The action of a line of the log."""


def injected_in(event: AuditEvent) -> list[tuple[str, int]]:
    """Return the memories of a line of the log by memory_id, with their versions; none for any other line of the
    audit.
    """
    named: Any = event.detail.get("memories", ()) if event.action == INJECTED else ()
    return [(memory_id, version) for memory_id, version in named]


def digest_of(block: str) -> str:
    """Return the digest of an injected block in the log: SHA-256 of its UTF-8 form. The block's fence is random, so
    that a memory cannot be guessed by trying digests.
    """
    return hashlib.sha256(block.encode("utf-8", "surrogatepass")).hexdigest()


async def record_injection(
    store: RecordStore,
    clock: Clock,
    actor: Actor,
    run_id: str,
    hits: Sequence[Hit],
    *,
    digest: str | None = None,
    foreign: int = 0,
    by: str | None = None,
    tokens: int | None = None,
    ms: float | None = None,
) -> None:
    """Leave one line in the tenant's audit, before the model is called: run, memories with their versions, the block's
    `digest`, and how many `foreign` entries (of other stores) came with them; `by` which adapter, of how many
    `tokens`, found in how many milliseconds. Nothing is written for an empty injection.

    Raises StoreFailed: memories that cannot be logged are not injected.
    """
    if not hits and not foreign:
        return
    detail: dict[str, JsonValue] = {
        "run_id": run_id,
        "memories": [[hit.memory.memory_id, hit.memory.version] for hit in hits],
    }
    if digest is not None:
        detail |= {"sha256": digest, "foreign": foreign}
    measured = {"by": by, "tokens": tokens, "ms": None if ms is None else round(ms, 1), "agent": actor.agent}
    detail |= {name: value for name, value in measured.items() if value is not None}
    await apply(store, Mutation.line(INJECTED, actor=actor, at=clock.now(), detail=detail))
