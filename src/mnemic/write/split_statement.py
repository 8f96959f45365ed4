"""Remaining facts of a superseded statement, stored in a separate memory.

"I moved to Porto" closes "I live in Lisbon with my dog Rex", and "My dog Rex" remains. Such a memory names in its data
the statement that it remains of, so that it ends if that one is restored.
"""

from __future__ import annotations

from dataclasses import replace

from mnemic.ports import Reads
from mnemic.types import REST_OF, Candidate, Kind, Memory, Outcome, Source, Status
from mnemic.types.identity import new_id
from mnemic.write.draft import Decision, Draft, VectorsMissing
from mnemic.write.fingerprint import fingerprint_of
from mnemic_language.changes.change_classifier import frame_of, framed, judge
from mnemic_language.changes.labelled_lists import labelled, rest_of_list
from mnemic_language.changes.statement_parts import rest
from mnemic_language.compare.counted_lists import recounted
from mnemic_language.ended_facts.denials import denies_item, has_denied
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.sentences.unresolved_references import is_broken_off

NEAR_ENOUGH = 0.5
"""Cosine assumed for a part, which has no vector: it belongs to a statement that was found near."""


async def with_rests(tx: Reads, draft: Draft, decision: Decision) -> Decision:
    """Return the decision with the remaining parts of the statements that it closes. Raises VectorsMissing if their
    vectors have not been requested; a part without one then takes the vector of the whole.
    """
    if decision.outcome is not Outcome.SUPERSEDED or decision.memory.content != draft.candidate.content:
        return decision  # a correction in a few words repeats the whole
    kept: dict[str, Memory] = {}
    for memory in decision.replaced:
        made = _rest_of(draft, memory)
        if made is not None and await tx.find_fingerprint(draft.scope, made.fingerprint) is None:
            kept.setdefault(made.fingerprint, made)
    if kept and draft.rest_vectors is None and draft.vector is not None:
        raise VectorsMissing([made.content for made in kept.values()])
    return replace(decision, kept=(*decision.kept, *kept.values())) if kept else decision


def _rest_of(draft: Draft, memory: Memory) -> Memory | None:
    """Return the remaining part of a closed statement; None for a value under a key and for an instruction. A proposer
    that names a statement replaces a part of it, without naming the part.
    """
    if memory.key is not None or memory.kind is not Kind.LONG_TERM or memory.status is not Status.SUPERSEDED:
        return None
    candidate = draft.candidate
    note = labelled(memory.content)
    if memory.category == "instruction" and note is None:
        return None
    new = framed(candidate.content, candidate.key, candidate.source.quote)
    ended = not new.cues.isdisjoint({"end", "weak_end"})
    named = memory.memory_id in candidate.replaces
    if note is not None:
        text = rest_of_list(*note, new)
    else:
        denied = denies_item(frame_of(memory), new)
        text = rest(memory.content, new, lambda part: _probability(part, new, denied), ended=ended, named=named)
    text = recounted(memory.content, text) if text else ""
    if not text or text == memory.content or is_broken_off(text):
        return None
    same = Candidate(content=text, source=memory.source)
    return draft.memory(
        new_id(draft.now),
        content=text,
        key=None,
        category=memory.category,
        context="",
        data={**memory.data, REST_OF: memory.memory_id},
        confidence=memory.confidence,
        trust=memory.trust,
        source=_source(memory.source),
        fingerprint=fingerprint_of(draft.secret, draft.scope, same),
        vector=(draft.rest_vectors or {}).get(text, memory.vector),
        agent=memory.agent,
        author=memory.author,
        occurred_at=memory.occurred_at,
        valid_from=draft.starts_at,
        valid_to=None,
        expires_at=memory.expires_at,
    )


def _probability(part: Frame, new: Frame, denied: bool) -> float:
    if denied:
        return float(has_denied(part, new))
    change = judge(part, new, NEAR_ENOUGH)
    return 0.0 if change is None else change.probability


def _source(source: Source) -> Source:
    """Return the source of a rest: its words are not in one piece in the message."""
    return replace(source, quote=None, span=None)
