from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.sentences.clauses import clauses, sentences
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_clause_begins_where_a_subject_or_an_order_does() -> None:
    EXAMPLES.assert_right(
        lambda text: [clause.text for clause in clauses(text)], "a_clause_begins_where_a_subject_or_an_order_does"
    )


def test_only_the_last_clause_of_a_question_asks() -> None:
    assert [clause.asks for clause in clauses("I'm vegan, what can I eat? Fine.")] == [False, True, False]


@given(st.text(st.sampled_from("aI ,;.!?-—and but\n"), max_size=120))
def test_clauses_stand_where_they_say_in_order(text: str) -> None:
    last = 0
    for clause in clauses(text):
        assert text[clause.start : clause.end] == clause.text
        assert last <= clause.start < clause.end
        assert clause.text in clause.sentence
        last = clause.end
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in sentences(text))


def test_a_german_ordinal_ends_no_sentence() -> None:
    text = "Die Prüfung ist am 3. Mai um 10 Uhr. Sie dauert bis 12. Danach feiern wir."
    assert [text[a:b] for a, b in sentences(text)] == [
        "Die Prüfung ist am 3. Mai um 10 Uhr.", "Sie dauert bis 12.", "Danach feiern wir.",
    ]  # fmt: skip


def test_a_day_in_german_ends_no_sentence_that_goes_on() -> None:
    text = "Pakete bitte bis 3.1. zu meinen Eltern. Ab 14.12. bin ich weg. Es war der 4.5. Danach kam er."
    assert [text[a:b] for a, b in sentences(text)] == [
        "Pakete bitte bis 3.1. zu meinen Eltern.", "Ab 14.12. bin ich weg.", "Es war der 4.5.", "Danach kam er.",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["Ich fahre immer 2. Klasse.", "Wir wohnen im 4. Stock.", "Am 3. Mai ziehen wir um."])
def test_a_german_ordinal_before_its_noun_ends_none(text: str) -> None:
    assert sentences(text) == [(0, len(text))]


def test_a_number_before_another_noun_may_end_one() -> None:
    assert len(sentences("Es waren 12. Danach ging ich.")) == 2


def test_what_is_made_so_is_one_clause() -> None:
    (only,) = clauses("My allergies make it so I can't have a cat.")

    assert only.text == "My allergies make it so I can't have a cat."


@pytest.mark.parametrize(
    ("text", "told", "asked"),
    [
        ("I'm on warfarin, can I take ibuprofen?", "I'm on warfarin", "can I take ibuprofen?"),
        ("I've got asthma, is it ok to run?", "I've got asthma", "is it ok to run?"),
        ("we have a newborn, any tips?", "we have a newborn", "any tips?"),
        ("Ich vertrage keine Laktose, welche Milch hilft?", "Ich vertrage keine Laktose", "welche Milch hilft?"),
        ("Soy celíaca, ¿puedo comer cuscús?", "Soy celíaca", "¿puedo comer cuscús?"),
        ("J'ai un bébé, comment le porter ?", "J'ai un bébé", "comment le porter ?"),
        ("Can you check it, my daughter can't have dairy?", "my daughter can't have dairy", "Can you check it"),
    ],
)
def test_what_is_told_beside_a_question_is_not_part_of_it(text: str, told: str, asked: str) -> None:
    assert {one.text: one.asks for one in clauses(text)} == {told: False, asked: True}
