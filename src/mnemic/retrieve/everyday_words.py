"""Relevance of statements to questions in other languages than English: by the subjects of their words.

The default model places all texts of another language close to each other, regardless of meaning: by cosines and shared
words alone, a search in a small scope cannot separate questions that nothing answers from others. A table of everyday
words (`mnemic.language.questions.word_fields`) adds which words of the question a statement meets in other words, and
which it does not meet although both are known. The weights are in `relevance.json`; `training/relevance/everyday.py`
fits them to the `dev` half of sentences made for this project.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import exp, log
from pkgutil import get_data

from mnemic.language.questions.word_fields import asked_in, evidence
from mnemic.retrieve.past_questions import asks_past
from mnemic.retrieve.question import Question
from mnemic.retrieve.signals import ScoreShift
from mnemic.types import Memory, Scored

MEANT = "meant"
"""Name of the move of statements with words about the same things as the question's, among the ranks."""
NAMES = ("same", "related", "other", "unknown", "whole", "length", "cosine", "base")
"""Features of a statement, in the order of the weights: see `features`."""
MOST = 3
"""Words of each kind that count."""
READ = 40
"""Statements of a scope that are read for a question in another language, the best by the other lists."""
RAISE = 2.0
"""Raise of the fused score of an almost certainly relevant statement."""
MIN_ODDS, MAX_ODDS = -7.0, 2.0
"""Natural logarithms of the odds below which nothing is raised, and above which nothing more."""


@dataclass(frozen=True, slots=True)
class EverydayWords:
    """Relevance of the statements that were read, and those that meet a word of the question in other words."""

    relevances: Mapping[str, float] = field(default_factory=dict)
    related: frozenset[str] = frozenset()

    @classmethod
    def judge(
        cls, question: Question, statements: Mapping[str, Memory], nearest: Sequence[Scored], model: str
    ) -> EverydayWords:
        """Judge `statements`; nothing where the language of the question is not in the table, `model` has no weights,
        or the question is about a time. `nearest`: cosines as read for that language.
        """
        language, weights = asked_in(question.text), _weights().get(model)
        if language is None or weights is None or _asks_for_a_time(question):
            return NOTHING_READ
        cosines = dict(nearest)
        rows = {
            one: features(question.text, _text(memory), language, cosines.get(one, 0.0), memory.key)
            for one, memory in statements.items()
        }
        found = {one: _relevance(weights, row) for one, row in rows.items()}
        return cls(found, frozenset(one for one, row in rows.items() if row[1] > 0))

    def omit(self, apart: Collection[str]) -> EverydayWords:
        """Return this judgement without memories that do not answer."""
        if not self.relevances:
            return self
        return replace(self, relevances={one: share for one, share in self.relevances.items() if one not in apart})

    def raise_scores(self, scores: Mapping[str, float]) -> Mapping[str, float]:
        """Return `scores`, raised by the relevance."""
        if not self.relevances:
            return scores
        return {
            one: score + _raise(self.relevances[one]) if one in self.relevances else score
            for one, score in scores.items()
        }

    def moves(self, before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, ScoreShift]:
        """Return the scores before and after of those that meet a word in other words."""
        if not self.related:
            return {}
        return {
            MEANT: ScoreShift(
                *({one: scores[one] for one in self.related if one in before} for scores in (before, after))
            )
        }


NOTHING_READ = EverydayWords()


def _text(memory: Memory) -> str:
    """Return the text of a memory; a value under a key means little without the words that it was captured from."""
    quote = memory.source.quote
    return memory.content if memory.key is None or not quote else f"{memory.content} {quote}"


def features(question: str, statement: str, language: str, cosine: float, key: str | None = None) -> tuple[float, ...]:
    """Return the features of a statement: words of the question that it has (`same`), that it has in other words
    (`related`), that are about other things than its own (`other`) and that the table does not know (`unknown`);
    whether it meets all of them (`whole`); the logarithm of its length if it meets one (`length`); `cosine`; and 1.
    """
    found = evidence(question, statement, language, key)
    met = found.same + found.related > 0
    whole = float(met and not found.other and not found.unknown)
    return (*(float(min(MOST, count)) for count in found[:4]), whole, found.length * met, cosine, 1.0)


def _asks_for_a_time(question: Question) -> bool:
    """Return True for a question about what happened, or was true, at a time: its date decides, not its words."""
    return question.period is not None or question.names_date is not None or asks_past(question)


def _raise(relevance: float) -> float:
    """Return the raise for a relevance, by its odds: a scope may have nothing better than 0.1."""
    odds = log(max(relevance, 1e-4) / max(1 - relevance, 1e-4))
    return RAISE * min(1.0, max(0.0, (odds - MIN_ODDS) / (MAX_ODDS - MIN_ODDS)))


def _relevance(weights: Sequence[float], row: Sequence[float]) -> float:
    return round(1 / (1 + exp(-sum(one * two for one, two in zip(weights, row, strict=True)))), 4)


@cache
def _weights() -> Mapping[str, tuple[float, ...]]:
    """Return a weight for each of `NAMES`, by the scale on which the cosines are read."""
    read = json.loads(get_data("mnemic.retrieve", "relevance.json") or b"{}")
    return {model: tuple(weights[name] for name in NAMES) for model, weights in read["everyday"].items()}
