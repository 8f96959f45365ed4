"""Which relations a question says, and which of them are the user's own."""

from __future__ import annotations

import pytest

from mnemic.language.entities.relation_questions import RELATION_WORDS, read_asked
from mnemic.language.entities.relations import RELATIONS


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
