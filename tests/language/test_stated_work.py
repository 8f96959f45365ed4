"""Statements of one's own work, in the words that people use for it."""

from __future__ import annotations

import pytest

from mnemic.language.questions.stated_work import Work, stated_work


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("I'm a nurse at Charité", Work.HOLDS),
        ("I am now a senior software engineer", Work.HOLDS),
        ("I joined Spotify in May", Work.HOLDS),
        ("I teach maths at a school in Mitte", Work.HOLDS),
        ("I run a bakery in Kreuzberg", Work.HOLDS),
        ("I'm a freelance designer", Work.HOLDS),
        ("My company is called Brightwave", Work.HOLDS),
        ("I got hired by Tesla", Work.HOLDS),
        ("I am employed by the city of Graz", Work.HOLDS),
        ("I started a new job at Kone", Work.HOLDS),
        ("I quit Bosch, I'm at Fiat now.", Work.HOLDS),
        ("I'm with Deutsche Bank", Work.MAY_HOLD),
        ("I used to work at Bosch", Work.IS_OVER),
        ("I worked at Bosch until 2019", Work.IS_OVER),
        ("I was a waiter in Porto", Work.IS_OVER),
        ("My former employer was Zalando", Work.IS_OVER),
        ("We work from home on Fridays", None),
        ("I work out three times a week", None),
        ("I work best in the morning", None),
        ("The washing machine does not work", None),
        ("My sister works at a bank", None),
        ("I joined a gym", None),
        ("I am a vegetarian", None),
        ("I drive a red Volvo", None),
    ],
)
def test_what_is_said_of_ones_own_work(text: str, work: Work | None) -> None:
    assert stated_work(text) is work
