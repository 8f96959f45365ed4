"""How certain it is that an answer uses a memory that it does not repeat."""

from __future__ import annotations

import pytest

from mnemic.inject.paraphrased_use import LIKELY_FROM, certainty_of_use
from mnemic.providers.minilm import MiniLmEmbedder

EMBEDDER = MiniLmEmbedder()


@pytest.mark.parametrize(
    ("memory", "question", "used", "unused"),
    [
        (
            "My sister Ada bakes for a living.",
            "Where do we order the cake?",
            "Ask your sister: Ada bakes for a living, after all.",
            "The shop at the station has a good one.",
        ),
        (
            "I can't eat prawns.",
            "What shall I order here?",
            "The risotto, as there are no prawns in it that you can't eat.",
            "The risotto, it is the best in town.",
        ),
        (
            "I practise the trumpet on Thursday evenings.",
            "When can the guests come?",
            "Any evening but Thursday, when you practise the trumpet.",
            "At eight, most people are free then.",
        ),
    ],
)
async def test_an_answer_that_takes_up_a_memory_is_told_from_one_that_does_not(
    memory: str, question: str, used: str, unused: str
) -> None:
    (likely,) = await certainty_of_use([memory], question, used, EMBEDDER)
    (unlikely,) = await certainty_of_use([memory], question, unused, EMBEDDER)
    assert unlikely < LIKELY_FROM <= likely < 1


@pytest.mark.parametrize(
    ("used", "question", "answer"),
    [
        (
            "Noor has taken up pottery and loves it.",
            "Gift idea for my wife?",
            "A good set of trimming tools and a bag of stoneware clay would make her happy at the wheel.",
        ),
        (
            "I haven't eaten meat since I was nineteen.",
            "Suggest a main course for Saturday's dinner.",
            "How about a wild mushroom risotto? There is nothing in it that comes from an animal but cheese.",
        ),
        (
            "I've been on warfarin since my clot.",
            "Can I take ibuprofen for this headache?",
            "Better not: together with a blood thinner it raises the risk of bleeding.",
        ),
    ],
)
async def test_a_use_that_shares_no_word_with_its_memory_is_likely_and_what_stood_beside_it_is_not(
    used: str, question: str, answer: str
) -> None:
    beside = ["My flat is on the fourth floor.", "I learn Spanish on Tuesdays."]
    (likely,) = await certainty_of_use([used], question, answer, EMBEDDER, beside=beside)
    unlikely = await certainty_of_use(beside, question, answer, EMBEDDER, beside=[used])
    assert max(unlikely) < LIKELY_FROM <= likely < 1


async def test_the_default_model_says_nothing_of_an_answer_in_another_language() -> None:
    question, answer = "Wie lange kocht man Reis?", "Etwa zwölf Minuten bei kleiner Hitze, dann zugedeckt ruhen lassen."
    (found,) = await certainty_of_use(["Ich esse gern asiatisch."], question, answer, EMBEDDER)
    assert found < LIKELY_FROM


async def test_words_of_the_question_are_no_sign_of_a_use() -> None:
    question = "Do you know a quiet hotel in Ghent?"
    (found,) = await certainty_of_use(["I like a quiet hotel."], question, "A quiet hotel? The Harmony.", EMBEDDER)
    assert found < LIKELY_FROM


async def test_an_answer_without_a_sentence_is_weighed_too() -> None:
    assert len(await certainty_of_use(["I like tea.", "I like rain."], "?", "-", EMBEDDER)) == 2
