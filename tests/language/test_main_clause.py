from __future__ import annotations

from mnemic.language.sentences.main_clause import main_clause
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_clause_behind_dass_is_told_as_a_main_clause() -> None:
    EXAMPLES.assert_right(main_clause, "a_clause_behind_dass_is_told_as_a_main_clause")


def test_what_is_not_certain_is_left_in_its_order() -> None:
    EXAMPLES.assert_right(
        lambda said: main_clause(said) in (said, "ich habe einen Hund"), "what_is_not_certain_is_left_in_its_order"
    )
