"""A list of expressions is looked for only where one of its words stands, and finds the same."""

from __future__ import annotations

from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic_eval.texts import statements
from mnemic_language.changes.change_classifier import judge
from mnemic_language.frames.lexicon import Lexicon, Mark, branches_of_pattern, mark_of_phrase
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.frames.vocabulary import _data, attribute_words, cue_words, plain, value_sorts, word_classes

PHRASES = sorted({phrase for by in _data("cues").values() for told in by.values() for phrase in told})
SAID = [
    *islice(statements(11), 60),
    "I moved to Porto.",
    "I no longer live in Porto.",
    "We have two sons.",
    "Our third was born in May, a girl.",
    "The budget is 20k.",
    "I hate olives.",
    "I love olives.",
    "Savona, not Genoa.",
    "There are 48 members.",
    "We're 85 members already, five altogether.",
    "My contact is Anna Brandt, with two n's.",
    "My sister collects stamps.",
]


def directly(words: Lexicon, text: str) -> frozenset[str]:
    return frozenset(name for name, told in words.expressions.items() if told.search(text))


@pytest.mark.parametrize("around", ["{}", "well {}, they said", "{}!", "x{}", "it's {}er now"])
def test_every_phrase_is_found_as_it_is_without_the_marks(around: str) -> None:
    for phrase in PHRASES:
        text = around.format(plain(phrase.replace("*", "abc")))
        assert cue_words().found(text) == directly(cue_words(), text), text


def test_the_phrases_of_values_are_found_as_well() -> None:
    words, sorts = value_sorts()
    for phrase in (phrase for told in sorts.values() for phrase in told):
        assert words.found(phrase) == directly(words, phrase) != frozenset()


@pytest.mark.parametrize("name", sorted(attribute_words().expressions))
@given(data=st.data())
def test_whatever_tells_an_attribute_has_a_mark_of_it(name: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(attribute_words().expressions[name].compiled))
    assert name in attribute_words().likely(text)


@pytest.mark.parametrize("said", ["i am {} years old", "my {} year old son", "turned {}", "{} kg", "x{}y", "{}"])
def test_an_attribute_is_found_by_its_alternatives_as_by_the_whole(said: str) -> None:
    numbers = [*word_classes()["numbers"], "7", "42", "1999", "0"]
    for text in (said.format(number) for number in numbers):
        assert attribute_words().found(text) == directly(attribute_words(), text), text


def test_attributes_of_ordinary_statements_are_found_by_their_alternatives_as_by_the_whole() -> None:
    texts = [Frame(said).plain for said in SAID]
    found = [attribute_words().found(text) for text in texts]
    assert found == [directly(attribute_words(), text) for text in texts]
    assert any(found)


def test_most_texts_have_few_marks() -> None:
    texts = [Frame(said).plain for said in SAID]
    likely = sum(len(cue_words().likely(text)) for text in texts)
    assert likely < len(texts) * len(cue_words().expressions) / 2


@pytest.mark.parametrize(
    ("phrase", "mark"),
    [
        ("no longer", Mark("longer", whole=True)),
        ("give* up", Mark("give")),
        ("don't", Mark("don", whole=True)),
        ("'s over", Mark("over", whole=True)),
        ("*", Mark("")),
    ],
)
def test_the_mark_of_a_phrase_is_its_longest_word(phrase: str, mark: Mark) -> None:
    assert mark_of_phrase(phrase) == mark


@pytest.mark.parametrize(
    ("pattern", "marks"),
    [
        (r"\b(?:moved?|my flat)\b", [Mark("move"), Mark("flat")]),
        (r"\bi weigh\b|weight", [Mark("weigh", whole=True), Mark("")]),
        (r"\b(?:\d{2} kg|x|10|1)\b", [Mark("0"), Mark("x"), Mark("0"), Mark("0")]),
        (r"\b(?:old )?car\b", [Mark(""), Mark("old", whole=True)]),
    ],
)
def test_the_marks_of_a_pattern(pattern: str, marks: list[Mark]) -> None:
    assert [mark for branch in branches_of_pattern(pattern) for mark in branch.marks] == marks


def test_a_silent_statement_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = [Frame(said) for said in SAID]
    silent = [one for one in frames if one.silent]
    assert 10 < len(silent) < len(frames) - 10
    monkeypatch.setattr(Frame, "silent", False)
    for old, new, cosine in product(frames, [Frame(one.text) for one in silent], (0.13, 0.5, 0.95)):
        assert judge(old, new, cosine) is None, (old, new)
    assert any(judge(old, new, 0.6) for old in frames for new in frames)
