"""Frames of parts of a text that speaks plainly state what the same words state by themselves."""

from __future__ import annotations

import pytest

from mnemic.language.changes.statement_parts import frames_of_parts
from mnemic.language.frames.stated_frame import PlainlySpokenFrame
from mnemic.language.frames.stated_part import speaks_plainly
from mnemic.language.frames.statement_frame import Frame

TEXTS = (
    "Hey Nora, I live in Lisbon with my dog Rex, and I work at Siemens. Do you know it?",
    "Wow! I play tennis on Mondays and Thursdays, and my sister Ana coaches the girls. What about you?",
    'Is that so? I said "never again in my whole life", but I drive a van and sell cheese.',
    "We have two kids; my wife teaches, and I bake. Can you remember that, Tom?",
    "Ich wohne in Bonn und spiele Klarinette. Weißt du das?",
    "J'habite a Nantes avec mes deux chats et je joue du piano. Tu le sais?",
)


@pytest.mark.parametrize("text", TEXTS)
def test_parts_state_what_they_state_alone(text: str) -> None:
    for part in frames_of_parts(text):
        assert (part.said, part.plain, part.stems) == (
            (alone := Frame(part.text)).said,
            alone.plain,
            alone.stems,
        )


@pytest.mark.parametrize("text", TEXTS[:4])
def test_a_text_that_asks_greets_or_quotes_speaks_plainly(text: str) -> None:
    assert speaks_plainly(text)
    assert any(isinstance(part, PlainlySpokenFrame) for part in frames_of_parts(text))


@pytest.mark.parametrize(
    "text",
    [
        *TEXTS[4:],
        "If I lived in Rome, I would learn Italian, and I have a cat?",
        "I sold my house, just kidding, and I work at Siemens?",
        "I live in Lisbon, which is funny, and I have a dog?",
    ],
)
def test_a_text_with_a_word_of_what_is_unreal_does_not(text: str) -> None:
    assert not speaks_plainly(text)
