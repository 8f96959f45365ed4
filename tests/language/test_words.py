"""Words as they are read: terms, spellings, names, languages, months, and what a message says of itself."""

from __future__ import annotations

import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemic.language.questions.question_words import content_words
from mnemic.language.questions.times import named_date
from mnemic.language.sentences.casual_spelling import written_out
from mnemic.language.sentences.tables.values import zone
from mnemic.language.text.analyse import analyse, parse_query, terms
from mnemic.language.text.bm25 import Bm25
from mnemic.language.text.cues import Cues, read_cues
from mnemic.language.text.language import common_words, in_latin_letters, language_of
from mnemic.language.text.names import MAX_RUNS, core, slug, spelled_names
from mnemic.language.text.normalise import alphabets, canonical_value, invisible, nfkc, visible
from mnemic.language.text.time_words import named_month
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_terms() -> None:
    EXAMPLES.assert_right(terms, "terms")


@pytest.mark.parametrize(
    ("text", "also"),
    [
        ("GitHub", {"github", "git", "hub"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("C++", {"c", "c++"}),
        ("C#", {"c", "c#"}),
        ("node.js", {"node", "js"}),
        ("🎉!", {"🎉"}),
    ],
)
def test_further_spellings(text: str, also: set[str]) -> None:
    assert also <= set(terms(text))


def test_further_spellings_stand_apart_from_the_sequence() -> None:
    assert analyse("my GitHub page").sequence == ["my", "github", "page"]


@given(st.text())
def test_text_that_is_not_blank_has_terms(text: str) -> None:
    assert bool(terms(text)) == bool(text.strip())
    assert all(0 < len(term) <= 64 for term in terms(text))


@given(st.text())
@example("\u00c0A#")
def test_composition_and_case_do_not_matter(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert terms(composed) == terms(unicodedata.normalize("NFD", text))


@given(st.text())
def test_a_text_finds_itself(text: str) -> None:
    sequence, extras = analyse(text, stems=True)
    assert set(parse_query(text).terms) == {*sequence, *extras} >= set(terms(text))


def test_queries_quote_phrases_and_know_no_other_syntax() -> None:
    assert parse_query('who saw "Le Chat Noir" AND “the cat” OR x:*').phrases == [
        ("le", "chat", "noir"),
        ("the", "cat"),
    ]
    assert parse_query('half "open').phrases == []
    assert parse_query('"" " "').phrases == []
    assert parse_query("tea Tea TEAS").terms == ["tea"]


def test_threads_agree() -> None:
    text = "running cats and 東京 in update_channel"
    with ThreadPoolExecutor(8) as threads:
        assert len({tuple(found) for found in threads.map(terms, [text] * 200)}) == 1


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_rare_terms_tell_more_and_none_tells_nothing(first: int, second: int) -> None:
    few, many = sorted((first, second))
    assert 0 < Bm25().idf(10_000, many) <= Bm25().idf(10_000, few)


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_repetition_helps_less_and_less(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert Bm25().gain(1.0, low) <= Bm25().gain(1.0, high) < 1.0


def test_a_known_value() -> None:
    bm25 = Bm25(k1=1.2, b=0.75)
    frequency = bm25.frequency(1.0, 2, 10, 20.0)
    assert frequency == pytest.approx(2 / (0.25 + 0.75 * 0.5))
    assert bm25.gain(bm25.idf(10, 1), frequency) == pytest.approx(1.992430164690206 * frequency / (1.2 + frequency))


def test_a_long_field_counts_less_and_the_context_half() -> None:
    bm25 = Bm25()
    assert bm25.frequency(1.0, 1, 40, 20.0) < bm25.frequency(1.0, 1, 20, 20.0) == 1.0
    assert bm25.frequency(bm25.context_weight, 1, 20, 20.0) == 0.5


def test_english_contractions_and_drawn_out_words_are_written_out() -> None:
    EXAMPLES.assert_right(written_out, "english_contractions_and_drawn_out_words_are_written_out")


@given(st.text(max_size=60))
def test_any_text_can_be_read_twice(text: str) -> None:
    once = written_out(text)
    assert written_out(once) == once


ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)))


@given(ANY_TEXT)
def test_values_have_one_canonical_form(text: str) -> None:
    once = canonical_value(text)
    assert canonical_value(once) == once
    assert canonical_value(f"  {text}\n") == once


def test_values_differ_by_more_than_case_and_space() -> None:
    assert canonical_value(" ENGLISH ") == canonical_value("english")
    assert canonical_value("Straße") == canonical_value("STRASSE")
    assert canonical_value("new\u00a0 york") == "new york"
    assert canonical_value("c++") != canonical_value("c")


def test_nfkc_is_the_compatibility_form() -> None:
    assert nfkc("ﬁ①") == "fi1"


def test_what_nobody_sees_is_removed() -> None:
    assert visible(" caf\u0065\u0301\u200b \u202eabc\U000e0041\x1b\x07 ") == "café abc"
    assert visible("a\r\nb\rc\u2028d\te") == "a\nb\nc\nd\te"


@given(ANY_TEXT)
def test_what_is_visible_stays(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert not invisible(once.replace("\n", " ").replace("\t", " "))


def test_letters_of_look_alike_alphabets_are_told_apart() -> None:
    assert alphabets("language") == {"LATIN"}
    assert alphabets("l\u0430nguage") == {"LATIN", "CYRILLIC"}
    assert alphabets("好み") == set()


def test_one_name() -> None:
    EXAMPLES.assert_right(lambda one, other, label: slug(one, label) == slug(other, label), "one_name")


def test_two_names() -> None:
    EXAMPLES.assert_right(lambda one, other, label: slug(one, label) != slug(other, label), "two_names")


@given(st.text(min_size=1, max_size=80), st.sampled_from(["person", "organisation", "place", "thing"]))
def test_a_slug_is_short_plain_and_settled(name: str, label: str) -> None:
    found = slug(name, label)
    assert re.fullmatch(r"[a-z0-9~-]{1,37}", found)
    assert slug(core(name, label), label) == found or core(core(name, label), label) != core(name, label)


COMMON = frozenset({"the", "is", "of", "s", "will", "in"})


def test_a_name_is_spelled_by_a_text_that_holds_it() -> None:
    EXAMPLES.assert_right(
        lambda name, label, text: slug(name, label) in spelled_names(text, common=COMMON),
        "a_name_is_spelled_by_a_text_that_holds_it",
    )


def test_common_words_and_signs_between_sentences_make_no_names() -> None:
    found = spelled_names("the house is big. Ana? Ben", common=COMMON)
    assert {"house", "big", "ana", "ben"} <= set(found)
    assert not {"the", "is", "the-house", "ana-ben"} & set(found)


def test_of_a_long_text_only_the_beginning_is_looked_at() -> None:
    words = [f"word{number}" for number in range(5_000)]
    found = spelled_names(" ".join(words))
    assert "word0" in found
    assert len(found) == MAX_RUNS
    assert len(spelled_names("東" * 5_000)) <= MAX_RUNS


@given(st.text(max_size=60))
def test_any_text_has_names_that_fit_a_key(text: str) -> None:
    found = spelled_names(text, common=COMMON)
    assert len(found) == len(set(found))
    assert all(0 < len(name) <= 37 and name.isascii() for name in found)


@given(st.text(alphabet="abcXYZ é'-.&", min_size=1, max_size=12))
def test_the_quick_way_is_the_slug(name: str) -> None:
    for found in spelled_names(name):
        assert slug(found, "thing") in {found, found.removeprefix("the-")}


def test_the_words_that_a_language_has_most_tell_it() -> None:
    EXAMPLES.assert_right(language_of, "the_words_that_a_language_has_most_tell_it")


@pytest.mark.parametrize("text", ["La casa grande", "Du vin, Karin", "Minha casa de praia, mi casa", "A de B"])
def test_a_short_text_of_words_that_several_languages_share_stays_in_the_default_one(text: str) -> None:
    assert language_of(text) is None
    assert analyse(text, stems=True) == analyse(text)


def test_one_common_word_tells_the_language_of_a_few_words_only() -> None:
    few = "Redis Kafka Nginx Docker Ansible Terraform und Grafana"
    assert language_of(few) == "german"
    assert language_of(few + " Kubernetes") is None


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Meine Schwestern haben zwei Häuser am See.", "Wo ist das Haus meiner Schwester?"),
        ("Mis hermanas trabajan en un hospital.", "¿Dónde trabaja mi hermana?"),
        ("Мои сёстры живут в Лиссабоне.", "Где живёт моя сестра?"),
    ],
)
def test_a_search_knows_the_forms_of_a_word_in_its_language(told: str, asked: str) -> None:
    plain = {*analyse(told).sequence} & {*analyse(asked).sequence}
    found = analyse(told, stems=True)
    assert ({*found.sequence, *found.extras} & {*parse_query(asked).terms}) - plain


@given(st.text())
def test_stems_only_add_and_keep_the_order_of_the_words(text: str) -> None:
    before, after = analyse(text), analyse(text, stems=True)
    assert after.sequence == before.sequence
    assert after.extras[: len(before.extras)] == before.extras


def test_an_english_text_is_analysed_as_it_always_was() -> None:
    text = "My sister lives in Lisbon and works at the hospital."
    assert analyse(text, stems=True) == analyse(text)


def test_common_words_of_the_language_say_nothing_of_what_is_asked() -> None:
    assert content_words("Wo wohnt meine Schwester?") == ["wohnt", "Schwester?"]
    assert "der" in common_words("german")
    assert common_words("tamil") == frozenset()


def test_letters_are_latin_or_not() -> None:
    EXAMPLES.assert_right(in_latin_letters, "letters_are_latin_or_not")


def test_cues_of_a_message() -> None:
    assert read_cues("I saw the lake last year.") == Cues(words=6, asking=0.0, oneself=True, timed=True)
    assert read_cues("How are you?") == Cues(words=3, asking=1.0)
    assert read_cues("Nice. How are you?") == Cues(words=4, asking=0.75)
    assert read_cues("Did I tell you?") == Cues(words=4, oneself=True)
    assert read_cues("") == Cues()


def test_a_month_counts_where_it_stands_like_one() -> None:
    EXAMPLES.assert_right(named_month, "a_month_counts_where_it_stands_like_one")


def test_a_question_may_name_month_and_year_in_any_of_them() -> None:
    named = named_date("¿Dónde vivía en marzo de 2026?")

    assert named is not None
    assert (named.year, named.month, named.day) == (2026, 3, None)


@pytest.mark.parametrize(
    ("said", "stored"),
    [
        ("Pacific time", "PT"),
        ("Pacıfıc time", "PT"),
        ("mountain ſtandard time", "MT"),
        ("europe/madrid", "Europe/Madrid"),
    ],
)
def test_a_time_zone_has_its_usual_spelling(said: str, stored: str) -> None:
    assert zone(said) == stored
