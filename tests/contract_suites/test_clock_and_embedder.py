"""The stand-ins keep the promises of their ports."""

from __future__ import annotations

from array import array
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import EmbedderFailed, InvalidInput
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Deadline


def cosine(first: bytes, second: bytes) -> float:
    return sum(a * b for a, b in zip(array("f", first), array("f", second), strict=True))


async def test_time_stands_still_until_it_is_moved() -> None:
    clock = ManualClock()
    start, monotonic = clock.now(), clock.monotonic()
    assert clock.now() == start
    clock.advance(timedelta(hours=1))
    await clock.sleep(timedelta(minutes=1))
    assert clock.now() - start == timedelta(minutes=61)
    assert clock.monotonic() - monotonic == 3660
    assert clock.slept == [timedelta(minutes=1)]


def test_the_wall_clock_can_be_set_back_and_the_other_cannot() -> None:
    clock = ManualClock()
    clock.jump_to(datetime(2020, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2020
    assert clock.monotonic() == 0
    with pytest.raises(ValueError, match="forwards"):
        clock.advance(timedelta(seconds=-1))
    with pytest.raises(InvalidInput):
        clock.jump_to(datetime(2020, 1, 1))  # noqa: DTZ001


@given(st.text())
def test_every_vector_has_unit_length(text: str) -> None:
    vector = WordEmbedder().vector(text)
    assert len(vector) == 4 * 384
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-4)


async def test_shared_words_mean_nearness() -> None:
    embedder = WordEmbedder()
    tea, more_tea, train = await embedder.embed(["green tea at noon", "green tea", "trains of Porto"])
    assert cosine(tea, more_tea) > 0.6 > 0.3 > cosine(tea, train)
    assert embedder.texts == 3
    assert WordEmbedder().vector("green tea") == more_tea


async def test_a_passed_deadline_is_a_failure() -> None:
    deadline = Deadline.after(timedelta(0), ManualClock().monotonic)
    with pytest.raises(EmbedderFailed, match="timeout"):
        await WordEmbedder().embed(["x"], deadline=deadline)
