"""Limits of a recall, and measures of nearness: the scale of cosines, default counts and tokens."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from mnemic.types.json_forms import Serialisable
from mnemic.types.search import MIN_RELEVANCE, Hit, Intent, SearchResult

DEFAULT_MAX_ENTRIES = 5
DEFAULT_PROFILE_TOKENS = 400
"""Tokens of a user's profile."""
DEFAULT_MAX_TOKENS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace(Serialisable):
    """The model that made the vectors and the number of their dimensions. Vectors of two spaces are never compared.
    `scale`: see `read`; the embedder supplies it, no store has it.
    """

    model: str
    dimension: int
    scale: tuple[tuple[float, float], ...] = field(default=(), compare=False, repr=False)


class Usage(NamedTuple):
    """Usage: memories, their bytes without vectors, and recently created memories."""

    rows: int = 0
    bytes: int = 0
    recent: int = 0


def read(space: VectorSpace, cosine: float) -> float:
    """Return the cosine of the default model that means as much as `cosine` does in `space`."""
    return _on(space.scale, cosine) if space.scale else cosine


def cosine_in_space(space: VectorSpace, cosine: float) -> float:
    """Return the cosine in `space` that `read` turns into `cosine`."""
    return _on([(after, before) for before, after in space.scale], cosine) if space.scale else cosine


def _on(points: Sequence[tuple[float, float]], cosine: float) -> float:
    at = min(max(bisect_right(points, cosine, key=lambda point: point[0]), 1), len(points) - 1)
    (low, from_), (high, to) = points[at - 1], points[at]
    return from_ + (to - from_) * (cosine - low) / (high - low)


MAX_QUESTION_CHARS = 2_000
"""Characters of a request that are searched by; the rest of a longer one is not read."""
DEFAULT_PINNED_SHARE = 0.4
DEFAULT_MIN_RELEVANCE = MIN_RELEVANCE
"""Default of `least_relevance`: the threshold at which a search itself abstains."""
DEFAULT_MIN_SIMILARITY = 0.2
"""Cosine below which a memory that shares no word with the query is not about it. Two unrelated sentences have about
0.0 to 0.15 with the default embedder, paraphrases 0.5 and more."""


def shorten_question(question: str) -> str:
    """Return the part of a request that is searched by, the same on every path."""
    # A pasted document is no question: embedding all of it costs time, and its vector is about nothing in particular.
    return question.strip()[:MAX_QUESTION_CHARS]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """Question that a model is about to be asked, and the amount of memory that it may be shown.

    `intent` has the query; its `top_k` counts relevant memories. Pinned memories and preferences precede these and do
    not count, up to `pinned_share` (0 to 1) of `max_tokens`. `asked` is the request itself, if the query of `intent`
    has other words. At most `max_untrusted` memories come from tools, the web or models (None: no limit).
    `least_relevance`: if the search probably knows nothing about the query, only pinned memories are shown (0: never
    abstain). `asked_at` is the time by which words such as `last week` are read (None: now). `min_score` of `intent`
    applies to everything that policy does not pin. `profile_tokens`: so much of the user's profile comes before all
    else, in addition to these shares (0: its lines compete like other memories).
    """

    intent: Intent
    asked: str | None = field(default=None, repr=False)
    max_tokens: int = DEFAULT_MAX_TOKENS
    max_untrusted: int | None = 1
    pinned_share: float = DEFAULT_PINNED_SHARE
    least_relevance: float = DEFAULT_MIN_RELEVANCE
    min_similarity: float = DEFAULT_MIN_SIMILARITY
    preference_bias: bool = False
    asked_at: datetime | None = None
    profile_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """Memories to show: pinned ones and preferences first, then the relevant ones, best first.

    `cut` are those left out for lack of tokens. `found` is the underlying search. `abstained`: it found only memories
    that are probably not about the query, which are left out.
    """

    hits: tuple[Hit, ...]
    found: SearchResult
    cut: tuple[Hit, ...] = ()
    abstained: bool = False

    @property
    def errors(self) -> Mapping[str, str]:
        """The lists of the search that failed: `name: reason`."""
        return self.found.errors

    @property
    def relevance(self) -> float | None:
        """Probability (0..1) that anything about the query is known."""
        return self.found.relevance


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock:
    """A block of memories for one model call, and the `hits` in it. `reason`: why there is none, or what failed
    although there is one; `digest` identifies the text in the audit log.
    """

    text: str = field(default="", repr=False)
    hits: tuple[Hit, ...] = ()
    reason: str | None = None
    degraded: bool = False
    abstained: bool = False
    digest: str | None = None

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """The memories in the block, in their order."""
        return tuple(hit.memory.memory_id for hit in self.hits)
