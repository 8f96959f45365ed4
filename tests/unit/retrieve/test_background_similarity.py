"""Cosines against the background of a scope: the same answer stands out alike, however near everything is."""

from __future__ import annotations

import itertools
from array import array
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.retrieve.candidate_lists import APART, above_background, background_of, by_vector
from mnemic.retrieve.question import read_question
from mnemic.types import Actor, Level, Scored, Vector, VectorSpace, Where

SPACE = VectorSpace(model="another", dimension=2, scale=((0.0, 0.0), (1.0, 1.0)))
WHERE = Where(scopes=(Actor(user="ana").scope(Level.USER),))


def scored(*cosines: float) -> list[Scored]:
    return [Scored(str(place), cosine) for place, cosine in enumerate(cosines)]


def best_of(answer: float, *others: float) -> float:
    found = scored(answer, *others)
    return above_background(found, background_of([one.score for one in found]))[0].score


def test_what_stands_out_means_the_same_where_everything_is_near_and_where_everything_is_far() -> None:
    near = best_of(0.64, *[0.4] * 79)
    far = best_of(0.44, *[0.07] * 79)
    assert near == pytest.approx(far, abs=0.05)
    assert best_of(0.64, *[0.4] * 79) < best_of(0.64, *[0.07] * 79)


def test_a_few_memories_say_little_of_the_background() -> None:
    assert best_of(0.6, 0.5) > 0.55
    assert best_of(0.6, *[0.5] * 200) < 0.35


def test_many_good_answers_are_no_background() -> None:
    assert background_of([0.6] * 25 + [0.1] * 75) < 0.11


@given(st.lists(st.floats(-1, 1), max_size=60))
def test_the_order_stays_and_the_same_text_stays_at_one(cosines: list[float]) -> None:
    found = scored(*sorted(cosines, reverse=True))
    read = above_background(found, background_of(cosines))
    assert [one.memory_id for one in read] == [one.memory_id for one in found]
    assert all(one.score >= other.score for one, other in itertools.pairwise(read))
    assert above_background(scored(1.0), 0.4)[0].score == pytest.approx(1.0)
    assert above_background(scored(0.4), 0.4)[0].score == pytest.approx(APART)


class Moment:
    """A scope of `size` memories: the nearest hundred are at 0.5, the newest at 0.3; it notes what is asked of it."""

    def __init__(self, size: int) -> None:
        self.size, self.sampled = size, 0

    async def nearest(self, where: Where, _: Vector, *, limit: int, space: VectorSpace) -> list[Scored]:
        assert space == SPACE
        if where.memory_ids is None:
            return scored(*[0.5] * min(limit, self.size))
        self.sampled = len(where.memory_ids)
        return [Scored(one, 0.3) for one in sorted(where.memory_ids)]

    async def recent(self, _: Where, *, limit: int) -> list[Scored]:
        return scored(*[1.0] * min(limit, self.size))


@pytest.mark.parametrize(("size", "sampled"), [(40, 0), (5_000, 100)])
async def test_the_background_of_a_large_scope_is_that_of_its_newest(size: int, sampled: int) -> None:
    moment, question = Moment(size), read_question("Where is the boat?")
    object.__setattr__(question, "vector", b"\0" * 8)
    object.__setattr__(question, "space", SPACE)
    found = await by_vector(moment, WHERE, question)  # type: ignore[arg-type]
    assert moment.sampled == sampled
    assert (found[0].score > 0.3) is bool(sampled)


class Near:
    """A scope whose best memory is at 0.7 where all others are at 0.5."""

    async def nearest(self, *_: object, **__: object) -> list[Scored]:
        return scored(0.7, *[0.5] * 40)


@pytest.mark.parametrize(
    ("asked", "is_read"),
    [("Where does my sister live?", False), ("¿Dónde vive mi hermana?", True), ("Wo wohnt meine Schwester?", True)],
)
async def test_the_default_model_is_read_against_the_background_in_other_languages(asked: str, is_read: bool) -> None:
    space = VectorSpace(model="default", dimension=2)
    question = replace(read_question(asked), vector=array("f", [1.0, 0.0]), space=space)
    found = await by_vector(Near(), WHERE, question)  # type: ignore[arg-type]
    assert (found[0].score < 0.6) is is_read
    assert [one.memory_id for one in found] == [str(place) for place in range(41)]
