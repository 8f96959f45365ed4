"""Signs that an answer uses a memory which it does not repeat: the memory's words in it, and its meaning.

A paraphrase proves nothing, so the result is a certainty and no verdict. Words of the question do not count, and an
answer to a question about fish is near a memory about fish in any case: what counts of their nearness is what the
question leaves unexplained (the correlation of both with the question held fixed), and its lead over the other
memories that the model was shown. An answer that contradicts a memory is as near to it as one that uses it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from mnemic.language.sentences.clauses import sentences
from mnemic.language.text.inflect import same_word
from mnemic.language.text.language import common_words, in_latin_letters, language_of
from mnemic.language.text.pattern import Pattern
from mnemic.ports import Embedder
from mnemic.types import Deadline, Vector, VectorSpace
from mnemic.types.recall_limits import read

LIKELY_FROM = 0.6
"""Certainty from which a use is called likely."""


class _Weights(NamedTuple):
    words: float
    meaning: float
    lead: float
    bias: float


_DEFAULT, _SCALED = _Weights(2.65, 6.29, 3.49, -1.38), _Weights(3.99, 3.59, 4.4, -1.27)
"""Of the default model, and of another that has a scale. Fitted with even odds, as the model says that it used the
memory, on the uses of `mnemic eval answers`. Of those in `unread`, the default model calls 20 of 33 English uses and 3
of 67 others likely.
"""
_LONGEST_COMMON, _SHORTEST_ALIKE = 2, 5
_WORD = Pattern(r"[^\W_]+(?:[:.,'-][^\W_]+){0,6}")


async def certainty_of_use(
    memories: Sequence[str],
    question: str,
    answer: str,
    embedder: Embedder,
    *,
    beside: Sequence[str] = (),
    deadline: Deadline | None = None,
) -> list[float]:
    """Return for each of `memories` how certain it is, from 0 to 1, that `answer` to `question` uses it. `beside`: the
    other memories that the model was shown. Raises EmbedderFailed.
    """
    space, shown = embedder.space, [*memories, *beside]
    meant = [0.0] * len(shown)
    asked = _content_words(question)
    added = " ".join(_sentences_that_add(answer, asked))
    if added and (space.scale or not _foreign(question, answer)):
        meant = _unexplained(await embedder.embed([question, added, *shown], deadline=deadline), space)
    weights, said = _SCALED if space.scale else _DEFAULT, _content_words(answer)
    found = []
    for place, memory in enumerate(memories):
        others = meant[:place] + meant[place + 1 :]
        new = [word for word in _content_words(memory) if not _has(asked, word)]
        share = sum(_has(said, word) for word in new) / len(new) if new else 0.0
        lead = meant[place] - max(others) if others else 0.0
        log_odds = weights.words * share + weights.meaning * meant[place] + weights.lead * lead + weights.bias
        found.append(1 / (1 + math.exp(-log_odds)))
    return found


def _sentences_that_add(answer: str, asked: Collection[str]) -> list[str]:
    """Return the sentences with another word than those of the question, which an answer likes to repeat."""
    parts = [answer[start:end] for start, end in sentences(answer)]
    return [one for one in parts if any(not _has(asked, word) for word in _content_words(one))]


def _foreign(question: str, answer: str) -> bool:
    """Return whether the default model, whose language is English, says nothing of these texts."""
    return any(language_of(text) or not in_latin_letters(text) for text in (question, answer))


def _unexplained(vectors: Sequence[Vector], space: VectorSpace) -> list[float]:
    """Return how near each text after the first two is to the second, beyond what the first explains."""
    points = np.stack([np.frombuffer(one, np.float32) for one in vectors])
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
    asked, said = ([min(read(space, float(one)), 0.99) for one in points @ points[row]] for row in (0, 1))
    left = math.sqrt(1 - said[0] ** 2)
    return [
        (near - said[0] * known) / (left * math.sqrt(1 - known**2))
        for known, near in zip(asked[2:], said[2:], strict=True)
    ]


def _content_words(text: str) -> frozenset[str]:
    common = common_words("english") | common_words(language_of(text) or "english")
    words = {word.casefold().removesuffix("'s") for word in _WORD.findall(text)}
    return frozenset(one for one in words - common if len(one) > _LONGEST_COMMON or one.isdigit())


def _has(words: Collection[str], word: str) -> bool:
    return any(
        same_word(word, one)
        or (min(len(word), len(one)) >= _SHORTEST_ALIKE and word[:_SHORTEST_ALIKE] == one[:_SHORTEST_ALIKE])
        for one in words
    )
