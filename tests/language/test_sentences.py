"""What a sentence is: a fact, a question, a habit, an order, a request to memory, an answer, something delicate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.questions.asks_only import asks_only
from mnemic.language.questions.attributes import stated_work
from mnemic.language.questions.small_talk import is_small_talk
from mnemic.language.sentences.answers import question_of, statement_of
from mnemic.language.sentences.categories import HABIT
from mnemic.language.sentences.classify.classifier import LABELS, Opinion
from mnemic.language.sentences.clauses import clauses, sentences
from mnemic.language.sentences.remember import asked_to_remember, bare_request, is_asked_afterwards
from mnemic.language.sentences.requests_about_memory import asked_of_memory, split_requests
from mnemic.language.sentences.special_topics import is_special, special_topics
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.statements import (
    BODY_KEEP_FROM,
    KEEP_FROM,
    NAMED_FROM,
    SAID_FROM,
    UNSURE_FROM,
    URGENT_FROM,
    WORDS_KEEP_FROM,
    Piece,
    Statement,
    decide_pieces,
)
from mnemic.language.sentences.tables.values import job
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


def test_a_mere_question_tells_nothing() -> None:
    EXAMPLES.assert_right(lambda text: bool(asks_only(text)), "a_mere_question_tells_nothing")


def test_what_tells_something_is_no_mere_question() -> None:
    EXAMPLES.assert_right(lambda text: bool(asks_only(text)), "what_tells_something_is_no_mere_question")


def test_tells_a_habit() -> None:
    EXAMPLES.assert_right(lambda text: bool(HABIT.match(text)), "tells_a_habit")


def test_tells_none() -> None:
    EXAMPLES.assert_right(lambda text: bool(HABIT.match(text)), "tells_none")


def test_greetings_thanks_and_nods() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_small_talk(text)), "greetings_thanks_and_nods")


def test_whatever_else_is_asked() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_small_talk(text)), "whatever_else_is_asked")


def test_an_order_for_an_occasion_is_one() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_standing_order(text)), "an_order_for_an_occasion_is_one")


def test_a_supposition_is_no_order() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_standing_order(text)), "a_supposition_is_no_order")


def test_what_is_said_of_ones_own_work() -> None:
    EXAMPLES.assert_right(stated_work, "what_is_said_of_ones_own_work")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Remember I use a screen reader", "I use a screen reader"),
        ("Please remember: the code is in the safe", "the code is in the safe"),
        ("don't forget that my flat has no lift", "my flat has no lift"),
        ("For the record, we pay on delivery.", "we pay on delivery."),
        ("@helper note: the keys are with Ana", "the keys are with Ana"),
        ("can you remember that I teach on Fridays", "I teach on Fridays"),
        ("Keep in mind that the shop is shut in May", "the shop is shut in May"),
        ("Merk dir bitte: ich esse kein Fleisch", "ich esse kein Fleisch"),
        ("N'oublie pas que je travaille le samedi", "je travaille le samedi"),
        ("No olvides que trabajo los sábados", "trabajo los sábados"),
        ("Ricordati che lavoro il sabato", "lavoro il sabato"),
        ("Lembra-te que trabalho ao sábado", "trabalho ao sábado"),
        ("Onthoud dat ik zaterdag werk", "dat ik zaterdag werk"),
    ],
)
def test_a_request_to_remember_shows_where_its_words_begin(text: str, said: str) -> None:
    found = asked_to_remember(text)
    assert found is not None
    assert (text[found[0] :], found[1]) == (said, True)


def test_an_errand_a_memory_and_a_bare_word_ask_for_nothing() -> None:
    EXAMPLES.assert_right(asked_to_remember, "an_errand_a_memory_and_a_bare_word_ask_for_nothing")


def test_words_that_begin_other_sentences_are_no_certain_request() -> None:
    found = asked_to_remember("note the new opening hours")
    assert found is not None
    assert not found[1]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Ana is deaf, so keep that in mind when you plan", True),
        ("Ich bin Diabetikerin, merk dir das", True),
        ("I'll keep an eye on it", False),
    ],
)
def test_a_request_may_come_after_what_it_means(text: str, asked: bool) -> None:
    assert is_asked_afterwards(text) is asked


def test_a_bare_request_to_remember_points_to_the_sentence_beside_it() -> None:
    EXAMPLES.assert_right(bare_request, "a_bare_request_to_remember_points_to_the_sentence_beside_it")


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in asked_of_memory(text)]


def test_a_request_is_recognised() -> None:
    EXAMPLES.assert_right(lambda text, kind, subject: found(text) == [(kind, subject)], "a_request_is_recognised")


def test_what_only_speaks_of_it_is_none() -> None:
    EXAMPLES.assert_right(found, "what_only_speaks_of_it_is_none")


def test_a_message_is_parted_into_its_requests_and_the_rest() -> None:
    text = "I moved to Bergen. Forget what I told you about Oslo! What do you know about me? Thanks."
    requests = "Forget what I told you about Oslo! What do you know about me?"
    assert split_requests(text) == (requests, "I moved to Bergen. Thanks.")
    assert split_requests("I moved to Bergen.") == ("", "I moved to Bergen.")
    assert split_requests("Forget everything about me.") == ("Forget everything about me.", "")


def test_each_sentence_is_looked_at() -> None:
    text = "I moved to Bergen. Forget what I told you about Oslo. What do you know about me?"
    asked = list(asked_of_memory(text))
    assert [one.kind for one in asked] == ["forget", "show"]
    assert text[slice(*asked[0].span)] == "Forget what I told you about Oslo."


def test_a_request_in_other_words() -> None:
    EXAMPLES.assert_right(lambda text, kind, subject: found(text) == [(kind, subject)], "a_request_in_other_words")


@pytest.mark.parametrize(
    "text", ["Forget about the pizza.", "Delete everything after the second line.", "I forgot about my keys."]
)
def test_words_of_a_request_that_ask_nothing_of_memory(text: str) -> None:
    assert found(text) == []


def test_a_request_in_the_words_of_its_language() -> None:
    EXAMPLES.assert_right(
        lambda text, kind, subject: found(text) == [(kind, subject)], "a_request_in_the_words_of_its_language"
    )


def test_what_must_not_be_forgotten_is_no_request_to_forget_it() -> None:
    assert found("Vergeet mijn paspoort niet.") == []


def test_some_are_requests_only_where_something_is_known() -> None:
    EXAMPLES.assert_right(
        lambda text, if_known: [one.if_known for one in asked_of_memory(text)] == [if_known],
        "some_are_requests_only_where_something_is_known",
    )


def _piece(text: str, keep: float, label: str = "fact", *, words_alone: bool = False) -> Piece:
    shares = {label: keep, "chat": 1 - keep}
    opinion = Opinion(shares=tuple(shares.get(one, 0.0) for one in LABELS), words_alone=words_alone)
    return Piece(0, len(text), text, opinion=opinion)


@pytest.mark.parametrize(
    ("text", "label", "words_alone", "least"),
    [
        ("Simple things make me happy", "fact", False, KEEP_FROM),
        ("I paint with Ines", "fact", False, NAMED_FROM),
        ("I rowed 12 miles", "event", False, NAMED_FROM),
        ("Nuts make me ill", "safety", False, BODY_KEEP_FROM),
        ("Nuts make Ines ill", "safety", False, URGENT_FROM),
        ("Answer in short sentences", "instruction", False, URGENT_FROM),
        ("Simple things make me happy", "fact", True, WORDS_KEEP_FROM),
        ("I prefer detailed proofs with diagrams to fully grasp it", "fact", False, SAID_FROM),
        ("and I really prefer small groups", "fact", False, SAID_FROM),
        ("je préfère les petits groupes", "fact", True, SAID_FROM),
        ("Always show the steps when I ask about proofs", "preference", False, SAID_FROM),
        ("Always happy with what comes", "fact", False, KEEP_FROM),
    ],
)
def test_the_least_share(text: str, label: str, words_alone: bool, least: float) -> None:
    kept, left = (
        _piece(text, least + 0.01, label, words_alone=words_alone),
        _piece(text, least - 0.01, label, words_alone=words_alone),
    )
    assert [type(one).__name__ for one in decide_pieces([kept], kept, None)] == ["Statement"]
    reason = "not_understood" if least > UNSURE_FROM else "not_durable"
    assert [one.reason for one in decide_pieces([left], left, None)] == [reason]


def test_what_may_concern_safety_needs_less_whatever_else_it_is() -> None:
    text = "My nephew swims badly"
    shares = {"change": 0.5, "safety": 0.15, "chat": 0.35}
    piece = Piece(0, len(text), text, opinion=Opinion(shares=tuple(shares.get(one, 0.0) for one in LABELS)))
    assert [type(one).__name__ for one in decide_pieces([piece], piece, None)] == ["Statement"]


def test_who_says_prefer_says_a_preference() -> None:
    piece = _piece("I prefer detailed proofs", 0.9, "fact")
    (kept,) = decide_pieces([piece], piece, None)
    assert isinstance(kept, Statement)
    assert kept.category == "preference"


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


def test_a_phrase_answers_a_question() -> None:
    EXAMPLES.assert_right(
        lambda asked, answer: statement_of(question_of(asked), answer).text, "a_phrase_answers_a_question"
    )


def test_nothing_certain_is_answered() -> None:
    EXAMPLES.assert_right(
        lambda asked, answer: statement_of(question_of(asked), answer).text, "nothing_certain_is_answered"
    )


def test_a_model_is_not_confirmed_by_a_bare_yes() -> None:
    assert statement_of(question_of("Are you vegan?"), "yes", confirms=False).text == ""
    assert statement_of(question_of("Where do you live?"), "Graz", confirms=False) == ("I live in Graz.", True)


def test_of_a_models_question_only_the_users_own_value_is_taken() -> None:
    asked = question_of("Do you still work at Aldi?")
    assert statement_of(asked, "No, at Lidl.", confirms=False).text == "I work at Lidl now."


def test_what_is_of_the_moment_need_not_last() -> None:
    assert statement_of(question_of("When's your exam?"), "on Friday") == ("My exam is on Friday.", False)


FIGURES = Path(__file__).with_name("answers.txt")
LEAST = 0.9
"""Share of the dialogues of a language whose answer is understood."""


def test_answers_in_other_languages() -> None:
    def check(language: str) -> Any:
        lines = [line.split(" | ") for line in FIGURES.read_text(encoding="utf-8").splitlines() if " | " in line]
        right = [
            _has(statement_of(question_of(asked), answer).text, wanted)
            for spoken, asked, answer, wanted in lines
            if spoken == language
        ]
        return sum(right) >= LEAST * len(right)

    EXAMPLES.assert_right(check, "answers_in_other_languages")


def _has(stated: str, wanted: str) -> bool:
    """Return True if a statement has each of the words, of which a bar parts those that do as well; or is none."""
    if wanted == "-":
        return stated == ""
    said = stated.casefold()
    return all(any(word in said for word in one.split("|")) for one in wanted.split())
