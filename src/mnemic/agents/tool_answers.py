"""Answers of a model's tools: results of a search, and the outcome of a write."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.engine.run_record import keep_texts
from mnemic.errors import InvalidInput
from mnemic.inject import SourceEntry, account_for
from mnemic.inject.escape import defuse_addresses, visible
from mnemic.types import Actor, Deadline, Hit, Intent, Memory, RecallRequest, RecallResult, WriteReceipt
from mnemic.types.filter_language import checked_filter
from mnemic.types.values import aware
from mnemic.write.turn_log import TurnTexts


async def shown_for(
    engine: MemoryEngine,
    actor: Actor,
    query: str,
    limit: int,
    *,
    where: Mapping[str, Any] | None = None,
    min_score: float = 0.0,
    asked_at: datetime | None = None,
    deadline: Deadline | None = None,
) -> RecallResult:
    """Return the results for a model that searches itself, as an injection would show them but for the number of
    memories from untrusted channels: each is labelled. It is logged, and query and results may be stored
    (`Policy.keep_turns`); raises StoreFailed if it cannot be, and InvalidInput for a `min_score` that is not from 0 to
    1 or an `asked_at` without a zone.
    """
    intent = Intent(query=query, top_k=limit, where=checked_filter(where), min_score=min_score)
    asked = None if asked_at is None else aware(asked_at, "asked_at")
    request = RecallRequest(intent=intent, max_untrusted=None, asked_at=asked)
    begun = engine.clock.now()
    found = await engine.recall(request, actor=actor, deadline=deadline)
    run_id = await account_for(engine, actor, found.hits)
    if found.hits:
        block = "\n".join(f"- {memory_fields(hit.memory, actor)['content']}" for hit in found.hits)
        await keep_texts(engine, actor, TurnTexts(run_id=run_id, at=begun, question=query, block=block), found.hits)
    return found


def check_length(name: str, text: str, longest: int) -> None:
    """Raise InvalidInput (`<name>:too_long`): a search shortens its query, which a model would not notice."""
    if len(text) > longest:
        raise InvalidInput(f"{name}:too_long", hint=f"more than {longest} characters")


def moment_of(text: str | None) -> datetime | None:
    """Return the moment that a text spells. Raises InvalidInput (`asked_at`)."""
    if text is None:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("asked_at", hint="ISO 8601 with a zone") from None


def receipt_fields(receipt: WriteReceipt) -> dict[str, Any]:
    """Return the outcome of a write, as a model's tool answers it."""
    answer: dict[str, Any] = {"stored": receipt.stored, "outcome": receipt.outcome.value}
    named = {"memory_id": receipt.memory_id, "reason": receipt.reason}
    return answer | {name: value for name, value in named.items() if value is not None}


def memory_fields(memory: Memory, reader: Actor) -> dict[str, Any]:
    """Return a memory as the tool of a model that serves `reader` answers it: nothing invisible, who said it where
    these are not the user's own words, and no live address in those.
    """
    entry = SourceEntry.from_hit(Hit(memory=memory, score=0.0), "memory", reader=reader)
    text = visible(entry.content)
    fields = {
        "memory_id": memory.memory_id,
        "content": text if entry.may_link else defuse_addresses(text),
        "date": memory.happened_at.date().isoformat(),
        "trusted": entry.trusted,
    }
    return fields if entry.said_by is None else {**fields, "said_by": defuse_addresses(visible(entry.said_by))}


def shown_hit(hit: Hit, reader: Actor) -> dict[str, Any]:
    """Return a memory that was searched for as the tool of a model answers it: with its relevance, the reason, and the
    other results that it disagrees with.
    """
    relevance = hit.score if hit.relevance is None else hit.relevance
    why = defuse_addresses(visible(hit.why))
    named = {"why": why, "disagrees_with": list(hit.disagrees_with)}
    given = {name: value for name, value in named.items() if value}
    return {**memory_fields(hit.memory, reader), "relevance": round(relevance, 2), **given}
