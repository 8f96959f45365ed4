"""The same told in other words, and what only looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.write.retell import retold
from mnemic.write.statement import Statement, denies, negates

ADDED = [
    ("Two dogs are cheerfully playing on the beach", "Two dogs are playing on the beach"),
    ("Ben rides his bike quietly to the office", "Ben rides his bike to the office at dawn"),
    ("A teacher is walking along the gravel path", "A woman teacher is strolling along the gravel road"),
]
REWORDED = [
    (
        "Our landlord told us on the phone that the heating in the whole old building gets replaced in May",
        "Said the landlord: the heating of the whole old building gets replaced by plumbers in May",
    ),
]
APART = [
    ("My desk stands beside the kitchen window", "My desk stands beside the bathroom window"),
    ("Pays 40 euros for the gym each month", "Pays 45 euros for the gym each month in advance"),
    ("The shop opens early on Monday", "The shop opens early on Tuesday, says Tom"),
    ("The lamp was repaired by Ann at home", "Ann was repaired by the lamp at home"),
    ("Sends the reports to Ann and the invoices to Ben", "Sends the reports to Ben and the invoices to Ann"),
    ("She finished the marathon in spring", "She failed to finish the marathon in spring"),
    ("He is president of the chess club", "He is vice president of the chess club"),
    ("The office is smaller than the old one was", "The office is much larger than the old one was"),
    ("The flat has a balcony", "Does the flat have a balcony?"),
    ("Plays in the band", "Played in the band"),
    ("The garden is locked at night", "The garden is not locked at night"),
    (
        "The trainer told the whole team that the final match gets moved to the big stadium",
        "The final match, said the trainer, gets moved to the big stadium only without the whole team",
    ),
]


@pytest.mark.parametrize(("one", "other"), ADDED + REWORDED)
def test_the_same_is_known_both_ways(one: str, other: str) -> None:
    assert retold(Statement.of(one), Statement.of(other))
    assert retold(Statement.of(other), Statement.of(one))


@pytest.mark.parametrize(("one", "other"), APART)
def test_another_claim_is_not(one: str, other: str) -> None:
    assert not retold(Statement.of(one), Statement.of(other))
    assert not retold(Statement.of(other), Statement.of(one))


words = st.sampled_from(
    "the red lamp stood beside a door while music played in every corner of that large garden today".split()
)
sentences = st.lists(words, min_size=3, max_size=14).map(" ".join)


@settings(max_examples=200)
@given(sentences, st.integers(0, 13))
def test_a_statement_and_its_negation_are_never_the_same(sentence: str, place: int) -> None:
    said = sentence.split()
    place = min(place, len(said) - 1)
    for negation in ("not", "never"):
        denied = " ".join([*said[:place], negation, *said[place:]])
        assert not retold(Statement.of(sentence), Statement.of(denied))


@settings(max_examples=200)
@given(sentences, sentences)
def test_the_order_of_the_two_does_not_matter(one: str, other: str) -> None:
    assert retold(Statement.of(one), Statement.of(other)) == retold(Statement.of(other), Statement.of(one))


@settings(max_examples=100)
@given(sentences, st.integers(1, 400), st.integers(1, 400))
def test_two_numbers_are_never_the_same(sentence: str, one: int, other: int) -> None:
    first, second = (Statement.of(f"{sentence} costs {number}") for number in (one, one + other))
    assert not retold(first, second)


def test_a_clause_denies_a_clause_from_far_off() -> None:
    told = Statement.of("I met Kyle at a sneaker expo in Bridgetown, but the shoes were dear. Which should I try?")
    denied = Statement.of("I have never met Kyle at a sneaker expo, can you suggest shoes for daily wear?")
    other = Statement.of("I have never tried vegan cheese, can you suggest a recipe for dinner?")
    assert denies(told, denied)
    assert denies(denied, told)
    assert not denies(told, other)


@pytest.mark.parametrize(
    ("text", "denies_something"),
    [("I don’t smoke", True), ("Never again", True), ("cannot swim", True), ("notes on knots", False), ("", False)],
)
def test_a_glance_tells_negations(text: str, denies_something: bool) -> None:
    assert negates(text) is denies_something
