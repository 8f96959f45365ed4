"""What words can decide: opposites, and what covers what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic_language.compare.word_comparison import (
    Statement,
    beyond,
    denies,
    negates,
    opposition,
)

OPPOSITES = [
    ("The user is allergic to penicillin", "The user is not allergic to penicillin"),
    ("Allergic to nuts", "Isn't allergic to nuts"),
    ("Always approve refunds under 100 dollars", "Never approve refunds under 100 dollars"),
    ("Always ask before sending", "Never ask before sending"),
    ("Approve refunds under 100 dollars", "Approve refunds under 500 dollars"),
    ("Likes coffee", "Dislikes coffee"),
    ("Likes coffee in the morning", "Hates coffee in the morning"),
    ("I eat meat", "I don't eat meat"),
    ("I can swim", "I can't swim"),
    ("I can drive at night", "I cannot drive at night"),
    ("She will join the call", "She won't join the call"),
    ("Prefers an aisle seat", "Prefers a window seat"),
    ("Prefers formal replies", "Prefers informal replies"),
    ("Wants concise answers", "Wants detailed answers"),
    ("Notifications are enabled", "Notifications are disabled"),
    ("The shop is open on Sunday", "The shop is closed on Sunday"),
    ("The shop is open on Sunday", "The shop is open on Monday"),
    ("The flight leaves at 10", "The flight leaves at 11"),
    ("The flight leaves at 10:30", "The flight leaves at 18:30"),
    ("The release is on 2026-03-01", "The release is on 2026-04-01"),
    ("My birthday is in March", "My birthday is in May"),
    ("I live in Berlin", "I live in Munich"),
    ("Works at Acme as engineer", "Works at Initech as engineer"),
    ("My sister is called Anna", "My sister is called Maria"),
    ("Has two children and a dog", "Has three children and a dog"),
    ("Speaks German at home", "Speaks French at home"),
    ("The car is red", "The car is blue"),
    ("Meetings happen before lunch", "Meetings happen after lunch"),
    ("Works remotely on Fridays", "Works onsite on Fridays"),
    ("Is married to Sam", "Is divorced from Sam"),
    ("The test passed", "The test failed"),
    ("The door is locked", "The door is unlocked"),
    ("The water is safe to drink", "The water is unsafe to drink"),
    ("It is possible to cancel", "It is impossible to cancel"),
    ("The user agrees with the plan", "The user disagrees with the plan"),
    ("The user has no allergies", "The user has allergies"),
    ("Drinks coffee with milk", "Drinks coffee without milk"),
    ("He smokes", "He stopped smoking"),
    ("The budget increased", "The budget decreased"),
    ("Turn the lights on at dusk", "Turn the lights off at dusk"),
    ("Everybody got the mail", "Nobody got the mail"),
    ("The user no longer works at Acme", "The user works at Acme"),
    ("Neither parent smokes", "Both parents smoke"),
    ("Ich esse Fleisch", "Ich esse kein Fleisch"),
    ("The room is 20 degrees warm", "The room is 25 degrees warm"),
    ("Budget is 1,000 euros", "Budget is 2,000 euros"),
]

SWAPS = [
    ("Ann is taller than Bob", "Bob is taller than Ann"),
    ("The cat chases the dog", "The dog chases the cat"),
    ("Moved to Paris", "Moved from Paris"),
    ("Likes tea", "Liked tea"),
    ("Works at Acme", "Worked at Acme"),
    ("Likes tea", "Likes tea sometimes"),
    ("Likes tea", "Might like tea"),
    ("Likes tea", "Likes tea, but only cold"),
    ("Has a sister", "My brother has a sister"),
    ("Met Ann", "Met Bob"),
    ("Met Ann at lunch", "Met Ann and Bob at lunch"),
    ("Call at 10", "Call at 10 30"),
    ("Likes tea", "Likes tea?"),
    ("They're not dangerous, are they?", "They're dangerous, aren't they?"),
    ("Write to [EMAIL#a1b2c3d4e5f6]", "Write to [EMAIL#a1b2c3d4e5f7]"),
    ("Studies at the university", "Studies the universe"),
    ("The store is not open", "The store is closed"),
]

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
