"""What words can decide: opposites, and what covers what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.compare.word_comparison import (
    Statement,
    beyond,
    denies,
    negates,
    opposition,
)
from mnemic.testing.statement_pairs import OPPOSITES, SWAPS

PARAPHRASES = [
    ("The user likes tea", "I like tea"),
    ("User prefers dark mode", "The user prefers the dark mode"),
    ("Lives in Berlin", "The user currently lives in Berlin"),
    ("I have 3 cats", "I have three cats"),
    ("I don't eat meat", "I do not eat meat"),
    ("Prefers dark mode", "Prefers dark mode in the editor"),
    ("Budget is 1,000 euros", "Budget is 1000 euros"),
]

DENIED = [
    ("I've never used Excel for tracking expenses, can you help?", "I use Excel to track my expenses, since March."),
    ("There is no one typing", "Someone is typing"),
    ("The dog is not large and does not bark", "The dog is large and barks"),
]
KEPT_APART = [
    ("No man is singing", "No person is singing"),
    ("Does not eat meat at home", "Does not eat meat"),
    ("He was unable to come by train", "He was to come by train"),
    ("Bob is taught by Ann", "Bob teaches Ann"),
    ("I seldom drink coffee", "I never drink coffee"),
    ("The lift hardly works", "The lift does not work"),
    ("We barely use the car", "We don't use the car"),
    ("Ann was painted by Bob", "Bob paints Ann"),
    ("The list excludes the osprey", "The list the osprey"),
]

each = pytest.mark.parametrize


def covers(full: Statement, part: Statement) -> bool:
    """True if the one says everything that the other says, and nothing that could take it back."""
    return beyond(full, part) is not None


@each(("one", "other"), OPPOSITES, ids=[one[:30] for one, _ in OPPOSITES])
def test_opposites_are_seen_both_ways(one: str, other: str) -> None:
    first, second = Statement.of(one), Statement.of(other)
    assert opposition(first, second) is not None
    assert opposition(first, second) == opposition(second, first)


@each(("one", "other"), OPPOSITES + SWAPS, ids=[one[:30] for one, _ in OPPOSITES + SWAPS])
def test_what_may_contradict_never_covers(one: str, other: str) -> None:
    first, second = Statement.of(one), Statement.of(other)
    assert not covers(first, second)
    assert not covers(second, first)


@each(("one", "other"), PARAPHRASES, ids=[one[:30] for one, _ in PARAPHRASES])
def test_paraphrases_agree(one: str, other: str) -> None:
    first, second = Statement.of(one), Statement.of(other)
    assert opposition(first, second) is None
    assert covers(second, first)


@each(
    ("one", "other"),
    [
        ("The door is not open", "The door is closed"),
        ("Likes tea", "Likes coffee"),
        ("Met Ann at lunch", "Met Bob at lunch"),
        ("Chapter 3 of the book is long", "Chapter 4 of the book is long"),
        ("Wrote memory number 17 today", "Wrote memory number 18 today"),
        ("Plays the violin", "Reads novels"),
        ("", "Likes tea"),
    ],
)
def test_no_opposition(one: str, other: str) -> None:
    assert opposition(Statement.of(one), Statement.of(other)) is None


def test_long_texts_are_not_compared() -> None:
    long = Statement.of("word " * 300)
    assert not covers(long, long)
    assert opposition(long, Statement.of("not " + "word " * 300)) is None


words = st.sampled_from(
    "user likes tea not never green black 3 10 Berlin Anna open closed the in to from sometimes".split()
)


@given(st.lists(words, min_size=1, max_size=8), st.lists(words, min_size=1, max_size=8))
def test_what_covers_loses_no_word_and_opposes_nothing(one: list[str], other: list[str]) -> None:
    full, part = " ".join(one), " ".join(other)
    if covers(Statement.of(full), Statement.of(part)):
        assert Statement.of(part).counted.keys() <= Statement.of(full).counted.keys()
        assert opposition(Statement.of(full), Statement.of(part)) is None


@each(("one", "other"), DENIED, ids=[one[:30] for one, _ in DENIED])
def test_denials_oppose_strongly(one: str, other: str) -> None:
    found = opposition(Statement.of(one), Statement.of(other))
    assert found is not None
    assert found.strong
    assert found == opposition(Statement.of(other), Statement.of(one))


@each(("one", "other"), KEPT_APART, ids=[one[:30] for one, _ in KEPT_APART])
def test_what_only_looks_the_same_covers_nothing(one: str, other: str) -> None:
    assert not covers(Statement.of(one), Statement.of(other))
    assert not covers(Statement.of(other), Statement.of(one))


def test_two_denials_of_one_thing_agree() -> None:
    one = "He added, he will not resign over this."
    assert opposition(Statement.of(one), Statement.of("He will not resign over this, he said.")) is None


def test_what_is_more_is_counted() -> None:
    full, part = Statement.of("Prefers dark mode in the editor"), Statement.of("Prefers dark mode")
    assert beyond(full, part) == 2
    assert beyond(part, full) is None


def test_a_negation_that_stands_alone_is_one() -> None:
    apart, together = Statement.of("I do n't eat meat"), Statement.of("I don't eat meat")
    assert (apart.words, apart.negations, apart.denied) == (together.words, 1, together.denied)


def test_one_is_a_number_but_not_behind_no() -> None:
    assert Statement.of("There is no one at home").stems == ["at", "home"]
    assert Statement.of("One is at home").stems == ["1", "at", "home"]
    assert Statement.of("There is no chance of one").stems == ["chanc", "1"]


TELLING = (
    "no one No phone someone don't isn't cannot never by which is was are who that white crane woman man sliced eaten "
    "slices eats a the onion I Berlin Ann 3 four 12:30 closed unable visited but and so in at without won't one's"
).split()


@given(
    st.lists(st.tuples(st.sampled_from(TELLING), st.sampled_from([" ", " ", ", ", ". ", "? ", " but "])), min_size=1)
)
def test_a_glance_sees_what_reading_in_full_sees(told: list[tuple[str, str]]) -> None:
    statement = Statement.of("".join(word + after for word, after in told))
    assert statement.stems == [word.stem for word in statement.words]
    assert all(clause.stems <= statement.named for clause in statement.clauses)
    assert sum(clause.negations for clause in statement.clauses) == statement.negations


def test_a_passive_is_not_read_as_its_active() -> None:
    assert beyond(Statement.of("The fence was painted by Ann"), Statement.of("Ann painted the fence")) is None


def test_a_clause_denies_a_clause_from_far_off() -> None:
    told = Statement.of("I met Kyle at a sneaker expo in Bridgetown, but the shoes were dear. Which should I try?")
    denied = Statement.of("I have never met Kyle at a sneaker expo, can you suggest shoes for daily wear?")
    other = Statement.of("I have never tried vegan cheese, can you suggest a recipe for dinner?")
    assert denies(told, denied)
    assert denies(denied, told)
    assert not denies(told, other)


@each(
    ("text", "denies_something"),
    [("I don’t smoke", True), ("Never again", True), ("cannot swim", True), ("notes on knots", False), ("", False)],
)
def test_a_glance_tells_negations(text: str, denies_something: bool) -> None:
    assert negates(text) is denies_something
