"""Judgement on whether anything about the query is known at all: "nothing" is an answer, and a search always has a
nearest.

A query that names a thing and a relation of it, both of which are known, asks for what is known, in whatever words it
was told. Else two signs say it, each from a list that is made anyway: the best cosine, and the best BM25 score for each
word of the query. A logistic scale makes a number from 0 to 1 of them. It was fitted on the dev halves of LoCoMo and
BEAM: questions about a conversation against questions about another one, both asked of it. How well that goes on the
test halves, and what it cannot tell, is in docs/benchmarks/retrieval.md. A statement is judged by the same scale, a
message of a conversation by `mnemic.retrieve.message_relevance`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from types import MappingProxyType

from mnemic.retrieve.fusion import rarity
from mnemic.retrieve.graph_neighbourhood import GRAPH, SAID
from mnemic.retrieve.key_questions import asked_keys
from mnemic.retrieve.message_relevance import MESSAGE_SCALE
from mnemic.retrieve.question import Question
from mnemic.text.language import in_latin_letters
from mnemic.types import Scored, Signals, VectorSpace

NOTHING: Mapping[str, float] = MappingProxyType({})
NO_SIGNALS: Mapping[str, Signals] = MappingProxyType({})

RELATED = 0.5
"""Least relevance where the query names a known relation: more likely than not."""

LEAST_MEMORIES = 30
"""Below so many a word says less (BM25 counts how rare it is), and the best cosine of what is not meant is lower:
scores are read as if there were so many, and by `FEW`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Worth of a point of cosine, and of a point of BM25 for each word."""

    cosine: float = 0.0
    word: float
    base: float

    def relevance(self, cosine: float, word: float) -> float:
        """0 to 1."""
        return 1 / (1 + math.exp(-(self.cosine * cosine + self.word * word + self.base)))


DEFAULT_MODEL = "all-MiniLM-L6-v2-int8"
NO_MODEL = ""
"""Instead of the default model where a query is in letters that it does not know: its cosines tell nothing there."""
ANOTHER_MODEL = "*"
"""Every model whose cosines are read on the default scale and against the background of the scope."""
SCALES: Mapping[str, Scale] = MappingProxyType(
    {
        DEFAULT_MODEL: Scale(cosine=16.5, word=2.83, base=-9.4),
        ANOTHER_MODEL: Scale(cosine=16.5, word=2.83, base=-7.0),
        NO_MODEL: Scale(word=4.63, base=-2.7),
    }
)
"""By the model that makes the vectors: cosines of two models cannot be compared."""
FEW: Mapping[str, Scale] = MappingProxyType(
    {
        DEFAULT_MODEL: Scale(cosine=16.5, word=2.83, base=-7.6),
        ANOTHER_MODEL: Scale(cosine=16.5, word=2.83, base=-6.2),
        NO_MODEL: Scale(word=4.63, base=-1.6),
    }
)
"""The same among few memories; nothing is said there of the scores of other models."""
WORDS_ALONE = Scale(word=4.63, base=-3.31)
"""For every other model."""


def measured_with(space: VectorSpace, question: Question) -> str:
    """Return the name of the model on whose scale the cosines of `space` are read: the default one, its own,
    `ANOTHER_MODEL` or `NO_MODEL`.
    """
    if space.model == DEFAULT_MODEL and not in_latin_letters(question.text):
        return NO_MODEL
    return ANOTHER_MODEL if space.scale else space.model


@dataclass(frozen=True, slots=True)
class Gauge:
    """The scale of one search: by the model of the vectors, the number of memories and the words of the query."""

    scale: Scale
    per_word: float

    @classmethod
    def of(cls, lists: Mapping[str, Sequence[Scored]], question: Question, model: str) -> Gauge | None:
        """None where nothing can be told: without a query or a memory, among few memories of a model that is not known,
        and where a list failed.
        """
        nearest = lists.get("vector")
        if not nearest or lists.get("keyword") is None:
            return None
        few = len(nearest) < LEAST_MEMORIES
        scale = FEW.get(model) if few else SCALES.get(model, WORDS_ALONE)
        if scale is None:
            return None
        words = max(1, question.words)
        return cls(scale, (rarity(LEAST_MEMORIES) / rarity(len(nearest)) if few else 1.0) / words)

    def relevance(self, cosine: float, score: float) -> float:
        """0 to 1, of a cosine and a BM25 score."""
        return round(self.scale.relevance(cosine, score * self.per_word), 4)

    def relevances(self, lists: Mapping[str, Sequence[Scored]], among: Iterable[str]) -> dict[str, float]:
        """Return the probability that each of the memories, which are statements, is about the query."""
        cosines, scores = (dict(lists.get(name, ())) for name in ("vector", "keyword"))
        return {one: self.relevance(cosines.get(one, 0.0), scores.get(one, 0.0)) for one in among}


def relevances(
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    question: Question,
    model: str,
    best: int | None = None,
) -> dict[str, float]:
    """Return the probability that each memory of `scores` (the ranking, 0 to 1) is about the query; none where that
    cannot be told (`Gauge`). At least `RELATED` where the query spells its key, or the graph says that it tells what is
    asked. `signals`: of the messages among them, which have a scale of their own; `best`: only so many of the best
    messages are judged.
    """
    gauge = Gauge.of(lists, question, model)
    if gauge is None:
        return {}
    found = gauge.relevances(lists, [one for one in scores if one not in signals])
    if signals:
        likened = DEFAULT_MODEL if model == ANOTHER_MODEL else model
        among = None if best is None else nlargest(best, signals, key=scores.__getitem__)
        by_messages = MESSAGE_SCALE.relevances(
            lists, scores, signals, question, per_word=gauge.per_word, model=likened, among=among
        )
        found |= by_messages
    said = {entry.memory_id for entry in lists.get("key", ())}
    said |= {entry.memory_id for entry in lists.get(GRAPH, ()) if entry.score >= SAID}
    return found | {one: max(found[one], RELATED) for one in said & found.keys()}


def relevance(
    lists: Mapping[str, Sequence[Scored]],
    question: Question,
    model: str,
    scores: Mapping[str, float] = NOTHING,
    signals: Mapping[str, Signals] = NO_SIGNALS,
) -> float | None:
    """Return the probability (0 to 1) that anything about the query is known; None if that cannot be told (`Gauge`).
    `scores` and `signals` of the messages found say whether it is of the person that the query asks about.
    """
    gauge = Gauge.of(lists, question, model)
    if gauge is None:
        return None
    best = max((entry.score for entry in lists["keyword"]), default=0.0)
    known = gauge.relevance(max(entry.score for entry in lists["vector"]), best)
    if signals:
        known = round(known * MESSAGE_SCALE.agreement(scores, signals, question), 4)
    related = max((entry.score for entry in lists.get(GRAPH, ())), default=0.0) >= SAID
    related = related or bool(lists.get("key") and asked_keys(question.text))
    return max(known, RELATED) if related else known
