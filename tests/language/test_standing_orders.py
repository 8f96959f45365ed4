"""Orders for a kind of occasion, arrangements, and judgements of other people, by their form."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.arrangements import is_arrangement
from mnemic.language.sentences.judgements import is_gossip
from mnemic.language.sentences.standing_orders import is_standing_order
from mnemic.language.sentences.temporary_states import is_in_jest

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
ARRANGED = (
    "The dinner is for six people.",
    "There'll be 18 people at the party.",
    "Mein Paket kommt am Dienstag.",
    "La réunion est le lundi à 10 h.",
    "La cena è per otto persone.",
    "Er komen 30 mensen op mijn verjaardag.",
)
NOT_ARRANGED = (
    "The film is for people who like horror.",
    "The population is six million.",
    "Das Paket ist bei der Nachbarin.",
    "There are people who think so.",
)
GOSSIP = (
    "My coworker Paul is such a slob.",
    "Our new intern is totally lazy.",
    "Mein Kollege Paul ist so ein Chaot.",
    "Mi compañero Paul es un desastre.",
    "Kim Kardashian broke up again.",
    "Brad Pitt got engaged.",
)
NO_GOSSIP = (
    "My coworker Paul is allergic to nuts.",
    "Anna Schmidt is my tax adviser.",
    "Dr. Patel retired.",
    "My best friend broke up with her boyfriend.",
    "My sister is lazy on Sundays and swims on Mondays.",
)


@pytest.mark.parametrize("text", ORDERS)
def test_an_order_for_an_occasion_is_one(text: str) -> None:
    assert is_standing_order(text)


@pytest.mark.parametrize("text", NO_ORDERS)
def test_a_supposition_is_no_order(text: str) -> None:
    assert not is_standing_order(text)


@pytest.mark.parametrize("text", ARRANGED)
def test_a_headcount_or_a_time_is_an_arrangement(text: str) -> None:
    assert is_arrangement(text)


@pytest.mark.parametrize("text", NOT_ARRANGED)
def test_talk_of_the_world_is_no_arrangement(text: str) -> None:
    assert not is_arrangement(text)


@pytest.mark.parametrize("text", GOSSIP)
def test_a_judgement_or_news_of_a_stranger_is_gossip(text: str) -> None:
    assert is_gossip(text)


@pytest.mark.parametrize("text", NO_GOSSIP)
def test_what_helps_to_know_of_people_is_no_gossip(text: str) -> None:
    assert not is_gossip(text)


def test_a_threat_that_laughter_takes_back_is_a_joke() -> None:
    assert is_in_jest("One more Monday like this and I become a shepherd, haha.")
    assert is_in_jest("Noch so ein Tag und ich werde Schäfer, haha.")
    assert not is_in_jest("One more lesson and I have my licence.")
