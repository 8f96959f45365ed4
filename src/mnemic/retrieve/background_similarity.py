"""Cosines calibrated against the background of a scope: the similarity of a query to memories that do not answer it.

A multilingual model places texts of one language close to each other regardless of meaning, and a question in another
language far from all of them; other models show the same effect for subjects. Relative to the scope's own background, a
conspicuous cosine means the same in each case. Models with a scale (`VectorSpace.scale`) are calibrated so. The default
model, whose thresholds were measured on its raw cosines of English texts, is for questions in other languages alone, as
it places their texts as close to each other.
"""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.types import Scored

SAMPLE = 100
"""Number of memories that determine the background of a larger scope: the newest, for every query."""
APART = 0.07
"""Cosine of unrelated texts in the default model."""
APART_UNKNOWN = 0.12
"""The same in a language that the default model hardly knows: there it separates related from unrelated texts less
well, and a lost answer is worse than a needless one.
"""
APART_IN_OTHERS = 0.3
"""Raw cosine of the default model that the background of a small scope in another language is drawn towards. Unrelated
questions and statements have 0.40 (Portuguese) to 0.47 (Dutch) there (`training/relevance/everyday.txt`). It is lower,
because the best of few is less by chance than the best of many: of 0.07, 0.3 and 0.43 the one with which scopes of 5
and of 30 abstain about as often.
"""
UNRELATED_IN_OTHERS = 0.43
"""Raw cosine of the default model between unrelated texts in another language, the mean over languages."""
DOUBT = 10
"""Number of memories of the usual cosine added to those of the scope: the mean of a few is unreliable."""
_LIKELY_APART = 0.75
"""Share of the memories, the least similar ones, that are taken as not answering the query."""


def background_of(cosines: Sequence[float], usual: float = APART) -> float:
    """Return the mean cosine of the memories that do not answer a query, from those of the whole scope; `usual` is that
    of other scopes.
    """
    apart = sorted(cosines)[: int(len(cosines) * _LIKELY_APART)]
    return (sum(apart) + DOUBT * usual) / (len(apart) + DOUBT)


def above_background(found: Sequence[Scored], background: float, apart: float = APART) -> list[Scored]:
    """Return `found` with cosines rescaled so that the background is at `apart` and an identical text at 1."""
    if background >= 1:
        return list(found)
    return [Scored(one.memory_id, rescale(one.score, background, apart)) for one in found]


def rescale(cosine: float, background: float, apart: float = APART) -> float:
    """Return a cosine on the scale on which the background, less than 1, is at `apart` and an identical text at 1."""
    return 1 - (1 - cosine) * (1 - apart) / (1 - background)
