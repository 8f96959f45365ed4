from __future__ import annotations

import pytest

from mnemic.retrieve.fusion import either, longer
from mnemic.retrieve.sub_queries import parts_of
from mnemic.types import Scored


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("How many days lie between the wedding and the flight?", ("the wedding", "the flight")),
        ("Which did I buy first, the kettle or the toaster?", ("the kettle", "the toaster")),
        ("Which came later: the storm, or the strike?", ("the storm", "the strike")),
        ("What is the total cost of the new tent and the kayak?", ("the new tent", "the kayak")),
        (
            "How long had I lived in Graz when I met Imre?",
            ("How long had I lived in Graz", "I met Imre"),
        ),
        ("How many cats had I then? How many now?", ("How many cats had I then?", "How many now?")),
    ],
)
def test_a_question_about_several_things_is_cut(query: str, parts: tuple[str, ...]) -> None:
    assert parts_of(query) == parts


@pytest.mark.parametrize(
    "query",
    [
        "",
        "Where does Nora live?",
        "Do I prefer tea or coffee?",
        "What did she say when I called?",
        "I cannot sleep. Any tips?",
        "Who sold the house and the car?",
        "Is it true? I doubt it.",
        "Where does Nora live? And why?",
        "Is it between this and that?",
        "What is the total spent tents and kayaks?",
    ],
)
def test_a_question_about_one_thing_stays_whole(query: str) -> None:
    assert parts_of(query) == ()


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
