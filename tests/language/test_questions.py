"""What a question asks for: an attribute, a relation, a field of words, a time."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.entities.relation_questions import RELATION_WORDS, read_asked
from mnemic.language.entities.relations import RELATIONS
from mnemic.language.questions.attributes import plainly_asked, statement_opening, words_of_answers
from mnemic.language.questions.times import LONGEST, READ, Clause, Side, clause_of
from mnemic.language.questions.word_fields import WordEvidence, asked_in, evidence
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What do I do for a living?", {"job", "work"}),
        ("what does my brother do", {"job", "work", "brother"}),
        ("Where does Jo come from?", {"originally", "hometown", "Jo"}),
        ("What is the name of my dog?", {"dog"}),
        ("what is my dog called?", {"dog"}),
    ],
)
def test_a_phrase_becomes_words_that_mean_the_same_alone(question: str, words: set[str]) -> None:
    found = set(plainly_asked(question).replace("?", "").split())
    assert words <= found
    assert not {"living", "from", "called", "name"} & found


@pytest.mark.parametrize(
    "question", ["Which sports do I do?", "What is living in the pond?", "What did Ana call it?", "Where is the form?"]
)
def test_other_questions_keep_their_words(question: str) -> None:
    assert plainly_asked(question) == question


def test_statements_say_an_attribute_in_other_words() -> None:
    EXAMPLES.assert_right(
        lambda question, word: word in words_of_answers(question).split(), "statements_say_an_attribute_in_other_words"
    )


def test_a_question_for_nothing_of_the_kind_has_no_such_words() -> None:
    assert words_of_answers("Did the parcel arrive on Monday?") == ""
    assert words_of_answers("how old " * 5_000)


def test_the_statement_that_would_answer_begins_like_it() -> None:
    EXAMPLES.assert_right(statement_opening, "the_statement_that_would_answer_begins_like_it")


@pytest.mark.parametrize(
    ("question", "mine", "said"),
    [
        ("Which city is my sister's employer in?", {"sister"}, {"sister", "works_at", "located_in"}),
        ("What does my older brother do?", {"brother"}, {"brother"}),
        ("my friend's boss", {"friend"}, {"friend", "boss"}),
        ("Where do I work?", {"works_at"}, {"works_at", "lives_in"}),
        ("Wo arbeitet meine Schwester?", {"sister"}, {"sister", "works_at"}),
        ("mein Chef", {"boss"}, {"boss"}),
        ("¿Dónde vive mi tía?", {"aunt"}, {"aunt", "lives_in"}),
        ("Où habite ma mère ?", {"mother"}, {"mother", "lives_in"}),
        ("Who is Ana's sister?", set(), {"sister"}),
        ("What did I say of my own car?", set(), {"owns"}),
        ("What is the weather like?", set(), set()),
        ("", set(), set()),
    ],
)
def test_relations_are_read(question: str, mine: set[str], said: set[str]) -> None:
    asked = read_asked(question)
    assert asked.mine == mine
    assert said <= asked.said
    assert bool(said) == bool(asked.said)


def test_a_relation_of_any_name_is_said_by_its_own_words() -> None:
    asked = read_asked("Whom does Ana mentor?")
    assert asked.says("mentors")
    assert asked.says("mentor_of", common={"of"})
    assert not asked.says("plays_for", common={"for"})
    assert not read_asked("the team that she is in").says("is_in", common={"is", "in"})


def test_every_word_means_a_relation_that_is_read_from_texts() -> None:
    assert frozenset().union(*RELATION_WORDS.values()) <= RELATIONS.keys()


def test_the_language_of_a_question_is_one_of_the_table() -> None:
    EXAMPLES.assert_right(asked_in, "the_language_of_a_question_is_one_of_the_table")


def test_words_are_the_same_related_of_other_subjects_or_unknown() -> None:
    EXAMPLES.assert_right(
        lambda question, statement, language: evidence(question, statement, language)[:4],
        "words_are_the_same_related_of_other_subjects_or_unknown",
    )


def test_a_long_statement_meets_words_by_chance() -> None:
    short = evidence("Wo wohne ich?", "Ich wohne in Ulm.", "german")
    assert short.length == 0.0
    text = "Ich wohne in Ulm, " + " und ".join(f"Zeile{letter}" for letter in "abcdefghijklmnop")
    assert evidence("Wo wohne ich?", text, "german").length > 1.0


def test_nothing_is_met_in_an_empty_text() -> None:
    assert evidence("", "", "german") == WordEvidence(0, 0, 0, 0, 0.0)


def test_a_clause_is_its_event_and_the_side_of_it() -> None:
    EXAMPLES.assert_right(
        lambda query, event, side: clause_of(query) == Clause(text=event, side=Side(side)),
        "a_clause_is_its_event_and_the_side_of_it",
    )


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("the week before the move", 7.0),
        ("What happened two days after the wedding?", 2.0),
        ("What was said the night before the exam?", 1.0),
        ("Who called a couple of weeks before the move?", 14.0),
    ],
)
def test_a_span_next_to_an_event_bounds_it(query: str, days: float) -> None:
    clause = clause_of(query)
    assert clause is not None
    assert clause.days == days


def test_what_tells_no_event_is_no_clause() -> None:
    EXAMPLES.assert_right(lambda query: clause_of(query, date(2024, 6, 15)), "what_tells_no_event_is_no_clause")


@given(st.text(max_size=400))
def test_any_text_is_read(query: str) -> None:
    clause = clause_of(f"before {query}")
    assert clause is None or (clause.text and len(clause.text) <= LONGEST)


def test_a_long_text_is_read_at_its_beginning() -> None:
    assert clause_of("Which flat was it before the move? " + "so " * READ) == Clause(text="the move", side=Side.BEFORE)
    assert clause_of("so " * READ + "before the move") is None
