"""Wordings of likes, dislikes, needs and values, whatever they are about."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.likings import LIKING, without_marks_around


@pytest.mark.parametrize(
    "text",
    [
        "I find strong perfume off-putting.",
        "I've always found long queues irritating.",
        "I don't find card games enjoyable.",
        "I have a firm dislike of brass bands.",
        "I've developed an aversion to lifts over the years.",
        "I have trouble with small print.",
        "I'm put off by neon signs.",
        "I am adamant about not flying.",
        "I dread large parties.",
        "I can't get into podcasts.",
        "I don't see the point of cruises.",
        "I've sworn off fizzy drinks.",
        "I'd never choose a tour bus.",
        "Motorways stress me out.",
        "Shared bathrooms are a dealbreaker for me.",
        "Karaoke is not my style.",
        "As someone who can't stand small talk",
        "I value flexible hours.",
        "It's important to me to eat early.",
        "I need silence in order to concentrate.",
        "I learn best through examples.",
        "I'd take a tent over a hotel any day.",
        "I limit myself to one coffee a day.",
        "I get restless in long meetings.",
        "Personally, I find early starts unbearable.",
    ],
)
def test_tells_a_liking(text: str) -> None:
    assert LIKING.match(text)


@pytest.mark.parametrize(
    "text",
    [
        "I find that hard to believe.",
        "I find it sad that he left.",
        "I'm put off by what you said.",
        "I don't trust your answer.",
        "I dread tomorrow.",
        "I have trouble with this exercise.",
        "I can't get into my account.",
        "I lean towards option B.",
        "I favour the second draft.",
        "This film bores me.",
        "The printer is driving me crazy.",
        "He finds horror films off-putting.",
        "I value your opinion.",
        "I need a ticket to Leeds.",
        "I need help to be ready.",
        "Tuesday works best for me.",
        "She is my first choice.",
        "I'm committed to finishing the report today.",
        "I feel lost in this chapter.",
        "I depend on the weather tomorrow.",
    ],
)
def test_tells_none(text: str) -> None:
    assert not LIKING.match(text)


def test_a_liking_in_quotation_marks_alone_is_the_writers() -> None:
    assert without_marks_around('"I hate brass bands."').strip() == "I hate brass bands."
    assert without_marks_around("“I find early starts unbearable.”").strip() == "I find early starts unbearable."


@pytest.mark.parametrize(
    "text",
    [
        'He said "I hate brass bands."',
        '"I hate brass bands." is a line of the song.',
        '"The train leaves at nine."',
        '"I hate brass bands." "So do I."',
    ],
)
def test_other_quotations_keep_their_marks(text: str) -> None:
    assert without_marks_around(text) == text
