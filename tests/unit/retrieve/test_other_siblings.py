"""A question for one thing of a kind where only another is known: near in meaning, and no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.retrieve.distractor_siblings import about_siblings
from mnemic.testing.record_store.fixtures import memory

FILLING = (
    "The office coffee machine is cleaned on Fridays",
    "The train to Graz leaves from platform four",
    "The lease of the studio ends in October",
    "The standing desk arrived with a broken leg",
    "The library card is blue and lies in the drawer",
)

PAIRS = (
    ("The user's dog is called Pickle", "What is my dog called?", "What is my hamster called?"),
    ("My sister lives in Lisbon.", "Where does my sister live?", "Where does my brother live?"),
    ("My passport is valid until March 2028.", "When does my passport expire?", "When does my licence expire?"),
    ("My mum's birthday is on 3 May.", "When is my mother's birthday?", "When is my dad's birthday?"),
    ("Mein Hund heißt Rex.", "Wie heißt mein Hund?", "Wie heißt meine Katze?"),
    ("Ma fille joue du piano.", "De quoi joue ma fille ?", "De quoi joue mon fils ?"),
    ("Mi hermana vive en Sevilla.", "¿Dónde vive mi hermana?", "¿Dónde vive mi hermano?"),
    ("Mia sorella abita a Torino.", "Dove abita mia sorella?", "Dove abita mio fratello?"),
    ("Mijn broer werkt bij de bank.", "Waar werkt mijn broer?", "Waar werkt mijn zus?"),
    ("My favourite colour is blue", "What is my favourite colour?", "what colour is our bathroom?"),
    ("Our kitchen is green", "What colour is our kitchen?", "What colour is my bike?"),
)


@pytest.mark.parametrize(("stated", "asked", "other"), PAIRS)
def test_what_is_known_of_a_sibling_is_no_answer(tmp_path: Path, stated: str, asked: str, other: str) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        for text in (*FILLING, stated):
            memories.add(text)
        answered, unanswered = memories.search(asked), memories.search(other)
    assert answered.hits[0].memory.content == stated
    assert (answered.hits[0].relevance or 0) > 0.5
    assert unanswered.abstains
    assert all((hit.relevance or 0) < 0.17 for hit in unanswered.hits if hit.memory.content == stated)


@pytest.mark.parametrize(
    ("question", "content", "apart"),
    [
        ("What is my hamster called?", "My dog is called Rex", True),
        ("What is my hamster called?", "My dog chased the hamster", False),
        ("What is my dog called?", "Our beagle Biscuit is three years old", False),
        ("What is my dog called?", "The cat next door is loud", False),
        ("What is my sister's dog called?", "My sister has a cat called Tom", True),
        ("Where does my sister live?", "Emma lives in Porto with her husband", False),
        ("Where does my sister live?", "Her husband lives in Porto", True),
        ("What is my pet called?", "My dog is called Rex", False),
        ("Where does my mum live?", "My mother lives in Graz", False),
        ("Who has a dog?", "My cat is called Tom", False),
        ("Which bike do I have?", "I have a car, a Volvo", False),
        ("Where is my bike?", "I have a car, a Volvo", True),
        ("What colour is my bike?", "I drive a red Volvo", True),
        ("what colour is our bathroom?", "My favourite colour is blue", True),
        ("what colour should we paint our bathroom?", "My favourite colour is blue", False),
        ("what colour is my favourite mug?", "My favourite colour is blue", False),
        ("what is my favourite bathroom tile?", "My favourite bathroom colour is blue", False),
        ("Welche Farbe hat unser Bad?", "Meine Lieblingsfarbe ist Blau", True),
        ("De quelle couleur est ma voiture ?", "Ma couleur préférée est le bleu", True),
        ("What band did my sister see?", "My favourite band is Muse", True),
        ("What colour is my bike?", "Our kitchen is green", True),
        ("What do I do in my kitchen?", "Our garden has apple trees", True),
        ("When was my kitchen painted?", "My car is red", False),
        ("Wie heißt meine Katze?", "Meine Schwester heißt Katja", True),
        ("Hoe heet mijn kat?", "Mijn zus heet Anouk", True),
        ("Come si chiama il mio gatto?", "Mia sorella si chiama Anna", True),
        ("Como se chama o meu gato?", "Minha irmã chama-se Ana", True),
        ("Hoe heet mijn zus?", "Mijn zus heet Anouk", False),
    ],
)
def test_siblings_are_told_by_what_somebody_has(question: str, content: str, apart: bool) -> None:
    assert bool(about_siblings(question, {"m": memory(content)})) is apart


def test_the_right_one_comes_before_its_sibling(tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        for text in (*FILLING, "My dog is called Rex and loves to be called", "The hamster of ours is Pip"):
            memories.add(text)
        found = memories.search("What is my hamster called?")
    assert found.hits[0].memory.content == "The hamster of ours is Pip"
    assert not found.abstains
