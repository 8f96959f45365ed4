"""Wordings that tell a habit or a liking."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.habits import HABIT


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
        "I strongly dislike marzipan.",
        "I really don't enjoy crowded beaches.",
        "I have a strong aversion to lifts.",
        "I have a fear of dogs.",
        "I have no interest in football.",
        "I'm not a fan of brass bands.",
        "I'm not really into podcasts.",
        "I am a huge fan of slow trains.",
        "I'm averse to perfume.",
        "I despise plastic cutlery.",
        "I strictly avoid palm oil.",
        "I refuse to queue.",
        "I find long meetings exhausting.",
        "I find it hard to read on a screen.",
        "I thrive on routine.",
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
        "I'm not a fan of that idea.",
        "I have no interest in this.",
        "I'm not comfortable with it.",
        "I have a strong aversion to those.",
        "I find it hard to believe.",
        "I find the new manager dull.",
        "I don't enjoy that.",
    ],
)
def test_tells_none(text: str) -> None:
    assert not HABIT.match(text)
