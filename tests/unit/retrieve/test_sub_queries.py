from __future__ import annotations

from mnemic.retrieve.fusion import either, longer
from mnemic.retrieve.question import parts_of
from mnemic.types import Scored
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_question_about_several_things_is_cut() -> None:
    EXAMPLES.assert_right(parts_of, "a_question_about_several_things_is_cut")


def test_a_question_about_one_thing_stays_whole() -> None:
    EXAMPLES.assert_right(parts_of, "a_question_about_one_thing_stays_whole")


def test_of_a_long_text_the_beginning_is_read() -> None:
    asked = "How many cats had I then? How many now?"
    assert parts_of("so " * 300 + asked)
    assert parts_of("so " * 400 + asked) == ()


def test_what_answers_one_part_answers_the_question() -> None:
    assert either({"a": 0.2, "b": 0.9}, {"a": 0.7, "c": 0.1}) == {"a": 0.7, "b": 0.9, "c": 0.1}


def test_a_list_grows_by_what_it_does_not_have() -> None:
    one, two, three = Scored("a", 3.0), Scored("b", 2.0), Scored("b", 9.0)
    assert longer({"vector": [one, two]}, {"vector": [three, Scored("c", 1.0)], "keyword": [one]}) == {
        "vector": [one, two, Scored("c", 1.0)],
        "keyword": [one],
    }
