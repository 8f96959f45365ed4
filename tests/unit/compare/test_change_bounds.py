"""Pairs that `ChangeBounds` excludes are changes for no judge: too tight a bound would lose changes silently."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic_eval.texts import statements
from mnemic_eval.train_change_classifier import examples
from mnemic_language.changes.certain_changes import CERTAIN_CHANGES, rules_for
from mnemic_language.changes.change_bounds import ChangeBounds, changes_nothing
from mnemic_language.changes.change_classifier import Change, judge
from mnemic_language.changes.change_features import OUTGROWN_COSINE
from mnemic_language.frames.statement_frame import Frame

CROWDS = (1, 2, 6, 7, 12, 32)
EXAMPLES = sorted(examples(), key=lambda one: (one.known, one.said))
PARTS = (
    "I live in Lisbon", "I moved to Porto", "my rent is 850 euros", "the rent went up to 910 euros", "we have two kids",
    "our third was born in May", "I love cilantro", "I don't like cilantro any more", "my flight is on Tuesday",
    "it's on Friday now", "second class, please", "I take first class from now on", "no longer", "actually",
    "not Genoa but Savona", "my sister Ana sold her car", "I quit the gym", "48 members", "we're 85 members already",
    "the budget is 20k", "Handgepäck", "nicht mehr vegan", "I'm vegetarian", "that was wrong", "there are five in all",
)  # fmt: skip


def lost(old: Frame, new: Frame, cosine: float, among: int) -> Change | None:
    """Return the change that is judged and out of reach."""
    return None if ChangeBounds(new, among).within(old, cosine) else judge(old, new, cosine, among=among)


@pytest.mark.parametrize("among", CROWDS)
def test_no_change_of_an_example_is_out_of_reach(among: int) -> None:
    chosen = Random(among).sample(EXAMPLES, 600)
    found = [(Frame(one.known), Frame(one.said), cosine) for one in chosen for cosine in (0.0, 0.3, 0.5, 0.75, 1.0)]
    changes = [judge(old, new, cosine, among=among) for old, new, cosine in found]
    assert sum(change is not None for change in changes) > 50
    assert [one for one in found if lost(*one, among) is not None] == []


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map(". ".join),
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map(", and ".join),
    st.floats(0.0, 1.0),
    st.sampled_from(CROWDS),
)
def test_no_change_is_out_of_reach(old: str, new: str, cosine: float, among: int) -> None:
    assert lost(Frame(old), Frame(new), cosine, among) is None


@pytest.mark.parametrize("among", CROWDS)
def test_below_the_least_cosine_nothing_is_within_reach(among: int) -> None:
    chosen = Random(among).sample(EXAMPLES, 200)
    bounds = [(ChangeBounds(Frame(one.said), among), Frame(one.known)) for one in chosen]
    below = [(one, old, one.least_cosine - 1e-6) for one, old in bounds if one.least_cosine > 0]
    assert len(below) > 10
    assert not any(one.within(old, cosine) for one, old, cosine in below)


RULED = (
    ("The party is on Saturday.", "I meant Friday."),
    ("My daughter is 5 years old.", "My daughter is 6 years old now."),
    ("I work for Aldi.", "I don't work for Aldi."),
    ("I'm allergic to nuts.", "No, not nuts, hazelnuts."),
    ("I've stopped running.", "I'm running again."),
    ("I live in Bonn.", "I moved to Kiel."),
    ("My knee hurts.", "My knee is fine again."),
    ("My blood group is A.", "Actually, my blood group is AB."),
    ("I'm pregnant.", "We had our baby."),
    ("I bank with Barclays.", "I switched to Monzo."),
    ("I'm vegetarian.", "I eat meat."),
    ("My boss is Tom.", "My boss is Ana now."),
    ("I have a Golf.", "I sold the car."),
    ("Our dog Bruno is eleven.", "We had to say goodbye to Bruno."),
    ("I take Portuguese lessons.", "I stopped the Portuguese lessons."),
    ("There will be 12 people at the picnic.", "Make that 15 people at the picnic, the twins are coming."),
    ("I take ramipril 5 mg.", "I take ramipril 10 mg."),
    ("I rarely drink coffee.", "I often drink coffee."),
    ("I take warfarin.", "My doctor took me off warfarin."),
)
"""A pair for each of the rules, in their order."""


def test_every_rule_that_holds_is_among_those_for_the_statement() -> None:
    pairs = [(Frame(one.known), Frame(one.said)) for one in Random(3).sample(EXAMPLES, 400)]
    pairs += [(Frame(old), Frame(new)) for old, new in RULED]
    held = [(rule, new) for old, new in pairs for rule in CERTAIN_CHANGES if rule(old, new)]
    assert {rule for rule, _ in held} == set(CERTAIN_CHANGES)
    assert [(rule.__name__, new.text) for rule, new in held if rule not in rules_for(new)] == []


def test_a_statement_that_no_rule_may_hold_for_is_asked_none() -> None:
    assert rules_for(Frame("The kitchen of the office has a new coffee machine.")) == ()


def test_what_is_certainly_none_changes_nothing_at_a_lower_cosine() -> None:
    said = [Frame(text) for text in islice(statements(7), 60)]
    reaches = [(new, reach) for new in said if (reach := ChangeBounds(new, 32)).certainly_none(0.5)]
    assert reaches
    assert not [
        (old, new) for new, _ in reaches for old in said for cosine in (0.1, 0.5) if judge(old, new, cosine, among=32)
    ]


def test_most_pairs_of_a_long_chat_are_out_of_reach() -> None:
    said = [Frame(text) for text in islice(statements(11), 80)]
    within = sum(ChangeBounds(new, 32).within(old, 0.5) for new in said for old in said if old is not new)
    assert within < 0.2 * 80 * 79


def test_what_takes_something_back_may_change_anything() -> None:
    assert ChangeBounds(Frame("That was wrong, it's Ingrid."), 32).within(Frame("My sister is Nora."), 0.0)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We fly with Handgepäck to Lyon.", "We switched to fly with Aufgabegepäck to Lyon."),
        ("Our club has 48 members.", "Our club has 85 members."),
        ("I love cilantro.", "I can't stand cilantro."),
        ("My rent is 850 euros.", "The rent went up to 910 euros."),
        ("We have two kids.", "Our third was born in May."),
        ("The shop quotes prices in USD.", "The shop switched to prices in EUR."),
    ],
)
def test_what_a_rule_decides_is_within_at_a_cosine_that_decides_nothing(old: str, new: str) -> None:
    found = Frame(old), Frame(new), OUTGROWN_COSINE
    assert judge(*found, among=10_000) is not None
    assert ChangeBounds(found[1], 10_000).within(found[0], OUTGROWN_COSINE)


def _silent_ones(new: Frame, earlier: list[Frame]) -> list[Change | None]:
    return [judge(old, new, cosine, among=among) for old in earlier for cosine in (0.3, 0.6, 0.9) for among in (1, 32)]


def test_what_changes_nothing_is_judged_to_change_nothing() -> None:
    random = Random(7)
    told = [Frame(one.said) for one in random.sample(EXAMPLES, 900)] + [
        Frame(text) for text in islice(statements(7), 200)
    ]
    told += [Frame(text) for text in ("I'm not a morning person.", "I don't think so.", "Not my third nephew, no.")]
    silent = [new for new in told if changes_nothing(new)]
    assert any(new.negated for new in silent), "those that deny are asked for their rules, too"
    for new in silent:
        assert set(_silent_ones(new, random.sample(told, 8))) == {None}, new.text
