"""What people do not expect to be stored without being asked, told apart from what is only near it."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.special_topics import is_special, special_topics
from mnemic.language.sentences.tables.values import job
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_health_is_special() -> None:
    EXAMPLES.assert_right(special_topics, "health_is_special")


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
    "text", ["I earn 2300 euros net.", "She makes $4,100 gross.", "We earn 60k before tax.", "He is paid £30 an hour."]
)
def test_what_somebody_earns_is_special(text: str) -> None:
    assert special_topics(text) == {"pay"}


def test_what_is_only_near_it_is_not() -> None:
    EXAMPLES.assert_right(special_topics, "what_is_only_near_it_is_not")


def test_what_a_person_is_has_and_does_is_special() -> None:
    EXAMPLES.assert_right(
        lambda text, topic: special_topics(text) == {topic}, "what_a_person_is_has_and_does_is_special"
    )


def test_what_only_names_such_things_is_not() -> None:
    EXAMPLES.assert_right(special_topics, "what_only_names_such_things_is_not")


def test_they_are_recognised_in_six_languages_and_what_is_ordinary_is_not() -> None:
    EXAMPLES.assert_right(lambda text, topic: topic in special_topics(text), "said_in_six_languages")
    EXAMPLES.assert_right(lambda text: bool(special_topics(text)), "ordinary_in_six_languages")


def test_a_belief_or_a_status_is_no_job() -> None:
    assert [job(one) for one in ("asylum seeker", "Protestant", "socialist", "ex-offender", "refugee")] == [None] * 5
    assert [job(one) for one in ("conductor", "librarian")] == ["conductor", "librarian"]


def test_only_the_topics_that_are_asked_for_count() -> None:
    assert is_special([None, "", "I have asthma."], {"health"})
    assert not is_special(["I have asthma."], {"papers"})
