"""What people do not expect to be stored without being asked, told apart from what is only near it."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.special_topics import is_special, special_topics
from mnemic.language.sentences.tables.values import job


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


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("My husband is a practising Catholic.", "religion"),
        ("I converted to Islam when I married.", "religion"),
        ("We go to synagogue on Fridays.", "religion"),
        ("I've always been a social democrat.", "politics"),
        ("I voted for the opposition in May.", "politics"),
        ("My father was a member of the Communist Party.", "politics"),
        ("I joined the nurses' union.", "union"),
        ("I'm a union rep at the plant.", "union"),
        ("My daughter is a lesbian.", "orientation"),
        ("I came out as bisexual last year.", "orientation"),
        ("I was arrested for theft.", "record"),
        ("My brother is in prison.", "record"),
        ("We are refugees.", "asylum"),
        ("My asylum application is pending.", "asylum"),
        ("I earn 4,200 euros a month.", "pay"),
        ("My wife makes $120k a year.", "pay"),
        ("I was born on 3 June 1990.", "birth"),
        ("My home address is in the form.", "address"),
        ("I live at 14 Oak Lane.", "address"),
        ("The gate has my face scan.", "biometrics"),
    ],
)
def test_what_a_person_is_has_and_does_is_special(text: str, topic: str) -> None:
    assert special_topics(text) == {topic}


@pytest.mark.parametrize(
    "text",
    [
        "We visited the cathedral and two mosques.",
        "The hotel is near the church.",
        "I like gospel music.",
        "Book the conservative estimate.",
        "I voted with my feet.",
        "We are a party of six.",
        "I study in the European Union.",
        "The rent is 900 euros a month.",
        "I make two cakes a week.",
        "My e-mail address changed.",
        "I live in Oslo.",
        "I was born in Oslo.",
        "I read a novel about a convoy.",
        "I am a nurse.",
        "I am on probation until May.",
    ],
)
def test_what_only_names_such_things_is_not(text: str) -> None:
    assert special_topics(text) == frozenset()


def test_a_belief_or_a_status_is_no_job() -> None:
    assert [job(one) for one in ("asylum seeker", "Protestant", "socialist", "ex-offender", "refugee")] == [None] * 5
    assert [job(one) for one in ("conductor", "librarian")] == ["conductor", "librarian"]


def test_only_the_topics_that_are_asked_for_count() -> None:
    assert is_special([None, "", "I have asthma."], {"health"})
    assert not is_special(["I have asthma."], {"papers"})
