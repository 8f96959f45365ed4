"""How a query is read."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.questions.times import NamedDate, named_date
from mnemic.language.text.time_expressions import READ
from mnemic.retrieve.question import first_person, names_of_people, read_question, spelled_keys
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_the_vector_is_made_of_the_question_in_the_first_person() -> None:
    question = read_question("What did Ana's son tell Ana?", speakers={"Ana", "Ben"})
    assert question.embedded == "What did my son tell I?"
    assert question.speakers == {"Ana"}
    assert "Ana" not in question.keywords
    assert "son" in question.keywords


def test_roles_are_no_names_and_i_is_the_asker() -> None:
    question = read_question("What did the user say I like?", speakers={"user", "assistant"})
    assert question.embedded == "What did the user say I like?"
    assert question.speakers == {"user"}
    assert read_question("What do I like?", speakers={"Ana"}).speakers == frozenset()


def test_who_asks_for_what_the_other_side_said_asks_about_no_speaker() -> None:
    EXAMPLES.assert_right(
        lambda text: read_question(text, speakers={"user", "assistant"}).speakers,
        "who_asks_for_what_the_other_side_said_asks_about_no_speaker",
    )


def test_a_name_that_is_a_common_word_counts_only_as_written() -> None:
    assert first_person("what will happen", names_of_people(["Will"])) == "what will happen"
    assert first_person("what did Will do", names_of_people(["Will"])) == "what did I do"


def test_a_first_name_is_enough_where_one_speaker_has_it() -> None:
    speakers = {"Ana Souza", "Ben Adler"}
    question = read_question("What did Ana's son tell Ben Adler?", speakers=speakers)
    assert question.speakers == speakers
    assert question.embedded == "What did my son tell I?"
    assert question.keywords == "son tell ?"
    assert read_question("What did Souza say?", speakers=speakers).speakers == frozenset()


@pytest.mark.parametrize(
    ("query", "speakers", "named"),
    [
        ("What did Ana say?", {"Ana Souza", "Ana Lima"}, frozenset()),
        ("What did Ana say?", {"Ana Souza", "Ben Ana"}, frozenset()),
        ("What did Ana say?", {"Ana", "Ana Souza"}, {"Ana"}),
        ("What did Ana Lima say?", {"Ana Souza", "Ana Lima"}, {"Ana Lima"}),
        ("What will Dr. Souza do?", {"Dr. Souza", "Ben"}, {"Dr. Souza"}),
        ("What will dr say?", {"Dr. Souza", "Ben"}, frozenset()),
        ("what will happen", {"Will Smith", "Ben"}, frozenset()),
        ("what did Will do", {"Will Smith", "Ben"}, {"Will Smith"}),
        ("What is a rule?", {"A Rule", "Ben"}, {"A Rule"}),
    ],
)
def test_a_first_name_of_several_is_nobodys(query: str, speakers: set[str], named: set[str]) -> None:
    assert read_question(query, speakers=speakers).speakers == named


def test_phrases_and_questions_of_common_words_keep_their_words() -> None:
    assert read_question('who said "the who"').keywords == 'who said "the who"'
    assert read_question("who is it").keywords == "who is it"


def test_neighbouring_words_spell_keys() -> None:
    assert "update_channel" in spelled_keys("Which update channel should I use?")
    assert "channel_update" not in spelled_keys("Which update channel should I use?")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What happened on 7 May 2023?", NamedDate(2023, 5, 7)),
        ("What happened on May 7th, 2023?", NamedDate(2023, 5, 7)),
        ("Where was she in March?", NamedDate(None, 3)),
        ("What did he buy in 2022?", NamedDate(2022)),
        ("What may she do?", None),
    ],
)
def test_a_named_date_is_read(query: str, expected: NamedDate | None) -> None:
    assert named_date(query) == expected


def test_something_is_told_on_its_day_or_soon_after() -> None:
    seventh = NamedDate(2023, 5, 7)
    assert [seventh.may_be_said_on(date(2023, 5, day)) for day in (5, 6, 17, 18)] == [False, True, True, False]
    assert NamedDate(None, 12).may_be_said_on(date(2024, 1, 9))
    assert not NamedDate(2023, 2, 31).may_be_said_on(date(2023, 3, 3))


@given(st.text(max_size=300), st.frozensets(st.text(min_size=1, max_size=12), max_size=4))
def test_any_query_can_be_read(query: str, speakers: frozenset[str]) -> None:
    question = read_question(query, speakers=speakers)
    assert question.text == query
    assert question.speakers <= speakers


def test_of_a_long_text_the_beginning_tells_the_date() -> None:
    assert read_question("In May 2023 " + "so " * READ).names_date == NamedDate(2023, 5)
    assert read_question("so " * READ + "in May 2023").names_date is None
