"""Whether the first memories answer the question, as a model reads it that sees both together.

Resemblance cannot tell an answer from another statement about the same thing ("What is my landlady's phone number?"):
the judge reads which attribute is asked for. The weights that combine both give resemblance half of what fits generated
scopes (training/answers/fit.py): an answer in other words that is withheld costs the one who asks more than a statement
near by that is shown. bench/retrieval.md has what they were chosen by.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from math import exp
from typing import TypeGuard

from mnemic.language.questions.asks_only import asks_only
from mnemic.language.sentences.classify.classifier import log_odds
from mnemic.language.sentences.clauses import sentences
from mnemic.language.text.analyse import terms
from mnemic.ports import Embedder, JudgesAnswers, JudgesChanges
from mnemic.retrieve.later_statements import AIDES, NOTE
from mnemic.types import Deadline, Memory

JUDGE = "judge"
"""Name of the judge of answers among the errors of a result, and among the ranks of what it takes for an answer."""
MAX_QUESTION_CHARS = 200
"""Characters of the longest question whose answers are judged."""
MAX_READ_CHARS = 160
"""Characters of the longest statement that is read whole: of a longer one its nearest sentence is."""
FIRST, MOST = 3, 6
"""Statements that are judged at first, and at most: each takes 2 to 3 ms. If none of the first surely answers, the
others are judged too.
"""
ALIKE_READ = 2 * MOST
"""First memories of which those in another language are left out of what is judged."""
ANSWERED = 0.7
"""Relevance of a statement by which a question is taken for answered: no further statements are judged."""
SURE = 1 - 1e-4
"""Probability above which, and below 1 minus which, none is read."""
UNLIKE = -4.5
"""Logarithm of the odds by resemblance below which no statement is judged: in the generated scopes 1 answer of 100."""
BY_JUDGE, BY_RESEMBLANCE, BASE = 0.6, 0.5, 0.1
"""Weights of the judge's logarithm of the odds, of that of the relevance by resemblance, and their base."""
ALIKE = -1.0
"""Logarithm of the odds by resemblance from which more says no more: what is about the same thing resembles most."""

_NO_LETTER = re.compile(r"[\W_]+")
_LABELLED = re.compile(r"([^\W\d_]{1,24}(?: [^\W\d_]{1,24}){0,2}): (?=\S)")
"""Matches the label of a value: "seat: window"."""
_OF_THE_USER = re.compile(r"\A(?:i|we|my|our|(?:the )?user)\b", re.IGNORECASE)
"""Matches the start of a sentence about the user, which no value is."""


async def judge_answers(
    embedder: JudgesAnswers,
    question: str,
    order: Sequence[str],
    statements: Mapping[str, Memory],
    relevances: Mapping[str, float],
    deadline: Deadline | None = None,
) -> dict[str, float]:
    """Return the relevances of the first of `order` that are among `statements`, recorded messages among them, and
    resemble the question at all, by the judge and their `relevances`; none if there are none.
    """
    judged: dict[str, float] = {}
    left = iter(first_alike(order, statements, relevances).items())
    while max(judged.values(), default=0.0) < ANSWERED and (some := list(islice(left, MOST if judged else FIRST))):
        texts = [nearest_words(spoken(statements[one]), question) for one, _ in some]
        odds = await embedder.judge_answers(question, texts, deadline=deadline)
        judged |= {
            one: min(
                _most(statements[one]), _probability(BY_JUDGE * answer + BY_RESEMBLANCE * min(ALIKE, resembles) + BASE)
            )
            for answer, (one, resembles) in zip(odds, some, strict=True)
        }
    return judged


def first_alike(
    order: Sequence[str], statements: Mapping[str, Memory], relevances: Mapping[str, float]
) -> dict[str, float]:
    """Return the first of `order` that are worth a judgement, with the logarithms of the odds of their `relevances`."""
    odds = ((one, log_odds(relevances[one], SURE)) for one in order if one in statements and one in relevances)
    return dict(islice((one for one in odds if one[1] >= UNLIKE), MOST))


def nearest_words(text: str, question: str) -> str:
    """Return the words of `text` that are read: all if they are few, else the sentence that has most words of the
    question.
    """
    if len(text) <= MAX_READ_CHARS:
        return text
    asked = frozenset(terms(question))
    parts = [text[start:end] for start, end in sentences(text)]
    return max(parts, key=lambda part: len(asked.intersection(terms(part))), default=text)


def in_judged_order(scores: Mapping[str, float], judged: Mapping[str, float]) -> Mapping[str, float]:
    """Return `scores` with those of the `judged` dealt among them by their relevance."""
    if not judged:
        return scores
    best = sorted(judged, key=lambda one: (-judged[one], -scores[one]))
    dealt = sorted((scores[one] for one in judged), reverse=True)
    return {**scores, **dict(zip(best, dealt, strict=True))}


def is_question(text: str) -> bool:
    """Return True for a short question."""
    return len(text) <= MAX_QUESTION_CHARS and (text.rstrip().endswith("?") or asks_only(text))


def judges(embedder: Embedder) -> TypeGuard[JudgesAnswers]:
    """Return True for a `JudgesAnswers`; `isinstance` would check each name of the protocol, in each search."""
    return hasattr(embedder, "judge_answers")


def reads_changes(embedder: Embedder) -> TypeGuard[JudgesChanges]:
    """Return True for a `JudgesChanges`; see `judges`."""
    return hasattr(embedder, "judge_changes")


def text_of(memory: Memory) -> str:
    """Return the words of a memory with those that say what they are about, as a sentence: a value under a key means
    little without those that it was captured from, or behind a label, and a part of a page without the headings above
    it.
    """
    if memory.key is not None:
        if memory.source.quote or _OF_THE_USER.match(memory.content):
            return memory.source.quote or memory.content
        return f"My {_NO_LETTER.sub(' ', memory.key)} is {memory.content}"
    if memory.category == NOTE:
        return f"{memory.context}: {memory.content}"
    labelled = _LABELLED.match(memory.content)
    return memory.content if labelled is None else f"My {labelled[1]} is {memory.content[labelled.end() :]}"


def spoken(memory: Memory) -> str:
    """Return the words of a memory as judges read them: with who said them, unless it was a user."""
    speaker = memory.source.speaker
    return f"{speaker}: {text_of(memory)}" if speaker in AIDES else text_of(memory)


def _most(memory: Memory) -> float:
    """Return the greatest relevance of a memory: what an assistant or a tool claims answers less surely than what the
    user says.
    """
    return ANSWERED if memory.source.speaker in AIDES else 1.0


def _probability(odds: float) -> float:
    return round(1 / (1 + exp(-odds)), 4)
