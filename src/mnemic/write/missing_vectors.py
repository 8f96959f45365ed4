"""Memories stored while the embedder did not answer. Words and keys find them; the vector is added later.

Each has a mark in its tenant, under the pseudonym of its author, committed with it. The transaction that adds the
vector deletes the mark. Decisions that need vectors (near-duplicates, superseded statements) are made at that point.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from mnemic.errors import EmbedderFailed, SpaceMismatch
from mnemic.ports import Embedder, Reads, RecordStore
from mnemic.types import Actor, Deadline, Level, Memory, Scope, Vector, VectorSpace
from mnemic.types.scope import token_of
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.draft import Draft
from mnemic.write.prepare import index_text, round_vectors

BATCH = 64
_LEFT = "unembedded/"
_UNANSWERED = frozenset({"embedder_failed:timeout", "embedder_failed:unavailable", "embedder_failed:circuit_open"})


def left_prefix(token: str) -> str:
    """Return the prefix of the names of the marks for a person's memories."""
    return f"{_LEFT}{token}/"


def leave_without_vector(
    drafts: Sequence[Draft], failure: EmbedderFailed, space: VectorSpace, deadline: Deadline | None, *, must: bool
) -> None:
    """Let the drafts go on without vectors. Raises `failure` if they `must` have one, if the embedder did answer, and
    if no time is left.
    """
    late = deadline is not None and deadline.expired
    if must or late or failure.permanent or failure.reason not in _UNANSWERED:
        raise failure
    for draft in drafts:
        draft.vector, draft.space = None, space


async def leave(unit: Unit, draft: Draft, memory: Memory) -> None:
    """Mark `memory`, the stored draft, for its vector."""
    name = left_prefix(token_of(draft.secret, draft.actor.user)) + memory.memory_id
    home = json.dumps({"level": memory.scope.level, "owner": memory.scope.owner})
    await unit.apply(Mutation(tenant=memory.scope.tenant, marks={name: home}))


async def require_present(tx: Reads, draft: Draft) -> None:
    """Raise SpaceMismatch if the store was changed to another embedder after the draft's vector was made."""
    if draft.space != await tx.space():
        raise SpaceMismatch(hint="the store has changed to another embedder; the same call makes a new vector")


@dataclass(frozen=True, slots=True)
class _Left:
    """A memory that waits for its vector: the name of its mark, and its scope."""

    name: str
    memory_id: str
    scope: Scope


async def embed_left(store: RecordStore, embedder: Embedder | None, *, actor: Actor, now: datetime) -> tuple[int, int]:
    """Embed the memories of the actor's tenant that were stored without a vector, oldest first, as long as the embedder
    answers. Return the number of embedded and of waiting memories. Without an embedder they are only counted.

    Raises StoreFailed: finished work stays, and a further call continues.
    """
    names = await store.marks(actor.tenant, _LEFT)
    # Identifiers begin with the time: the oldest have waited longest.
    waiting = sorted(_waiting(actor.tenant, names), key=lambda one: one.memory_id)
    done = ended = 0
    for first in range(0, len(waiting), BATCH):
        if embedder is None:
            break
        part = waiting[first : first + BATCH]
        try:
            pairs = await _embed_part(store, embedder, part)
        # A failing embedder will fail for the next batch, too: the marks stay, and a later run continues.
        except EmbedderFailed:
            break
        for one, memory, vector in zip(part, *pairs, strict=True):
            settled = await commit(store, partial(_settle_vector, one, memory, vector, embedder.space, actor, now))
            ended += settled is not None
            done += settled is True
    return done, len(waiting) - ended


async def _embed_part(
    store: RecordStore, embedder: Embedder, part: Sequence[_Left]
) -> tuple[list[Memory | None], list[Vector | None]]:
    """Read the memories, and make a vector for each that is there and has none."""
    found = [(await store.get_many([one.memory_id], scopes=[one.scope])).get(one.memory_id) for one in part]
    bare = [memory for memory in found if memory is not None and memory.vector is None]
    texts = [index_text(memory.content, key=memory.key) for memory in bare]
    made = iter(round_vectors(await embedder.embed(texts)) if texts else [])
    return found, [None if memory is None or memory.vector is not None else next(made) for memory in found]


async def _settle_vector(
    one: _Left, read: Memory | None, vector: Vector | None, space: VectorSpace, actor: Actor, now: datetime, unit: Unit
) -> bool | None:
    """Store the vector and remove the mark; return True if the memory got it, False if it needs none any more, None if
    it was changed meanwhile and waits on.
    """
    memory = await unit.reads.get(one.memory_id, scopes=[one.scope])
    done = Mutation(tenant=actor.tenant, marks={one.name: None})
    # It was forgotten, or a correction brought a vector.
    if memory is None or memory.vector is not None:
        await unit.apply(done)
        return False
    # The words or the embedder changed while the vector was made: it describes something else.
    if vector is None or read is None or memory.content != read.content or await unit.reads.space() != space:
        return None
    # `updated_at` stays: the statement is as old as before, only its vector is new.
    whole = memory.next_version(memory.updated_at, vector=vector)
    await unit.apply(Mutation.for_memory(whole, "embedded", actor=actor, at=now, was=memory.status))
    await unit.apply(done)
    return True


def _waiting(tenant: str, names: dict[str, str]) -> Iterator[_Left]:
    for name, value in names.items():
        home = json.loads(value)
        scope = Scope(tenant=tenant, level=Level(home["level"]), owner=home["owner"])
        yield _Left(name, name.rpartition("/")[2], scope)
