"""Requests to which nothing that is remembered helps, and requests that look like them."""

from __future__ import annotations

import pytest

from mnemic.language.questions.small_talk import LONGEST, is_small_talk


@pytest.mark.parametrize(
    "text",
    [
        "Sleep well!", "You are fast today.", "Never mind, I found it.", "Cool, thanks a bunch.", "Wow, impressive.",
        "Good to hear from you!", "I will be right back.", "Good morning!", "Thanks, that was helpful.",
        "Haha, never mind.", "How are you today?", "Hi there!",
        "Okay, sounds good.", "See you later!", "What's up?", "Lol, that's funny.", "Nice to meet you.", "Got it.",
        "Good night, take care!", "I appreciate your help.", "You\u2019re the best, thanks!", "¡Hola! Muchas gracias.",
        "Guten Morgen!", "Merci, tout va bien.",
    ],
)  # fmt: skip
def test_greetings_thanks_and_nods(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "You are speaking with Ana", "Is my weekend busy?", "Play something fun", "Good morning! Book me a flight.",
        "Thanks. Where does my sister live?", "What did I say?", "What was it?",
        "Who was it again?", "Did I say thanks?", "How is my day going?", "Can you help me?", "Remind me, please.",
        "What do I love?", "Who do I meet today?", "hello Hana", "ok, 14 items", "", "???", "what time is it",
        "It is about that.", "good " * LONGEST, "Do we have a meeting today? Thanks!",
    ],
)  # fmt: skip
def test_whatever_else_is_asked(text: str) -> None:
    assert not is_small_talk(text)
