"""Questions for a kind of thing, where the same is done with things of other kinds: playing tennis and the flute."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.retrieve.distractor_kinds import about_other_kinds
from mnemic.testing.record_store.fixtures import memory


def test_what_is_of_another_kind_is_no_instance(tmp_path: Path) -> None:
    with MemoryManager(store=tmp_path / "memories.db") as memories:
        for text in ("I play tennis", "I play the flute", "My sister plays chess", "I live in Berlin"):
            memories.add(text)
        instruments = memories.search("which instruments do I play?")
        sports = memories.search("which sports do I play?")
        shown = memories.context("Which instruments do I play?")
    assert instruments.hits[0].memory.content == "I play the flute"
    assert [hit.memory.content for hit in instruments.hits if (hit.relevance or 0) >= 0.17] == ["I play the flute"]
    assert sports.hits[0].memory.content == "I play tennis"
    assert "kind" in next(hit for hit in instruments.hits if hit.memory.content == "I play tennis").ranks
    assert [hit.memory.content for hit in shown.hits] == ["I play the flute"]


@pytest.mark.parametrize(
    ("question", "content", "apart"),
    [
        ("which instruments do I play?", "I play tennis on Tuesdays", True),
        ("which instruments do I play?", "I love playing football", True),
        ("What instruments can I play?", "I play chess with a violin teacher", False),
        ("which instruments do I play?", "I play the oud", False),
        ("which instruments do I play?", "I play an instrument and football", False),
        ("which instruments do I play?", "We watch tennis on Sundays", False),
        ("which games do I play?", "I play tennis", False),
        ("which sports do I play?", "I play the drums in a band", True),
        ("Which fruit do I eat?", "I eat pizza on Fridays", True),
        ("Which fruit do I like?", "I like rice", True),
        ("Which fruit do I like?", "I like Berlin", True),
        ("Which fruit do I like?", "I like my boss", False),
        ("What do I play?", "I play tennis", False),
        ("Do I play tennis?", "I play the flute", False),
    ],
)
def test_only_the_object_of_the_same_verb_counts(question: str, content: str, apart: bool) -> None:
    found = about_other_kinds(question, {"m": memory(content=content)})
    assert found == (frozenset({"m"}) if apart else frozenset())
