"""Orders for a kind of occasion, arrangements, and judgements of other people, by their form."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.arrangements import is_arrangement
from mnemic.language.sentences.judgements import is_gossip
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.temporary_states import is_in_jest
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


NOT_ARRANGED = (
    "The film is for people who like horror.",
    "The population is six million.",
    "Das Paket ist bei der Nachbarin.",
    "There are people who think so.",
)


def test_an_order_for_an_occasion_is_one() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_standing_order(text)), "an_order_for_an_occasion_is_one")


def test_a_supposition_is_no_order() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_standing_order(text)), "a_supposition_is_no_order")


def test_a_headcount_or_a_time_is_an_arrangement() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_arrangement(text)), "a_headcount_or_a_time_is_an_arrangement")


@pytest.mark.parametrize("text", NOT_ARRANGED)
def test_talk_of_the_world_is_no_arrangement(text: str) -> None:
    assert not is_arrangement(text)


def test_a_judgement_or_news_of_a_stranger_is_gossip() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_gossip(text)), "a_judgement_or_news_of_a_stranger_is_gossip")


def test_what_helps_to_know_of_people_is_no_gossip() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_gossip(text)), "what_helps_to_know_of_people_is_no_gossip")


def test_a_threat_that_laughter_takes_back_is_a_joke() -> None:
    assert is_in_jest("One more Monday like this and I become a shepherd, haha.")
    assert is_in_jest("Noch so ein Tag und ich werde Schäfer, haha.")
    assert not is_in_jest("One more lesson and I have my licence.")
