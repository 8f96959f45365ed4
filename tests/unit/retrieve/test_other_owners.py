"""A question for one's own thing where another's is known, too: it has every word but the owner's, and is no answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.retrieve.distractor_owners import about_other_owners
from mnemic.testing.record_store.fixtures import memory

PAIRS = (
    ("My dog is called Rex.", "Ben's dog is called Max.", "What is my dog called?", "What is Ben's dog called?"),
    ("Mein Hund heißt Rex.", "Bens Hund heißt Max.", "Wie heißt mein Hund?", "Wie heißt Bens Hund?"),
    (
        "Mon chien s'appelle Rex.",
        "Le chien de Ben s'appelle Max.",
        "Comment s'appelle mon chien ?",
        "Comment s'appelle le chien de Ben ?",
    ),
    (
        "Mi perro se llama Rex.",
        "El perro de Ben se llama Max.",
        "¿Cómo se llama mi perro?",
        "¿Cómo se llama el perro de Ben?",
    ),
    (
        "Il mio cane si chiama Rex.",
        "Il cane di Ben si chiama Max.",
        "Come si chiama il mio cane?",
        "Come si chiama il cane di Ben?",
    ),
    (
        "O meu cão chama-se Rex.",
        "O cão do Ben chama-se Max.",
        "Como se chama o meu cão?",
        "Como se chama o cão do Ben?",
    ),
    ("Mijn hond heet Rex.", "Bens hond heet Max.", "Hoe heet mijn hond?", "Hoe heet Bens hond?"),
)


@pytest.mark.parametrize(("own", "other", "asks_own", "asks_other"), PAIRS)
@pytest.mark.parametrize("own_first", [True, False])
def test_whose_thing_it_is_decides(
    tmp_path: Path, own: str, other: str, asks_own: str, asks_other: str, *, own_first: bool
) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        for text in (own, other) if own_first else (other, own):
            memories.add(text)
        for question, answer in ((asks_own, own), (asks_other, other)):
            first, second = memories.search(question).hits[:2]
            assert first.memory.content == answer
            assert (first.relevance or 0) >= 0.5
            assert (second.relevance or 0) < 0.17
            assert "is about somebody else" in second.why


@pytest.mark.parametrize(
    ("question", "content", "apart"),
    [
        ("What does my husband do?", "My sister's husband is a nurse.", True),
        ("What is my brother's car?", "My sister's car is a Fiat.", True),
        ("Comment s'appelle le chien d'Anna ?", "Le chien de Ben s'appelle Max.", True),
        ("Wie heißt der Hund von Anna?", "Bens Hund heißt Max.", True),
        ("What colour is Ben's car?", "My brother Tom's car is red.", True),
        # May be the same person, or the same thing.
        ("What is my dog called?", "Ben's dog is called Max.", False),
        ("What is Ben's dog called?", "My dog is called Rex.", False),
        ("What is my dog called?", "My wife's dog is called Rex.", False),
        ("What is Anna's dog called?", "My sister's dog is called Max.", False),
        ("Who is my boss's assistant?", "My manager's assistant is Jo.", False),
        ("What is my mother's car?", "Mum's car is a Fiat.", False),
        # About another thing, about both, or about no person's.
        ("What is my dog called?", "Ben's cat is called Max.", False),
        ("Is my dog older than Ben's dog?", "Ben's dog is nine.", False),
        ("What is my dog called?", "Ben's dog is bigger than my dog.", False),
        ("what's my pet's name?", "My dog's name is Rex.", False),
        ("What's new?", "Ben's dog is called Max.", False),
    ],
)
def test_it_is_certain_that_it_is_another_ones(question: str, content: str, *, apart: bool) -> None:
    assert bool(about_other_owners(question, {"one": memory(content)})) is apart


def test_where_the_thing_in_question_is_known_everybody_elses_is_apart() -> None:
    known = {"rex": memory("My new dog is called Rex."), "max": memory("Ben's dog is called Max.")}
    assert about_other_owners("What is my dog called?", known) == {"max"}
    assert about_other_owners("What is Ben's dog called?", known) == {"rex"}


def test_what_another_speaker_calls_theirs_is_not_the_askers() -> None:
    said = memory("My dog is called Max.")
    said = replace(said, source=replace(said.source, speaker="Ben"))
    assert about_other_owners("What is my dog called?", {"ben": said, "rex": memory("My dog is called Rex.")}) == set()


def test_a_long_text_is_not_read() -> None:
    told = "Ben's dog is called Max. " + "We went to the lake and swam all day. " * 6
    assert about_other_owners("What is my dog called?", {"one": memory(told), "two": memory("My dog is Rex")}) == set()
