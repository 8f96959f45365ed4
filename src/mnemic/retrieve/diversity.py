"""Hits from many sources: at most so many of one conversation before the others had theirs.

Off by default: it takes more than it gives (docs/benchmarks/retrieval.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mnemic.types import Signals

Entry = tuple[str, float, str]
"""A memory with its score and the reason why it is there."""


def spread(entries: Sequence[Entry], signals: Mapping[str, Signals], most: int | None) -> list[Entry]:
    """`entries` (best first) with those beyond the first `most` of their session behind all others; None changes
    nothing. Memories that are no messages of a session stay where they are.
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
