"""A question for one's own home where a relative's is known, too: near in meaning, and no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.retrieve.distractor_persons import about_other_persons
from mnemic.testing.record_store.fixtures import memory

ASKED = (
    ("I moved to Leipzig three years ago.", "My sister Emma lives in Lisbon.", "Where do I live?"),
    ("My sister Emma lives in Lisbon.", "I moved to Leipzig three years ago.", "Where does my sister live?"),
    ("I work as an accountant.", "My brother works at Siemens.", "Where do I work?"),
    ("My mother is 70 years old.", "I'm 41 years old.", "How old is my mother?"),
    ("Ich wohne in Leipzig.", "Meine Schwester wohnt in Lissabon.", "Wo wohne ich?"),
    ("Ik werk als boekhouder.", "Mijn broer werkt bij de bank.", "Waar werk ik?"),
    ("J'habite à Nantes.", "Ma sœur habite à Lisbonne.", "Où est-ce que j'habite ?"),
    ("Abito a Torino.", "Mia sorella abita a Lisbona.", "Dove abito?"),
)


@pytest.mark.parametrize(("answer", "other", "asked"), ASKED)
def test_the_person_in_question_comes_first_and_another_is_no_answer(
    tmp_path: Path, answer: str, other: str, asked: str
) -> None:
    with MemoryManager(store=tmp_path / "both.db") as memories:
        for text in (other, answer):
            memories.add(text)
        both = memories.search(asked)
    with MemoryManager(store=tmp_path / "other.db") as memories:
        memories.add(other)
        alone = memories.search(asked)
    first, second = both.hits[:2]
    assert first.memory.content == answer
    assert (first.relevance or 0) >= 0.5
    assert (second.relevance or 0) < 0.17
    assert alone.abstains


def test_the_reason_says_that_it_tells_of_somebody_else(tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        for text in ("My sister lives in Lisbon.", "I live in Berlin."):
            memories.add(text)
        hits = memories.search("Where do I live?").hits
    assert [("is about somebody else" in hit.why, "person" in hit.ranks) for hit in hits] == [(False,) * 2, (True,) * 2]


@pytest.mark.parametrize(
    ("question", "content", "apart"),
    [
        ("Where do I live?", "My sister and I live in Rome", False),
        ("Where do I live?", "My sister plays the cello", False),
        ("Where do I live?", "Ana lives in Rome", False),
        ("Where does my sister live?", "I live with my sister in Porto", False),
        ("Where does my sister live?", "Emma lives in Porto", False),
        ("What did I give my sister?", "I live in Porto", False),
        ("What kind of work is done here?", "I work as an accountant", False),
        ("What do friends do?", "I work as an accountant", False),
        ("What does Maria's brother do?", "I work as an accountant", True),
        ("Who lives in Lisbon?", "My sister lives in Lisbon", False),
    ],
)
def test_a_statement_that_may_answer_stays(question: str, content: str, *, apart: bool) -> None:
    assert bool(about_other_persons(question, {"one": memory(content)})) is apart


def test_a_named_person_is_another_one_only_where_the_users_own_is_known() -> None:
    ana, own = memory("Ana lives in Rome"), memory("I live in Berlin")
    assert about_other_persons("Where do I live?", {"ana": ana}) == frozenset()
    assert about_other_persons("Where do I live?", {"ana": ana, "own": own}) == {"ana"}
