"""The first look at a large scope, against multiplying everything out."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic.stores.columns import QuantisedVectors


def crowd(count: int, dimension: int, seed: int) -> NDArray[np.float32]:
    """Unit vectors around a few dozen centres, as texts about a few dozen things."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((40, dimension))
    vectors = centres[rng.integers(0, 40, count)] + rng.standard_normal((count, dimension))
    unit: NDArray[np.float32] = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f4")
    return unit


@pytest.mark.parametrize("dimension", [384, 100, 64])
def test_the_nearest_are_among_those_that_are_brought(dimension: int) -> None:
    everything = crowd(20_020, dimension, 1)
    vectors, asked = everything[:20_000], everything[20_000:]
    signs = QuantisedVectors(dimension)
    signs.extend(vectors[:7])
    signs.extend(vectors[7:])
    every = np.ones(len(vectors), np.bool_)
    found = 0
    for one in asked:
        brought = signs.nearest(every, one, limit=100)
        assert 2_000 <= len(brought) < 4_000
        found += len(np.intersect1d(brought, np.argsort(-(vectors @ one))[:10]))
    assert found >= 0.98 * 10 * len(asked)


def test_only_what_was_chosen_is_brought_and_few_are_brought_whole() -> None:
    vectors = crowd(9_000, 64, 3)
    signs = QuantisedVectors(64)
    signs.extend(vectors)
    odd = np.arange(9_000) % 2 == 1
    brought = signs.nearest(odd, vectors[0], limit=5)
    assert 2_000 <= len(brought) < 4_500
    assert (brought % 2 == 1).all()
    few = np.arange(9_000) < 2_000
    assert signs.nearest(few, vectors[0], limit=5).tolist() == list(range(2_000))


def test_a_closer_look_leaves_the_nearest_of_vectors_that_lean_to_one_side() -> None:
    leaning = np.abs(crowd(6_000, 384, 5))
    leaning /= np.linalg.norm(leaning, axis=1, keepdims=True)
    signs = QuantisedVectors(384)
    signs.learn(leaning[:1_000])
    signs.extend(leaning)
    found = 0
    for one in leaning[::300]:
        brought = signs.nearest(np.ones(len(leaning), np.bool_), one, limit=10)
        close = signs.closest(brought, one, limit=10)
        assert 500 <= len(close) <= 510
        assert (np.diff(close) > 0).all()
        nearest = np.argsort(-(leaning @ one))[:10]
        assert nearest[0] in close
        found += len(np.intersect1d(close, nearest))
    assert found >= 0.98 * 10 * 20
    assert signs.closest(np.arange(510), leaning[0], limit=10).tolist() == list(range(510)), "few are left as they are"


def test_nothing_is_left_of_signs_that_are_forgotten() -> None:
    signs = QuantisedVectors(64)
    signs.extend(crowd(10, 64, 7))
    signs.forget(np.array([3, 99]))
    assert [bool(column.all[3]) for column in signs._columns] == [False]
    assert all(column.all[4] for column in signs._columns)
