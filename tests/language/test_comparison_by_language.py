"""In each language: what ends a known statement, and what only shares words with it."""

from __future__ import annotations

import csv
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from mnemic.language.comparison import How, Known, compare, is_safety
from mnemic.language.lexicon import BESIDE, LANGUAGES, SLOT, Phrase, lexicon, parse
from mnemic.language.statement import read

DATA = Path(__file__).parent / "data"
FLOOR = 0.8
"""Least share of the changes that are read. What is missed stays beside the newer statement."""


def _pairs(language: str, *kinds: str) -> list[tuple[str, str]]:
    with (DATA / f"comparison.{language}.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [(row["known"], row["new"]) for row in rows if row["kind"] in kinds]


def _closes(known: str, new: str) -> bool:
    evidence = compare(Known(known, safety=is_safety(known)), new)
    return evidence is not None and evidence.how is not How.SAME


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_remark_that_shares_words_ends_nothing(language: str) -> None:
    assert [pair for pair in _pairs(language, "remark") if _closes(*pair)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_statement_on_another_person_or_thing_ends_nothing(language: str) -> None:
    assert [pair for pair in _pairs(language, "different") if _closes(*pair)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_changes_end_what_they_change(language: str) -> None:
    pairs = _pairs(language, "change")
    missed = [pair for pair in pairs if not _closes(*pair)]
    assert len(missed) <= (1 - FLOOR) * len(pairs), missed


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_opposites_are_read(language: str) -> None:
    pairs = _pairs(language, "opposite")
    missed = [pair for pair in pairs if not _closes(*pair)]
    assert len(missed) <= (1 - FLOOR) * len(pairs), missed


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_statement_on_anything_else_ends_one_on_health(language: str) -> None:
    """Every change of the file beside every statement on health of the file, of which it speaks or not."""
    rows = _pairs(language, "change", "remark")
    known = {one for one, _ in rows if is_safety(one)}
    own = {new for one, new in _pairs(language, "change") if is_safety(one)}
    news = {new for _, new in rows} - own
    assert known
    assert [(one, new) for one in known for new in news if _closes(one, new)] == []


OF_ONE_AT_A_TIME = {"another residence", "another employment", "another manager", "ended: partner"}
"""Evidence that a statement may give against any other of its attribute."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_statement_ends_nothing_that_it_is_not_about(language: str) -> None:
    """Every new statement of the file beside every known one that it was not written for."""
    rows = _pairs(language, "change", "remark", "different", "opposite")
    meant: dict[str, set[str]] = {}
    for known, new in rows:
        meant.setdefault(new, set()).add(known)
    content = {known: read(known).whole.content for known, _ in rows}
    wrong = []
    for new, about in meant.items():
        for known, words in content.items():
            evidence = compare(Known(known, safety=is_safety(known)), new)
            alike = any(words & content[one] for one in about)
            if evidence is not None and not alike and evidence.why not in OF_ONE_AT_A_TIME:
                wrong.append((known, new))
    assert wrong == []


ON_HEALTH = {
    "en": ("I", ("I am allergic to cats.", "the cats"), ("I take insulin.", "the insulin"), ("I am diabetic.", "it"),
           ("I use a wheelchair.", "the wheelchair"), ("I am pregnant.", "my pregnancy"), ("I have asthma.", "asthma")),
    "de": ("Ich habe", ("Ich bin gegen Katzen allergisch.", "die Katzen"), ("Ich nehme Insulin.", "das Insulin"),
           ("Ich sitze im Rollstuhl.", "den Rollstuhl"), ("Ich bin schwanger.", "die Schwangerschaft")),
    "nl": ("Ik heb", ("Ik ben allergisch voor katten.", "de katten"), ("Ik slik insuline.", "de insuline"),
           ("Ik zit in een rolstoel.", "de rolstoel"), ("Ik ben zwanger.", "de zwangerschap")),
    "fr": ("J'ai", ("Je suis allergique aux chats.", "les chats"), ("Je prends de l'insuline.", "l'insuline"),
           ("Je suis en fauteuil roulant.", "le fauteuil roulant"), ("Je suis enceinte.", "la grossesse")),
    "es": ("Yo", ("Soy alérgica a los gatos.", "los gatos"), ("Tomo insulina.", "la insulina"),
           ("Uso silla de ruedas.", "la silla de ruedas"), ("Estoy embarazada.", "el embarazo")),
    "it": ("Ho", ("Sono allergica ai gatti.", "i gatti"), ("Prendo l'insulina.", "l'insulina"),
           ("Uso la sedia a rotelle.", "la sedia a rotelle"), ("Sono incinta.", "la gravidanza")),
    "pt": ("Eu", ("Sou alérgica a gatos.", "os gatos"), ("Tomo insulina.", "a insulina"),
           ("Uso cadeira de rodas.", "a cadeira de rodas"), ("Estou grávida.", "a gravidez")),
}  # fmt: skip


def _said(phrase: Phrase, thing: str, *, first: bool) -> str:
    words = [thing if {SLOT, BESIDE} & one else min(one).removesuffix("?") for one in phrase]
    if thing not in words:
        words.insert(0 if first else len(words), thing)
    return " ".join(words)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_end_of_anything_else_ends_a_fact_on_health(language: str) -> None:
    """Every phrase of every language that ends something else, with the thing that the fact names as its object."""
    words = lexicon(language)
    own = {phrase for one in words.attributes if one.safety for phrase in one.ends}
    verbs = {verb for phrase in own for verb in phrase[0]}
    opening, *facts = ON_HEALTH[language]
    others = [
        phrase
        for one in words.attributes
        if not one.safety
        for phrase in (*one.ends, *one.gone, *one.parted)
        if verbs.isdisjoint(phrase[0])
    ]
    texts = [
        (known, f"{opening} {_said(phrase, thing, first=words.verb_last)}.")
        for known, thing in facts
        for phrase in others
    ]
    assert len(texts) > 100
    assert all(is_safety(known) for known, _ in facts)
    assert [pair for pair in texts if _closes(*pair)] == []


def test_every_language_has_the_attributes_of_english() -> None:
    names = [one.name for one in lexicon("en").attributes]
    assert {language: [one.name for one in lexicon(language).attributes] for language in LANGUAGES} == dict.fromkeys(
        LANGUAGES, names
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_words_of_a_language_are_toml(language: str) -> None:
    text = (files("mnemic.language.lexicon") / f"{language}.toml").read_text(encoding="utf-8")
    assert parse(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("I take insulin.", "My brother told me that Ana stopped taking insulin."),
        ("I take insulin.", "My brother told me he stopped taking insulin."),
        ("Ich nehme Insulin.", "Mein Bruder hat mir gesagt, dass Ana Insulin abgesetzt hat."),
        ("I drive a Twingo.", "My brother came over and sold the Twingo."),
        ("My sister has a dog.", "My dog died."),
        ("I have a dog.", "His dog died."),
    ],
)
def test_what_somebody_else_ended_is_not_over_for_the_speaker(known: str, new: str) -> None:
    assert not _closes(known, new)


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_texts_are_read_in_their_language(language: str) -> None:
    """Short ones may be in several: those are read as what stands beside them."""
    texts = {text for pair in _pairs(language, "change", "remark", "different", "opposite") for text in pair}
    misread = {text for text in texts if read(text).lexicon.language != language}
    assert len(misread) <= 0.1 * len(texts), misread
