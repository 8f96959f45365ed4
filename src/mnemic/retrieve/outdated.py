"""Of two statements that disagree, the later one first.

Messages are kept as they were said, so what was said in March stays found after it was taken back in May; and
statements may live side by side that nobody compared. Among the best of a search, what a later statement of the same
person takes the place of is put after it, and says so: the later one gets the place before the earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from mnemic.compare.change import LEAST_COSINE, frame_of, judge
from mnemic.retrieve.bias import STANDING
from mnemic.retrieve.diversity import Entry
from mnemic.types import Kind, Memory

COMPARED = 24
"""How many of the best are compared with each other."""
FEWER = 4
"""Of what a question found, so many count as one of what a statement is near: nothing is closed by their order."""
_KINDS = frozenset({Kind.LONG_TERM, Kind.EPISODIC})
_STEP = 1e-6


def outdated(memories: Sequence[Memory]) -> dict[str, str]:
    """For each of the memories that a later one takes the place of, the memory_id of that: of several the latest."""
    told = sorted((one for one in memories if one.kind in _KINDS and one.vector is not None), key=_moment)
    if len(told) < 2 or len({len(one.vector or b"") for one in told}) > 1:
        return {}
    vectors = np.array([np.frombuffer(one.vector or b"", dtype=np.float32) for one in told])
    cosines = vectors @ vectors.T
    found: dict[str, str] = {}
    for later in range(1, len(told)):
        for earlier in range(later):
            cosine = float(cosines[earlier, later])
            if cosine < LEAST_COSINE or not _comparable(told[earlier], told[later]):
                continue
            if judge(frame_of(told[earlier]), frame_of(told[later]), cosine, among=len(told) // FEWER + 1) is not None:
                found[told[earlier].memory_id] = told[later].memory_id
    return found


def latest_first(entries: Sequence[Entry], memories: Mapping[str, Memory]) -> tuple[list[Entry], dict[str, str]]:
    """`entries`, best first, with what is outdated after what took its place, and what is outdated by what."""
    compared = [memories[one] for one, _, reason in entries[:COMPARED] if reason != STANDING and one in memories]
    found = outdated(compared)
    if not found:
        return list(entries), found
    scores = {memory_id: score for memory_id, score, _ in entries}
    for one in sorted(compared, key=_moment):
        later = found.get(one.memory_id)
        if later is not None and scores[later] <= scores[one.memory_id]:
            scores[later] = scores[one.memory_id] + _STEP
    changed = [(memory_id, scores[memory_id], reason) for memory_id, _, reason in entries]
    return sorted(changed, key=lambda entry: (entry[2] == STANDING, entry[1]), reverse=True), found


def _comparable(earlier: Memory, later: Memory) -> bool:
    """Whether the one may take the place of the other: the same person said both, with as much trust, at two times."""
    return (
        _moment(earlier) < _moment(later)
        and earlier.scope == later.scope
        and earlier.author == later.author
        and later.trust >= earlier.trust
        and _speaker(later) != "assistant"
        and _speaker(earlier) in (_speaker(later), "assistant")
    )


def _speaker(memory: Memory) -> str:
    return memory.source.speaker or "user"


def _moment(memory: Memory) -> tuple[datetime, str]:
    return memory.happened_at, memory.memory_id
