"""Step 5: identical and nearly identical statements.

An identical memory is refreshed. A near-duplicate is merged only if the words agree that nothing contradicts. If one
statement contains every content word of the other, one new memory has the fuller text. If a judge labels two statements
the same although each contains facts that the other lacks, one new memory has both texts, verbatim, one below the
other. No text is ever composed, so that nothing can be lost or made up; originals are stored as superseded, and
`mnemic_maintenance.undo` reverses a merge. Merged texts are never merged again, so that no memory grows beyond two
statements.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from math import hypot
from typing import Any, NamedTuple

from mnemic.reason_codes import LOWER_TRUST, NEAR_DUPLICATE
from mnemic.types import Memory, Outcome, Status, Vector
from mnemic.write.draft import Decision, Draft, starts_at
from mnemic.write.fingerprint import fingerprint_of, normal_form
from mnemic.write.thresholds import WriteRules
from mnemic.write.write_job import rounded
from mnemic_language.changes import KEPT
from mnemic_language.compare.word_comparison import Statement, beyond

_LONGEST_JOINED = 1000
"""Maximum number of characters of a statement that is joined to another: a memory enters prompts as a whole."""

_WORTH_A_VERSION = timedelta(hours=1)
"""An expiry that moves by less (and by less than a hundredth of the time to live) makes no new version: a statement
that is heard again every minute must not fill the history.
"""


def refresh(known: Memory, draft: Draft, *, reason: str | None = None) -> Decision:
    """`known`, confirmed by the draft: the higher confidence and trust, the later expiry, the data of both.

    A refresh never lowers anything. It makes a new version only if something changes that a reader could see; the audit
    log records it in any case. Lower trust confirms without changing anything.
    """
    # A source of lower trust must not raise the confidence or lifetime of a better one's statement, or it could keep a
    # memory alive.
    changes = {} if draft.trust < known.trust else _gained(known, draft)
    memory = known.next_version(draft.now, **changes) if changes else known
    return Decision(outcome=Outcome.REFRESHED, memory=memory, reason=reason, changed=bool(changes))


def _gained(known: Memory, draft: Draft) -> dict[str, Any]:
    candidate = draft.candidate
    gained: dict[str, Any] = {}
    if candidate.confidence > known.confidence:
        gained["confidence"] = candidate.confidence
    if draft.trust > known.trust:
        # Together: trust is that of the channel, so it must never belong to another source than the one shown.
        gained |= {"trust": draft.trust, "source": candidate.source}
    end = _within(draft, known, draft.confirming(known.created_at) if _extends(known, draft) else known.expires_at)
    if end != known.expires_at:
        gained["expires_at"] = end
    data = {**known.data, **candidate.data}
    if data != dict(known.data):
        gained["data"] = data
    return gained


def _extends(known: Memory, draft: Draft) -> bool:
    if known.expires_at is None or not draft.slides:
        return False
    end = draft.confirming(known.created_at)
    # The rule of the kind has no end any more: the memory is stored without one.
    if end is None:
        return True
    gained = end - known.expires_at
    # The hundredth makes memories of an hour or less precise, for which `_WORTH_A_VERSION` would be their whole life.
    return gained > timedelta() and gained >= min(_WORTH_A_VERSION, (end - draft.now) / 100)


def _within(draft: Draft, known: Memory, end: datetime | None) -> datetime | None:
    """Return the end of `known`, restated by the draft: `end` within the policy in force. If that has passed, because
    the policy was not yet in force at the first statement, the restatement counts as the first one.
    """
    end = draft.keeping(replace(known, expires_at=end))
    return draft.expires_at if end is not None and end <= draft.now else end


class SimilarMemory(NamedTuple):
    """Live memory close to the draft, with its statement: a tuple, for a write has thirty of them."""

    memory: Memory
    cosine: float

    @property
    def statement(self) -> Statement:
        """Parsed content, cached by `stated`."""
        return stated(self.memory.content)


@lru_cache(maxsize=KEPT)
def stated(content: str) -> Statement:
    """Return the parsed statement of a content. The result is cached: a write needs its own in several steps, and meets
    those of the same memories again and again.
    """
    return Statement.of(content)


def merge(draft: Draft, near: Sequence[SimilarMemory], memory_id: str, kept_id: str) -> Decision | None:
    """Return one memory for the draft and its near-duplicates, or None if merging could lose or blur anything.

    If the draft has more content, it absorbs the statements it covers; if a known memory has more, that text stays and
    the draft is stored as superseded; if each adds something, both texts make one memory. Trust is never traded: a
    near-duplicate of higher trust is confirmed (`near_duplicate`), or, if the draft has more content, the draft waits
    for review (`lower_trust`).
    """
    least = draft.rules.merged_from
    alike = [one for one in near if one.cosine > least and _mergeable(one.memory, draft)]
    if not alike:
        return None
    said = stated(draft.candidate.content)
    covered = [one.memory for one in alike if _covered(said, one.statement, one.cosine, draft.rules)]
    fuller = [
        one.memory
        for one in alike
        if one.memory.trust >= draft.trust
        and (_holds(one.memory, draft) or _covered(one.statement, said, one.cosine, draft.rules))
    ]
    # The order matters: a better trusted text is only confirmed, never replaced, before any text is combined.
    if fuller and fuller[0].trust > draft.trust:
        return refresh(fuller[0], draft, reason=NEAR_DUPLICATE)
    higher = tuple(memory.memory_id for memory in covered if memory.trust > draft.trust)
    if higher:
        pending = draft.memory(memory_id, status=Status.PENDING_REVIEW, conflicts_with=higher)
        return Decision(outcome=Outcome.PENDING_REVIEW, memory=pending, reason=LOWER_TRUST)
    if covered:
        return _absorbed(draft, covered, draft.memory(memory_id))
    if fuller:
        return _kept(draft, fuller[0], memory_id, kept_id)
    # Lazily, and the first only: a merged text has two lines and is never merged again.
    joinable = (one.memory for one in alike if _joinable(one, draft))
    return next((_joined(draft, known, memory_id, kept_id) for known in joinable), None)


def same_claim(one: Statement, other: Statement, cosine: float, rules: WriteRules) -> bool:
    """Return True if two statements without a key that do not contradict each other are merged at this cosine."""
    return _covered(one, other, cosine, rules) or _covered(other, one, cosine, rules)


def _covered(full: Statement, part: Statement, cosine: float, rules: WriteRules) -> bool:
    """Return True if `full` has every content word of `part`: the same words above `nominate`, more as a
    near-duplicate.
    """
    more = beyond(full, part)
    return more is not None and cosine > (rules.near_duplicate if more else rules.nominate)


def _holds(known: Memory, draft: Draft) -> bool:
    """Return True if `known` was joined, and the draft is one of the two again."""
    lines = known.content.splitlines()
    return len(lines) > 1 and normal_form(draft.candidate.content) in map(normal_form, lines)


def _joinable(one: SimilarMemory, draft: Draft) -> bool:
    """Return True if a judge was asked and permits the merge: without one, different statements stay separate."""
    known, candidate = one.memory, draft.candidate
    return (
        draft.verdicts is not None
        and candidate.key is None
        and known.trust == draft.trust
        and one.cosine > draft.rules.nominate
        and not any("\n" in text or len(text) > _LONGEST_JOINED for text in (known.content, candidate.content))
    )


def _mergeable(memory: Memory, draft: Draft) -> bool:
    """Return True for the same category and speaker, no field of data and no bound of their time in which the two
    differ; and a judge that was asked calls them the same.
    """
    candidate, data = draft.candidate, draft.candidate.data
    bounds = ((memory.valid_from, candidate.valid_from), (memory.valid_to, candidate.valid_to))
    return (
        (draft.verdicts is None or draft.verdicts.get(memory.memory_id) == "same")
        and memory.category == candidate.category
        and memory.source.speaker == candidate.source.speaker
        and all(one == other for one, other in bounds if one is not None and other is not None)
        and all(memory.data[name] == data[name] for name in memory.data.keys() & data.keys())
    )


def _absorbed(draft: Draft, old: Sequence[Memory], new: Memory) -> Decision:
    return _merged(draft, old, new, supersedes=tuple(memory.memory_id for memory in old))


def _kept(draft: Draft, fuller: Memory, memory_id: str, kept_id: str) -> Decision:
    """Return the decision for a fuller known text: it continues in the merged memory, and the draft's words are stored
    as superseded, so that nothing is lost.
    """
    original = draft.memory(kept_id, status=Status.SUPERSEDED, valid_to=draft.candidate.valid_to or draft.now)
    says = (
        "content",
        "context",
        "category",
        "source",
        "fingerprint",
        "vector",
        "occurred_at",
        "valid_from",
        "valid_to",
    )
    # A new memory rather than a version of the known one: an undo can then restore both originals.
    new = draft.memory(memory_id, **{name: getattr(fuller, name) for name in says})
    return _merged(draft, [fuller], new, supersedes=(fuller.memory_id, kept_id), kept=(original,))


def _joined(draft: Draft, known: Memory, memory_id: str, kept_id: str) -> Decision:
    """Return the decision for one memory with both texts, found by the words of both and by a vector between theirs."""
    original = draft.memory(kept_id, status=Status.SUPERSEDED, valid_to=draft.candidate.valid_to or draft.now)
    content = f"{known.content}\n{draft.candidate.content}"
    candidate = replace(draft.candidate, content=content)
    assert known.vector is not None
    assert draft.vector is not None
    new = draft.memory(
        memory_id,
        content=content,
        context="\n".join(filter(None, dict.fromkeys((known.context, candidate.context)))),
        fingerprint=fingerprint_of(draft.secret, draft.scope, candidate),
        vector=_between(known.vector, draft.vector),
    )
    return _merged(draft, [known], new, supersedes=(known.memory_id, kept_id), kept=(original,))


def _between(one: Vector, other: Vector) -> Vector:
    """Return the unit vector halfway between two that are near each other."""
    # Plain Python: merges are rare, and this module is loaded by every add, which numpy would slow down.
    total = [mine + theirs for mine, theirs in zip(array("f", one), array("f", other), strict=True)]
    length = hypot(*total)
    return rounded([array("f", (value / length for value in total)).tobytes()])[0]


def _merged(
    draft: Draft, old: Sequence[Memory], new: Memory, *, supersedes: tuple[str, ...], kept: tuple[Memory, ...] = ()
) -> Decision:
    everything = [*old, draft.memory(new.memory_id)]
    starts = [memory.valid_from for memory in everything if memory.valid_from is not None]
    data: dict[str, Any] = {}
    # Later data win: known memories first, then the draft.
    for memory in everything:
        data |= memory.data
    merged = draft.memory(
        new.memory_id,
        **{name: getattr(new, name) for name in ("content", "context", "category", "source", "fingerprint", "vector")},
        occurred_at=new.occurred_at,
        valid_from=min(starts) if starts else None,
        valid_to=new.valid_to,
        confidence=max(memory.confidence for memory in everything),
        expires_at=_end(draft, old),
        data=data,
        supersedes=supersedes,
    )
    return Decision(
        outcome=Outcome.MERGED,
        memory=merged,
        replaced=tuple(closed(memory, draft.now, starts_at(merged)) for memory in old),
        kept=kept,
    )


def closed(memory: Memory, now: datetime, ended_at: datetime) -> Memory:
    """Return `memory` superseded: it was true until `ended_at`, or until its own earlier end, never before it began."""
    return memory.next_version(now, **superseded_fields(memory, ended_at))


def superseded_fields(memory: Memory, ended_at: datetime) -> dict[str, Any]:
    """Return the changes in `memory` when another takes its place at `ended_at`."""
    # A replacement may begin before the memory does: "I moved last week", two days after the old address was stated.
    ended_at = max(ended_at, starts_at(memory))
    # Something that had ended already did not last until its replacement.
    ended_at = min(ended_at, memory.valid_to) if memory.valid_to is not None else ended_at
    return {"status": Status.SUPERSEDED, "valid_to": ended_at}


def _end(draft: Draft, old: Sequence[Memory]) -> datetime | None:
    """Return the latest expiry of the merged memories and, if the lifetime is sliding, of the draft, counted from the
    oldest memory and bounded by policy.
    """
    # The oldest: merging a statement with itself again and again must not extend its longest lifetime.
    oldest = min(old, key=lambda memory: memory.created_at)
    again = [draft.confirming(oldest.created_at)] if draft.slides else []
    return _within(draft, oldest, _latest([*(memory.expires_at for memory in old), *again]))


def _latest(moments: Sequence[datetime | None]) -> datetime | None:
    """Return the latest; None is never, which is later than any."""
    return (
        None if any(moment is None for moment in moments) else max(moment for moment in moments if moment is not None)
    )
