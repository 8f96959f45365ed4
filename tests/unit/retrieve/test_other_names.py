"""Questions for a name, where the names of others are known too."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.retrieve.distractor_names import of_other_names
from mnemic.testing.record_store.fixtures import memory


def test_the_landlords_name_is_not_the_pets(tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        for text in ("My landlord is called Mr. Okafor.", "Our dog Biscuit is afraid of thunder.", "I play the cello."):
            memories.add(text)
        memories.add("Tova", key="name")
        found = memories.search("what's my pet's name?").hits
        landlord = memories.search("what is my landlord's name?").hits
    assert found[0].memory.content.startswith("Our dog Biscuit")
    assert [hit.memory.content for hit in found if (hit.relevance or 0) >= 0.17] == [found[0].memory.content]
    assert landlord[0].memory.content.startswith("My landlord")


@pytest.mark.parametrize(
    ("question", "content", "apart"),
    [
        ("what's my pet's name?", "My landlord is called Mr. Okafor.", True),
        ("What is my pet called?", "My neighbour's name is Ulla.", True),
        ("What are the names of my children?", "My dentist is called Brand.", True),
        ("what's my pet's name?", "My cat is called Miso.", False),
        ("what's my pet's name?", "My old pet was called Rex.", False),
        ("what's my boss's name?", "My supervisor is called Ann.", False),
        ("What is my landlord called?", "My landlord is called Mr. Okafor.", False),
        ("what is my name?", "My landlord is called Mr. Okafor.", False),
    ],
)
def test_a_thing_of_another_kind_is_told_apart(question: str, content: str, apart: bool) -> None:
    one = memory(content)
    assert (one.memory_id in of_other_names(question, {one.memory_id: one})) is apart


def test_the_users_own_name_is_nobody_elses() -> None:
    own = memory("Tova", key="name")
    assert of_other_names("what's my sister's name?", {own.memory_id: own})
    assert not of_other_names("what's my name?", {own.memory_id: own})
