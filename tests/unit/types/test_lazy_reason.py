"""Tests of the sentence of a hit that is made when it is read."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import cast

import pytest

from mnemic.testing.record_store.fixtures import memory
from mnemic.types import Hit
from mnemic.types.search import LazyText

ID = "01900000-0000-7000-8000-000000000001"


def hit_of(made: list[str]) -> Hit:
    def make() -> str:
        made.append("once")
        return "because"

    return Hit(memory=memory("I sail.", memory_id=ID), score=0.5, why=cast("str", LazyText(make)))


def test_the_sentence_is_made_once_when_it_is_read() -> None:
    made: list[str] = []
    hit = hit_of(made)
    assert made == []
    assert (hit.why, hit.why, made) == ("because", "because", ["once"])


def test_a_hit_with_it_equals_and_becomes_what_one_with_the_text_does() -> None:
    plain = replace(hit_of([]), why="because")
    assert hit_of([]) == plain
    assert hit_of([]).to_dict() == plain.to_dict()
    assert pickle.loads(pickle.dumps(hit_of([]))) == plain
    assert copy.copy(hit_of([])) == plain
    assert replace(hit_of([]), score=0.5) == plain


def test_it_stays_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        hit_of([]).why = "other"  # type: ignore[misc]
