"""Phrases without a verb that ask for a service are requests; what states something with the same words is not."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import left_out, mood_of
from mnemic.reason_codes import TRANSIENT

ASKED = [
    "ground transportation in leeds",
    "all flights from york to hull on monday",
    "from york to hull on a monday",
    "weather for june ninth in hull",
    "restaurants near the harbour",
    "want to find a picture of the harbour",
]
TOLD = [
    "From York to Hull I always take the train",
    "Hotel in Ghent cancelled on us",
    "Flights from York only",
    "Rooms: quiet, high floor",
    "Trains to Hull are my favourite",
]


def reason(text: str) -> str | None:
    return left_out(clauses(text)[0], mood_of(text))


@pytest.mark.parametrize("text", ASKED)
def test_a_phrase_that_names_a_service_and_a_place_asks(text: str) -> None:
    assert reason(text) == TRANSIENT


@pytest.mark.parametrize("text", TOLD)
def test_what_states_something_does_not(text: str) -> None:
    assert reason(text) is None
