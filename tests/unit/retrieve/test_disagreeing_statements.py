"""Of two live statements of equal trust that disagree the newer comes first, and both say so; nothing is closed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from mnemic import MemoryManager
from mnemic.inject.memory_source import SourceEntry
from mnemic.json_output import hit_dict
from mnemic.retrieve.later_statements import disagreeing, later_relevances, newest_of
from mnemic.testing.record_store.fixtures import START, memory
from mnemic.types import Actor, Hit, Source, Status, Trust

REX, MAX = "My dog is called Rex", "My dog is called Max"


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager(store=str(tmp_path / "mnemic.db")) as opened:
        yield opened


@pytest.mark.parametrize(
    ("asked", "older", "newer"),
    [
        ("What is my cat called?", "My cat is called Tom", "My cat is called Ben"),
        ("What is my dog called?", REX, MAX),
        ("Where do I live?", "I live in Rome", "I live in Oslo"),
        ("Wie heißt mein Hund?", "Mein Hund heißt Rex", "Mein Hund heißt Max"),
        ("Comment s'appelle mon chien ?", "Mon chien s'appelle Rex", "Mon chien s'appelle Max"),
        ("¿Cómo se llama mi perro?", "Mi perro se llama Rex", "Mi perro se llama Max"),
        ("Come si chiama il mio cane?", "Il mio cane si chiama Rex", "Il mio cane si chiama Max"),
    ],
)
def test_the_newer_comes_first_and_both_say_so(manager: MemoryManager, asked: str, older: str, newer: str) -> None:
    for said in (older, newer):
        manager.add(said)
    first, second = manager.search(asked, top_k=2).hits
    assert (first.memory.content, second.memory.content) == (newer, older)
    assert (first.disagrees_with, second.disagrees_with) == ((second.memory.memory_id,), (first.memory.memory_id,))
    assert "disagrees with an earlier statement of" in first.why
    assert "disagrees with a later statement of" in second.why
    assert (first.outdated_by, second.outdated_by) == (None, None)
    assert (first.relevance or 0.0) >= (second.relevance or 1.0)
    assert hit_dict(first)["disagrees_with"] == [second.memory.memory_id]
    (best,) = manager.search(asked, top_k=1).hits
    assert best.memory.content == newer
    assert {one.status for one in manager.list()} == {Status.ACTIVE}


def test_two_dogs_of_one_message_do_not_disagree(manager: MemoryManager) -> None:
    manager.add("My dogs are called Rex and Bo")
    manager.add(MAX)
    assert [hit.disagrees_with for hit in manager.search("What are my dogs called?", top_k=2).hits] == [(), ()]


def test_what_one_message_says_does_not_disagree_with_itself(manager: MemoryManager) -> None:
    manager.capture("Hi! I'm Lena, I live in Utrecht with my husband Tom and I work as a nurse at the city hospital.")
    hits = manager.search("where do I work?", top_k=3).hits
    assert {hit.memory.key for hit in hits} >= {"job", None}
    assert [hit.disagrees_with for hit in hits] == [(), (), ()]


def test_two_values_read_from_one_message_are_two_things() -> None:
    rex, bo = (
        memory(f"My dog is called {name}", at=START + timedelta(milliseconds=place), source=Source(span=span))
        for place, (name, span) in enumerate([("Rex", (0, 20)), ("Bo", (22, 40))])
    )
    assert disagreeing([rex, bo]) == {}
    another_day = replace(bo, created_at=bo.created_at + timedelta(days=1))
    assert set(disagreeing([rex, another_day])) == {rex.memory_id, another_day.memory_id}


def test_the_latest_of_several_is_named_first() -> None:
    one, two, three = (
        memory(
            f"My dog is called {name}",
            at=START + timedelta(days=day),
            vector=np.array((1.0, 0.0), np.float32).tobytes(),
        )
        for day, name in enumerate(("Rex", "Max", "Bo"))
    )
    assert disagreeing([two, one, three])[one.memory_id] == (three.memory_id, two.memory_id)
    assert newest_of([one, two, three]) == {one.memory_id: three.memory_id, two.memory_id: three.memory_id}


@pytest.mark.parametrize(
    "changes",
    [
        {"trust": Trust.LOW},
        {"author": "ben"},
        {"source": Source(speaker="Ben")},
        {"status": Status.SUPERSEDED},
        {"occurred_at": START},
    ],
)
def test_only_statements_of_one_person_and_trust_at_two_times_disagree(changes: dict[str, object]) -> None:
    old = memory(REX, at=START, vector=np.array((1.0, 0.0), np.float32).tobytes())
    new = memory(MAX, at=START + timedelta(days=1), vector=np.array((1.0, 0.0), np.float32).tobytes())
    assert newest_of([old, new]) == {old.memory_id: new.memory_id}
    assert disagreeing([old, replace(new, **changes)]) == {}  # type: ignore[arg-type]


def test_the_newer_is_as_relevant_and_the_older_keeps_its_relevance() -> None:
    assert later_relevances({"old": 0.9, "new": 0.2}, {}, {"old": "new"}) == {"old": 0.9, "new": 0.9}
    assert later_relevances({"old": 0.1, "new": 0.2}, {}, {"old": "new"}) == {"old": 0.1, "new": 0.2}
    assert later_relevances({"old": 0.9, "new": 0.2}, {"new": "last"}, {"old": "new"}) == {"old": 0.9, "new": 0.2}


def test_a_model_is_told_that_another_statement_disagrees() -> None:
    hit = Hit(memory=memory(REX, at=START), score=0.5, disagrees_with=("other",))
    shown = SourceEntry.from_hit(hit, "memory", reader=Actor(user="ada")).content
    assert shown == f"{REX} (as of {START:%Y-%m-%d}; another statement disagrees)"
