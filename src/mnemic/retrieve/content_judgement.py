"""Judgement of the best memories by their texts, which are read once for the result: their contents about the question
move them up or down and decide how relevant they are. The lists rank by words and vectors alone.

"Where do I work?", recorded in a chat, is the nearest memory when the same is asked again, and answers nothing.

In other languages than English the default model places all texts close to each other, regardless of meaning: by
cosines and shared words alone, a search in a small scope cannot separate questions that nothing answers from others. A
table of everyday words (`mnemic.language.questions.word_fields`) adds which words of the question a statement meets in
other words, and which not at all. The weights are in `relevance.json`; `training/relevance/everyday.py` fits them to
the `dev` half of sentences made for this project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import exp, log
from pkgutil import get_data

from mnemic.language.questions.asks_only import asks_only
from mnemic.language.questions.word_fields import asked_in, evidence, is_in_english
from mnemic.language.text.language import is_foreign
from mnemic.retrieve.asked_attributes import ASKED, AttributeAnswers
from mnemic.retrieve.message_relevance import best_first
from mnemic.retrieve.question import ROLES, Question
from mnemic.retrieve.relevance import ANOTHER_MODEL, NOT_READ, ReadAnswers, relevance, relevances
from mnemic.retrieve.signals import ScoreShift
from mnemic.retrieve.time_questions import asks_past
from mnemic.types import Memory, Scored, Signals
from mnemic.types.search import MESSAGE_CATEGORY

QUESTION = "question"
"""Rank name of the move of recorded questions."""
OWN = frozenset({None, "", *ROLES})
"""Speakers of messages of a talk with the user; others have names of their own."""
_OF_QUESTIONS = re.compile(
    r"\b(?:ask|asks|asked|asking|questions?|frag\w+|gefragt|demand\w+|pregunt\w+|domand\w+)\b", re.IGNORECASE
)
"""Matches a question for an earlier question."""


def recorded_questions(question: str, memories: Mapping[str, Memory]) -> frozenset[str]:
    """Return the recorded messages that only ask; none if `question` is about an earlier question."""
    if asks_for_questions(question):
        return frozenset()
    return frozenset(one for one, memory in memories.items() if is_question(memory))


def asks_for_questions(question: str) -> bool:
    """Return True for a question for what was asked before."""
    return _OF_QUESTIONS.search(question) is not None


def is_question(memory: Memory) -> bool:
    """Return True if it is a recorded message that only asks. Between people who write to each other, a question also
    informs the other.
    """
    return memory.category == MESSAGE_CATEGORY and memory.source.speaker in OWN and asks_only(memory.content)


def without_value(values: Mapping[str, float], among: Collection[str]) -> Mapping[str, float]:
    """Return `values` with those of `among` at zero."""
    return {one: 0.0 if one in among else value for one, value in values.items()} if among else values


def without_score(lists: Mapping[str, Sequence[Scored]], among: Collection[str]) -> Mapping[str, Sequence[Scored]]:
    """Return `lists` with the scores of `among` at zero, so that they do not count as knowledge."""
    if not among:
        return lists
    return {
        name: [Scored(one.memory_id, 0.0) if one.memory_id in among else one for one in entries]
        for name, entries in lists.items()
    }


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


@dataclass(frozen=True, slots=True)
class ContentJudgement:
    """Memories that answer (`asked`), recorded questions (`asking`), and statements judged by their words.
    `plain_chat`: another model than the default one is asked in English of a chat in English. `answers`: what a judge
    has read of the first memories.
    """

    question: Question
    model: str
    asked: AttributeAnswers
    asking: frozenset[str]
    words: EverydayWords
    plain_chat: bool = False
    answers: ReadAnswers = NOT_READ

    @classmethod
    def judge(
        cls,
        question: Question,
        memories: Mapping[str, Memory],
        asked: AttributeAnswers,
        *,
        nearest: Sequence[Scored],
        messages: Mapping[str, Signals],
        model: str,
    ) -> ContentJudgement:
        """Judge `memories`, of which `messages` are messages of a conversation; `nearest`: the list of meaning."""
        statements = {one: memory for one, memory in memories.items() if one not in messages}
        words = EverydayWords.judge(question, statements, nearest, model)
        plain = model == ANOTHER_MODEL and _is_plain(question, [memories[one] for one in messages if one in memories])
        return cls(question, model, asked, recorded_questions(question.text, memories), words, plain)

    def apply_moves(self, scores: Mapping[str, float]) -> tuple[Mapping[str, float], dict[str, ScoreShift]]:
        """Return `scores` after all moves, and the scores before and after each, by its name."""
        after = without_value(scores, self.asking)
        worded = self.words.omit(self.asking).raise_scores(after)
        moves = self.words.moves(after, worded)
        if self.asking:
            asking = (one for one in self.asking if one in scores)
            before = {one: scores[one] for one in asking}
            moves |= {QUESTION: ScoreShift(before, dict.fromkeys(before, 0.0))}
        raised = self.asked.raise_answers(worded)
        return raised, moves | {ASKED: ScoreShift(worded, raised)}

    def relevances(
        self,
        lists: Mapping[str, Sequence[Scored]],
        scores: Mapping[str, float],
        messages: Mapping[str, Signals],
        best: int | None,
    ) -> tuple[float | None, Mapping[str, float]]:
        """Return the relevance of the search and those of its memories; `best`: as in `mnemic.retrieve.relevance`."""
        order, words = best_first(scores), self.words
        worded = words.omit(self.asking).relevances
        lists_left, plain = without_score(lists, self.asking), self.plain_chat
        known = relevance(lists_left, self.question, self.model, scores, messages, order, worded, plain, self.answers)
        each = relevances(
            lists, scores, messages, self.question, self.model, best, order, words.relevances, self.answers
        )
        return self.asked.adjust_relevances(known, without_value(each, self.asking))


def _is_plain(question: Question, said: Sequence[Memory]) -> bool:
    """Return True if the question and most of these messages are in English; unidentified ones count as English."""
    texts = [memory.content for memory in said]
    foreign = sum(map(is_foreign, texts))
    if not texts or 2 * foreign >= len(texts):
        return False
    return is_in_english(question.text)
