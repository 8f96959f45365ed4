from __future__ import annotations

import numpy as np
import pytest

from mnemic.language.sentences.classify.classifier import (
    KEPT,
    LABELS,
    LEFT,
    MAX_CHARS,
    WIDTH,
    Opinion,
    buckets,
    tokens,
    weights,
)
from mnemic.providers.minilm import MiniLmEmbedder


def test_words_are_folded_and_numbers_are_one() -> None:
    assert tokens("I’m 34, at 9:30!") == ["i'm", "0", ",", "at", "0", "!"]


def test_buckets_lie_within_the_width_and_read_no_further_than_the_limit() -> None:
    found = buckets("I live in Rome")
    assert len(found) == len(set(found)) > 10
    assert found.max() < WIDTH
    text = "a" * MAX_CHARS
    assert np.array_equal(buckets(text), buckets(text + "I live in Rome"))
    assert len(buckets("")) > 0


def test_an_opinion_names_the_likeliest_on_both_sides() -> None:
    shares = [0.0] * len(LABELS)
    shares[LABELS.index("safety")], shares[LABELS.index("request")], shares[LABELS.index("fact")] = 0.5, 0.3, 0.2
    opinion = Opinion(shares=tuple(shares))
    assert (opinion.keep, opinion.kept_as, opinion.left_as) == (pytest.approx(0.7), "safety", "request")
    assert opinion.share("fact") == 0.2
    assert set(KEPT).isdisjoint(LEFT)


@pytest.mark.parametrize(
    "text", ["I'm allergic to walnuts", "wir wohnen in Kiel", "mon fils est pompier", "soy panadero"]
)
def test_by_words_alone_facts_are_kept(text: str) -> None:
    (opinion,) = weights().opinions([text])
    assert opinion.keep > 0.6
    assert sum(opinion.shares) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    "text", ["what time is it", "schreib mir bitte einen Brief", "merci beaucoup", "estoy muy cansado"]
)
def test_by_words_alone_the_passing_is_left(text: str) -> None:
    assert weights().opinions([text])[0].keep < 0.4


async def test_vectors_of_its_space_are_weighed_too() -> None:
    embedder = MiniLmEmbedder()
    texts = ["My greenhouse is heated with wood pellets", "could somebody hand me that"]
    vectors = np.stack([np.frombuffer(one, np.float32) for one in await embedder.embed(texts)])
    await embedder.close()
    assert embedder.space.model == weights().space
    kept, left = weights().opinions(texts, vectors)
    assert kept.keep > 0.5
    assert left.keep < 0.4
    assert weights().opinions([]) == []
