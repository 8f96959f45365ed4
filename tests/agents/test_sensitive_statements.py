"""Health and identity papers, told apart from what is only near them."""

from __future__ import annotations

import pytest

from mnemic.agents.steps.sensitive_statements import is_special, special_topics


@pytest.mark.parametrize(
    "text",
    [
        "I was diagnosed with depression last year.",
        "I take metformin for my diabetes.",
        "We have coeliac disease in the family.",
        "I'm pregnant and due in May.",
        "My therapist is on Elm Street.",
    ],
)
def test_health_is_special(text: str) -> None:
    assert special_topics(text) == {"health"}


@pytest.mark.parametrize(
    "text",
    [
        "My passport number is C01X00T47.",
        "passport number 533380006",
        "My driver's license is D123-4567-8901.",
        "national id 8507121234",
    ],
)
def test_the_number_of_a_paper_is_special(text: str) -> None:
    assert special_topics(text) == {"papers"}


@pytest.mark.parametrize(
    "text",
    [
        "I prefer aisle seats.",
        "I am vegetarian.",
        "I am allergic to peanuts.",
        "My passport is in the drawer.",
        "I have a driving licence.",
        "Room 1204 at the hotel.",
        "My passport is valid until 2031.",
    ],
)
def test_what_is_only_near_it_is_not(text: str) -> None:
    assert special_topics(text) == frozenset()


def test_only_the_topics_that_are_asked_for_count() -> None:
    assert is_special([None, "", "I have asthma."], {"health"})
    assert not is_special(["I have asthma."], {"papers"})
