"""Diverse hits: each statement once, and if asked for, at most so many of one conversation at first.

The second is off by default: it takes more than it gives (docs/benchmarks/retrieval.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mnemic.types import Kind, Memory, Signals
from mnemic_language.compare.vocabulary import plain

Entry = tuple[str, float, str]
"""A memory with its score and the reason why it is there."""


def spread(entries: Sequence[Entry], signals: Mapping[str, Signals], most: int | None) -> list[Entry]:
    """Return `entries` (best first) with those beyond the first `most` of their session moved to the end; None changes
    nothing. Memories that are not messages of a session keep their places.
    """
    if most is None:
        return list(entries)
    seen: Counter[str] = Counter()
    first: list[Entry] = []
    later: list[Entry] = []
    for entry in entries:
        one = signals.get(entry[0])
        if one is None or one.turn < 0 or one.session is None:
            first.append(entry)
            continue
        seen[one.session] += 1
        (first if seen[one.session] <= most else later).append(entry)
    return [*first, *later]


def repetitions(entries: Sequence[Entry], memories: Mapping[str, Memory]) -> Mapping[str, str]:
    """Return the recorded messages among `entries` that say no more than a memory made of them, each with that one."""
    known = [memories[one] for one, _, _ in entries if one in memories]
    made = {_said(one): one.memory_id for one in known if one.kind is Kind.LONG_TERM and one.source.session is not None}
    if not made:
        return {}
    return {one.memory_id: made[_said(one)] for one in known if one.kind is Kind.EPISODIC and _said(one) in made}


def once(entries: Sequence[Entry], repeated: Mapping[str, str]) -> list[Entry]:
    """`entries` (best first) without those `repeated` by another memory, which has the better place of the two."""
    if not repeated:
        return list(entries)
    own = {memory_id: (memory_id, score, reason) for memory_id, score, reason in entries}
    found: dict[str, Entry] = {}
    for memory_id, score, _ in entries:
        shown = repeated.get(memory_id, memory_id)
        found.setdefault(shown, (shown, max(score, own[shown][1]), own[shown][2]))
    return list(found.values())


def _said(memory: Memory) -> tuple[str, str | None, str]:
    """Return the speaker of each message in each session."""
    source = memory.source
    return source.speaker or "user", source.session, plain(memory.content).strip(" .,;:!?")
