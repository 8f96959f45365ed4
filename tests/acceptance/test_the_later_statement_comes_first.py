"""A later statement of a place of life or work comes before a longer, earlier one that also says something else."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import MemoryManager, Message

STATED = [
    ("I love jazz and I live in Rome.", "I live in Paris.", "Where do I live?"),
    ("I play chess and I work at Acme.", "I work at Initech.", "Where do I work?"),
    ("I have a dog and I live in Lisbon.", "I live in Oslo.", "Which city do I live in?"),
]


@pytest.mark.acceptance
@pytest.mark.parametrize("verb", ["add", "capture"])
@pytest.mark.parametrize(("earlier", "later", "question"), STATED, ids=[one[1] for one in STATED])
def test_the_later_of_two_statements_is_the_first_hit(
    tmp_path: Path, verb: str, earlier: str, later: str, question: str
) -> None:
    with MemoryManager("ana", store=str(tmp_path / "m.db")) as memory:
        for text in (earlier, later):
            getattr(memory, verb)(text)
        best = memory.search(question).hits[0].memory.content
        assert best in later
        assert best not in earlier


REMARKS = [
    ("I teach at Fernhill School.", "Fernhill School repainted its gym."),
    ("We have a cat called Noodle.", "Noodle knocked over a plant this morning."),
    ("I take levothyroxine.", "The levothyroxine fell behind the fridge."),
]


@pytest.mark.acceptance
@pytest.mark.parametrize(("known", "remark"), REMARKS, ids=[one[1] for one in REMARKS])
def test_a_remark_about_the_same_thing_outdates_nothing(tmp_path: Path, known: str, remark: str) -> None:
    with MemoryManager("ana", store=str(tmp_path / "m.db")) as memory:
        memory.add(known)
        memory.add(remark)
        assert [hit.outdated_by for hit in memory.search(known).hits] == [None, None]


@pytest.mark.acceptance
def test_the_recorded_message_behind_a_replaced_value_is_not_shown(tmp_path: Path) -> None:
    with MemoryManager("ana", store=str(tmp_path / "m.db")) as memory:
        for day, said in enumerate(("I live in Utrecht.", "I moved to Zwolle last week.")):
            sent_at = datetime(2026, 1, 1 + day, tzinfo=UTC)
            message = Message(role="user", content=said, session=str(day), sent_at=sent_at)
            memory.capture(message)
            memory.record([message])
        shown = [hit.memory.content for hit in memory.context("Where do I live?").hits]
        assert any("Zwolle" in text for text in shown)
        assert not any("Utrecht" in text for text in shown)
