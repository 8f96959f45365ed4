"""Parts of a statement, and what goes on of it when a later one closes it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.changes.change_classifier import judge
from mnemic.language.changes.statement_parts import frames_of_parts, rest, separate
from mnemic.language.frames.stated_frame import about_a_name
from mnemic.language.frames.statement_frame import Frame

GOES_ON = [
    ("I live in Lisbon with my dog Rex", "I moved to Porto", "My dog Rex."),
    (
        "I live in Lisbon with my dog Rex and I play the cello.",
        "I moved to Porto.",
        "My dog Rex. I play the cello.",
    ),
    ("I teach chemistry and coach the swimmers.", "I've stopped teaching.", "I coach the swimmers."),
    ("We have a beagle named Otis and a parrot named Kiwi.", "Otis died.", "We have a parrot named Kiwi."),
    ("I'm vegetarian and my wife is allergic to nuts.", "I eat meat again.", "My wife is allergic to nuts."),
    ("I'm a vegetarian, no nuts please.", "I eat meat again.", "No nuts please."),
    ("I'm 34, I live in Oslo and I play the cello.", "I moved to Bergen.", "I'm 34. I play the cello."),
    ("My sister Ana, who is a vet, lives in Rome.", "Ana moved to Milan.", "My sister Ana, who is a vet."),
    (
        "I teach yoga at the centre and every Tuesday evening I swim.",
        "I don't teach yoga at the centre any more.",
        "Every Tuesday evening I swim.",
    ),
    ("I work at Siemens and Bosch.", "I left Siemens.", "I work at Bosch."),
    ("I use Python at work and Rust at home.", "I switched from Python to Go.", "I use Rust at home."),
    ("Our stack is Ruby, Redis, and Sentry.", "We replaced Redis.", "Our stack is Ruby. Our stack is Sentry."),
    ("Ich arbeite bei Bosch und spiele Klarinette.", "Ich habe bei Bosch gekündigt.", "Ich spiele Klarinette."),
    ("J'habite à Lille avec mes deux filles.", "On a déménagé à Metz.", "Mes deux filles."),
    ("Tengo dos gatos y trabajo en Seat.", "Dejé Seat.", "Tengo dos gatos."),
    ("Abito a Torino e ho due gatti.", "Mi sono trasferita a Genova.", "Ho due gatti."),
    ("Moro em Braga com a minha irmã Rita.", "Mudei-me para Faro.", "A minha irmã Rita."),
    ("Ik woon in Gent met mijn zoon Daan.", "Ik ben verhuisd naar Brugge.", "Mijn zoon Daan."),
]
NOTHING_GOES_ON = [
    ("I live in Lisbon.", "I moved to Porto."),
    ("My boss is Karen, and she sits in Denver.", "My boss is Tom now."),  # "she" is Karen
    ("My gym is FitX and I go there on Mondays.", "I quit FitX."),  # "there" is FitX
    ("I take metformin and aspirin.", "I stopped taking pills."),  # of neither more than of the other
    ("I live in Lisbon with my dog.", "I moved to Porto with my dog."),  # said again
    ("I live in Lisbon, you know.", "I moved to Porto."),
    ("I go to the gym on Mondays and Fridays.", "I quit the gym."),  # "on" belongs to both days
    ("I sing in a choir, every Tuesday evening.", "I quit the choir."),
    ("I play chess at the club, every Tuesday evening.", "I switched from chess to go."),
    ("Always show me whole files, never patches.", "Only patches from now on."),
    ("Immer auf Deutsch antworten, keine Emojis.", "Ab jetzt auf Englisch."),
]


def _rest(old: str, new: str, *, ended: bool = False) -> str:
    told = Frame(new)
    return rest(old, told, lambda part: _probability(part, told), ended=ended)


def _probability(part: Frame, new: Frame) -> float:
    change = judge(part, new, 0.5)
    return 0.0 if change is None else change.probability


@pytest.mark.parametrize(("old", "new", "left"), GOES_ON)
def test_what_a_later_statement_is_not_about_goes_on(old: str, new: str, left: str) -> None:
    assert _rest(old, new) == left


@pytest.mark.parametrize(("old", "new"), NOTHING_GOES_ON)
def test_what_says_one_thing_or_leans_on_what_is_over_does_not(old: str, new: str) -> None:
    assert _rest(old, new) == ""


def test_a_relation_stays_known_where_only_the_name_is_used() -> None:
    assert _rest("My nephew Leo lives in Bonn.", "Leo moved to Ulm.") == "My nephew Leo."
    assert _rest("My nephew Leo lives in Bonn.", "My nephew moved to Ulm.") == ""
    assert _rest("I live … with my dog Rex.", "Rex died.", ended=True) == ""


def test_a_long_text_is_closed_as_a_whole() -> None:
    assert _rest("I live in Oslo and I play the cello. " + "It rains. " * 50, "I moved to Bergen.") == ""


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I like tea.", ()),
        ("I choose between tea and coffee.", ()),
        ("I have asthma, a bad knee and two sons.", ("I have asthma", "I have a bad knee", "I have two sons")),
        ("I have a bad back and it hurts.", ("I have a bad back", "it hurts")),
    ],
)
def test_a_part_begins_with_a_list_a_clause_or_a_companion(text: str, parts: tuple[str, ...]) -> None:
    assert separate(text) == parts


def test_what_goes_on_is_judged_by_the_frames_that_were_compared() -> None:
    text, judged = "I live in Oslo and I play the cello.", []
    compared = frames_of_parts(text)

    rest(text, Frame("I moved to Bergen."), lambda frame: judged.append(frame) or 0.0)  # type: ignore[func-returns-value]
    assert [id(frame) for frame in judged] == [id(frame) for frame in compared]


NAMING = ["Lea", "lea", "Ümit", "moved", "lives", "is", "no", "my", "sister", "'s", "we", ".", ",", "-", '"', "if", "?"]


@given(st.lists(st.sampled_from(NAMING), max_size=9).map(" ".join))
def test_a_text_without_a_verb_behind_a_name_is_about_none(text: str) -> None:
    assert about_a_name(frame := Frame(text)) == frame.subject.startswith("name:")


@given(st.text(st.sampled_from("I my no a Rex with and,.;!?… 'é\n3"), max_size=200))
def test_any_text_has_a_rest_or_none(text: str) -> None:
    assert isinstance(_rest(text, "I moved to Porto."), str)


def test_of_a_name_that_is_corrected_nothing_goes_on_in_its_old_spelling() -> None:
    new = "Small typo: she spells it Ane, with an e."
    assert _rest("My daughter Anne starts school in autumn.", new) == ""
