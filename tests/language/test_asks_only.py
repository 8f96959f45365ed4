"""Messages that only ask, told from requests that tell something."""

from __future__ import annotations

import pytest

from mnemic.language.questions.asks_only import asks_only


@pytest.mark.parametrize(
    "text",
    [
        "Where do I work?",
        "What is my cat called?",
        "what do i eat",
        "And now?",
        "Who is Ana?",
        "What did I tell you about my sister?",
        "How old am I? And my sister?",
        "Do you remember my dog's name?",
        "Who directed Alien?",
        "Wo arbeite ich?",
        "Comment s'appelle mon chat ?",
        "¿Dónde trabajo?",
        "Hoe heet mijn kat?",
    ],
)
def test_a_mere_question_tells_nothing(text: str) -> None:
    assert asks_only(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I work at Siemens.",
        "What a day, I moved to Graz!",
        "Can you recommend a hotel for my trip to Rome?",
        "What are some good lenses for my Sony A7R IV?",
        "I'm vegan. What can I eat?",
        "Where I work there is no canteen.",
        "What should I wear for my interview at Kone?",
        "My sister is called Ana.",
        "How do I keep my Volvo's battery warm if it snows?",
        "When I was in Porto, the sea was cold.",
        "Which one? The blue one.",
    ],
)
def test_what_tells_something_is_no_mere_question(text: str) -> None:
    assert not asks_only(text)
