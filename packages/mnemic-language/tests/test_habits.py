"""Wordings that tell a habit or a liking."""

from __future__ import annotations

import pytest

from mnemic_language.sentences.habits import HABIT


@pytest.mark.parametrize(
    "text",
    [
        "I'm fond of old clocks.",
        "I always sit at the back.",
        "I can't stand marzipan.",
        "I don't fly.",
        "I stick to vegetables from the market.",
        "I'd rather walk than drive.",
        "I have a soft spot for lighthouses.",
        "Lifts make me nervous.",
        "Opera is not for me.",
        "I want everything in Dutch.",
        "Please use Celsius.",
        "I go swimming twice a week.",
        "I love the smell of rain.",
    ],
)
def test_tells_a_habit(text: str) -> None:
    assert HABIT.match(text)


@pytest.mark.parametrize(
    "text",
    [
        "I want a table for two.",
        "I want to book a flight.",
        "Give me the news.",
        "Give me directions to the station.",
        "I never thought of that.",
        "I always wanted to ask you something.",
        "I love that!",
        "I love the idea.",
        "I like to hear from you.",
        "The train is late.",
    ],
)
def test_tells_none(text: str) -> None:
    assert not HABIT.match(text)
