"""Cosines read against the background of a scope: the likeness of a query to memories that do not answer it.

A multilingual model puts texts of one language close to each other whatever they say, and a question in another
language far from all of them; other models have no such languages, but subjects. Against the scope's own background
what stands out of it means the same in each. Only models whose cosines are read on another scale than their own
(`VectorSpace.scale`) are read so: thresholds of the default model were measured on its cosines as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.types import Scored

SAMPLE = 100
"""Memories that give the background of a scope that has more: the newest, whatever was asked."""
APART = 0.07
"""Cosine of the default model of what does not belong together."""
DOUBT = 10
"""As many memories of `APART` are counted beside those that are there: of a few the mean says little."""
_LIKELY_APART = 0.75
"""Share of the memories, the least alike, that is taken for what does not answer."""


def background_of(cosines: Sequence[float]) -> float:
    """Return the mean cosine of what does not answer, of the cosines of a query with the memories of a scope."""
    apart = sorted(cosines)[: int(len(cosines) * _LIKELY_APART)]
    return (sum(apart) + DOUBT * APART) / (len(apart) + DOUBT)


def standing_out(found: Sequence[Scored], background: float) -> list[Scored]:
    """Return `found` with cosines on a line that has the background at `APART`, and the same text at 1."""
    if background >= 1:
        return list(found)
    steep = (1 - APART) / (1 - background)
    return [Scored(one.memory_id, 1 - (1 - one.score) * steep) for one in found]
