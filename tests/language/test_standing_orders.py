"""Orders for a kind of occasion, by their form."""

from __future__ import annotations

from mnemic.language.sentences.standing_orders import is_standing_order
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_an_order_for_an_occasion_is_one() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_standing_order(text)), "an_order_for_an_occasion_is_one")


def test_a_supposition_is_no_order() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_standing_order(text)), "a_supposition_is_no_order")
