"""Orders for a kind of occasion, and marks of a joke, by their form."""

from __future__ import annotations

import pytest

from mnemic_language.sentences.jests import is_in_jest
from mnemic_language.sentences.standing_orders import is_standing_order

ORDERS = (
    "If I ask for a recipe, keep it vegan.",
    "When I send you a draft, point out the weak spots first.",
    "Whenever you suggest films, leave out horror.",
    "If I ask about hotels, I want step-free ones.",
    "Wenn ich nach einem Rezept frage, halte es vegan.",
    "Wenn du Hotels vorschlägst, bleib unter 120 Euro.",
    "Si je demande une recette, fais-la végane.",
    "Cuando te pida una receta, que sea vegana.",
    "Se chiedo una ricetta, falla vegana.",
    "Se eu pedir uma receita, faz vegana.",
    "Als ik om een recept vraag, houd het veganistisch.",
)
NO_ORDERS = (
    "If I miss the train, I'll take the bus.",
    "If I ask my boss for a raise, he will laugh.",
    "If I write to Anna, she never answers.",
    "If it rains, stay inside.",
    "If I win the lottery, buy me a boat.",
    "If I send you money, would you take it?",
    "If I say so, it must be true.",
    "Wenn ich frage, sagt er nie etwas.",
    "Si je lui demande une recette, il refuse.",
)


@pytest.mark.parametrize("text", ORDERS)
def test_an_order_for_an_occasion_is_one(text: str) -> None:
    assert is_standing_order(text)


@pytest.mark.parametrize("text", NO_ORDERS)
def test_a_supposition_is_no_order(text: str) -> None:
    assert not is_standing_order(text)


def test_a_threat_that_laughter_takes_back_is_a_joke() -> None:
    assert is_in_jest("One more Monday like this and I become a shepherd, haha.")
    assert is_in_jest("Noch so ein Tag und ich werde Schäfer, haha.")
    assert not is_in_jest("One more lesson and I have my licence.")
