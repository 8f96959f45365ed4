"""A later statement of a place of life or work comes before a longer, earlier one that also says something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager

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
