"""Pairs of statements that cannot both hold, in seven languages, and pairs that can."""

from __future__ import annotations

import pytest

from mnemic.language.changes.disagreements import disagree
from mnemic.language.frames.statement_frame import Frame

EXCLUSIVE = [
    ("I am vegetarian", "I eat meat"),
    ("I'm vegan", "I am vegetarian."),
    ("I eat meat", "I don't eat meat"),
    ("My dog is called Rex", "My dog is called Max"),
    ("My dog's name is Rex", "My dog is called Max"),
    ("My cat is Tom", "My cat is Felix"),
    ("I am single", "I am married"),
    ("I live in Rome", "I live in Oslo"),
    ("I work at Bosch", "I work for Fiat"),
    ("My rent is 850 euros", "My rent is 910 euros"),
    ("Ich bin Vegetarier", "Ich esse Fleisch"),
    ("Mein Hund heißt Rex", "Mein Hund heißt Max"),
    ("Je suis végétarienne", "Je mange de la viande"),
    ("Mon chien s'appelle Rex", "Mon chien s'appelle Max"),
    ("Soy vegetariana", "Como carne"),
    ("Mi perro se llama Rex", "Mi perro se llama Max"),
    ("Sono vegetariano", "Mangio carne"),
    ("Il mio cane si chiama Rex", "Il mio cane si chiama Max"),
    ("Sou vegetariana", "Como carne"),
    ("O meu cão chama-se Rex", "O meu cão chama-se Max"),
    ("Ik ben vegetariër", "Ik eet vlees"),
    ("Mijn hond heet Rex", "Mijn hond heet Max"),
    ("Ich wohne in Bonn", "Ich wohne in Kiel"),
    ("J'habite à Lyon", "J'habite à Nice"),
    ("Vivo en Madrid", "Vivo en Lima"),
    ("Abito a Roma", "Abito a Milano"),
    ("Moro em Lisboa", "Moro em Braga"),
    ("Ik woon in Gent", "Ik woon in Breda"),
    ("My brother lives in Rome", "My brother lives in Oslo"),
    ("My wife is called Ada", "My wife is called Eva"),
    ("Ich rauche", "Ich bin Nichtraucher"),
    ("I smoke", "I'm a non-smoker"),
    ("My wife is vegetarian", "My wife eats meat"),
]
COMPATIBLE = [
    ("Vivo a Milano", "Vive a Roma mio fratello"),
    ("Vivo a Milano", "Vive a Roma"),
    ("I live in Leeds", "Lives in Rome, my brother"),
    ("My dogs are called Rex and Max", "My dog is called Max"),
    ("My dogs are called Rex and Max", "My dogs are called Max and Rex"),
    ("My brother lives in Rome", "My sister lives in Oslo"),
    ("My left knee hurts", "My right knee hurts"),
    ("I speak German", "I speak French"),
    ("I am vegetarian", "My wife eats meat"),
    ("My wife is vegetarian", "I eat meat"),
    ("My mother is German", "My mother is Catholic"),
    ("My dog is old", "My dog is brown"),
    ("My class is on Monday", "My class is on Tuesday"),
    ("My class is Monday", "My class is Tuesday"),
    ("I am vegetarian", "I don't eat meat"),
    ("I live in Rome", "I work in Oslo"),
    ("I live in Rome", "I lived in Oslo"),
    ("I used to live in Rome", "I live in Oslo"),
    ("I am vegetarian", "I used to eat meat"),
    ("I am vegetarian", "Should I eat meat?"),
    ("I am vegetarian", "If I eat meat I feel sick"),
    ("My dog is called Rex", "My other dog is called Max"),
    ("My dog is called Rex", "I also have a dog called Max"),
    ("My friend is called Tom", "My friend is called Ben"),
    ("I like tea", "I like coffee"),
    ("My dog is called Rex", "My cat is called Max"),
    ("Anna lives in Rome", "I live in Oslo"),
    ("Mein Hund heißt Rex", "Meine Katze heißt Max"),
    ("Ich spreche Deutsch", "Ich spreche Englisch"),
    ("I am vegetarian", "She eats meat"),
    ("I am single", "I have a single bed"),
    ("I'm married", "My sister is divorced"),
    ("My dog is called Rex", "My dog is called Rex II"),
    ("I am vegetarian", "My dog eats meat"),
    ("I am vegetarian", "I only eat meat at Christmas"),
    ("I live in Rome", "I live in Rome, Italy"),
    ("My son is called Tom and my daughter is called Eva", "My son is called Tom"),
    ("I am vegetarian", "I cook and eat meat with my husband's parents"),
    ("My brother is vegetarian", "My sister eats meat"),
    ("I'm vegetarian", "My brother and I eat meat together"),
    ("J'ai deux chiens, Rex et Max", "Mon chien s'appelle Max"),
    ("I work at Bosch", "I work at night"),
    ("My flight is at 10", "My flight is at 12 on Tuesday"),
]


@pytest.mark.parametrize(("older", "newer"), EXCLUSIVE)
def test_two_values_of_what_has_one_disagree(older: str, newer: str) -> None:
    assert disagree(Frame(older), Frame(newer))
    assert disagree(Frame(newer), Frame(older))
    assert not disagree(Frame(older), Frame(older))


@pytest.mark.parametrize(("older", "newer"), COMPATIBLE)
def test_what_may_hold_side_by_side_does_not(older: str, newer: str) -> None:
    assert not disagree(Frame(older), Frame(newer))
