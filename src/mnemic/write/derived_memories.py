"""Derived memories: a summary of a conversation, a profile, a reflection, a sentence of the user's portrait.

Each names its sources, lives no longer than any of them, and is deleted with them. It is `agent_inferred` and of the
kind `episodic`: nothing is merged with it and nothing is extracted from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from mnemic.ports import Reads, RecordStore, Snapshot
from mnemic.types import Actor, JsonValue, Kind, Memory, Scope, Status, Where
from mnemic.unit_of_work import Mutation, Unit, commit

SUMMARY, PROFILE, REFLECTION, PORTRAIT = "summary", "profile", "reflection", "portrait"
DERIVED = frozenset({SUMMARY, PROFILE, REFLECTION, PORTRAIT})
"""Categories of derived memories."""

_PAGE = 500
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
_MARK = "derived"
"""Mark of a tenant with derived memories: without it no search for them is needed."""


def sources_of(memory: Memory) -> frozenset[str]:
    """Return the memories that `memory` was derived from; none for an underived one."""
    named = memory.data.get("sources") if memory.kind is Kind.EPISODIC and memory.category in DERIVED else None
    return frozenset(map(str, named)) if isinstance(named, Sequence) and not isinstance(named, str) else frozenset()


def digest_of(sources: Iterable[Memory]) -> str:
    """Return a digest of the sources, in letters: equal for the same memories with the same content in the same order.
    Digits would be taken for an account's or a telephone's number by chance, and redacted.
    """
    serialised = json.dumps([[one.memory_id, one.content] for one in sources], ensure_ascii=False)
    return hashlib.sha256(serialised.encode("utf-8", "surrogatepass")).hexdigest()[:24].translate(_LETTERS)


async def derived_in(reader: Snapshot, scope: Scope) -> list[Memory]:
    """Return the derived memories of the scope, of any status."""
    where = Where(scopes=(scope,), kinds=frozenset({Kind.EPISODIC}), categories=DERIVED, statuses=frozenset(Status))
    found: list[Memory] = []
    before = None
    while page := await reader.newest(where, limit=_PAGE, before=before):
        before = page[-1].memory_id
        found += [memory for memory in page if sources_of(memory)]
    return found


async def derived_from(store: RecordStore, scope: Scope, memory_ids: Collection[str]) -> list[Memory]:
    """Return the memories of the scope that are derived from one of these."""
    if not await store.marks(scope.tenant, _MARK):
        return []
    return [memory for memory in await derived_in(store, scope) if not sources_of(memory).isdisjoint(memory_ids)]


def mark_tenant(tenant: str) -> Mutation:
    """Return the mark of a tenant with derived memories. It is written before, or with, the first of them."""
    return Mutation(tenant=tenant, marks={_MARK: "1"})


async def delete_memories(store: RecordStore, memories: Sequence[Memory], *, by: Actor, now: datetime) -> int:
    """Delete these memories in one transaction, each with a line in the audit; return the number deleted."""

    async def work(unit: Unit) -> int:
        return sum([await remove(unit, memory, by=by, now=now) for memory in memories])

    return await commit(store, work) if memories else 0


async def remove(unit: Unit, memory: Memory, *, by: Actor, now: datetime) -> bool:
    """Delete the memory with all its versions; False if it was gone already. The deletion stays in the audit, for one
    that was read in a message with the place of its words, so that who reads the message again leaves these alone.
    """
    place = memory.source.span
    detail: dict[str, JsonValue] = {} if memory.source.quote is None else {"span": place and list(place)}
    return await unit.apply(Mutation.removal(memory, "forgotten", actor=by, at=now, detail=detail))


async def present(tx: Reads, scope: Scope, memory_ids: Iterable[str]) -> bool:
    """Check whether all these memories are there and active."""
    for memory_id in memory_ids:
        memory = await tx.get(memory_id, scopes=[scope])
        if memory is None or memory.status is not Status.ACTIVE:
            return False
    return True
