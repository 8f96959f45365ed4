"""Signs that an answer uses a memory which it does not repeat: the memory's words in it, and its meaning.

A paraphrase proves nothing, so the result is a certainty and no verdict. Words of the question do not count, and a
memory that is as near to the question as the answer is says nothing: an answer to a question about fish is near a
memory about fish in any case.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mnemic.language.sentences.clauses import sentences
from mnemic.language.text.inflect import same_word
from mnemic.language.text.language import common_words, language_of
from mnemic.language.text.pattern import Pattern
from mnemic.ports import Embedder
from mnemic.types import Deadline
from mnemic.types.measures import read

LIKELY_FROM = 0.6
"""Certainty from which a use is called likely: of 48 own pairs of an answer that uses a memory and one that does not,
half of which the weights were fitted on, 13 of 24 uses of the other half reach it, and no answer without use.
"""
_WORDS, _MEANING, _BIAS = 2.73, 2.76, -0.76
_LONGEST_COMMON, _SHORTEST_ALIKE = 2, 5
_MAX_SENTENCES = 24
_WORD = Pattern(r"[^\W_]+(?:[:.,'-][^\W_]+){0,6}")


async def certainty_of_use(
    memories: Sequence[str], question: str, answer: str, embedder: Embedder, *, deadline: Deadline | None = None
) -> list[float]:
    """Return for each of `memories` how certain it is, from 0 to 1, that `answer` to `question` uses it. Raises
    EmbedderFailed.
    """
    parts = [answer[start:end] for start, end in sentences(answer)][:_MAX_SENTENCES]
    vectors = await embedder.embed([question, *memories, answer, *parts], deadline=deadline)
    points = np.stack([np.frombuffer(one, np.float32) for one in vectors])
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
    cosines, end = points @ points.T, 1 + len(memories)
    space, said, asked = embedder.space, _content_words(answer), _content_words(question)
    found = []
    for place, memory in enumerate(memories, start=1):
        nearer = read(space, float(cosines[place, end:].max())) - read(space, float(cosines[place, 0]))
        new = [word for word in _content_words(memory) if not _has(asked, word)]
        share = sum(_has(said, word) for word in new) / len(new) if new else 0.0
        found.append(1 / (1 + math.exp(-(_WORDS * share + _MEANING * nearer + _BIAS))))
    return found


def _content_words(text: str) -> frozenset[str]:
    common = common_words("english") | common_words(language_of(text) or "english")
    words = {word.casefold().removesuffix("'s") for word in _WORD.findall(text)}
    return frozenset(one for one in words - common if len(one) > _LONGEST_COMMON or one.isdigit())


def _has(words: frozenset[str], word: str) -> bool:
    return any(
        same_word(word, one)
        or (min(len(word), len(one)) >= _SHORTEST_ALIKE and word[:_SHORTEST_ALIKE] == one[:_SHORTEST_ALIKE])
        for one in words
    )
