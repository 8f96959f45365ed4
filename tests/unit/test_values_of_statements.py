"""A value under a key stays beside the statement that it was read of, however that statement is worded."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager

CHANGES = [
    (("I live in Leeds.", "I moved to York two weeks ago, the flat is tiny but nice."), "home_city", "York"),
    (
        ("I'm vegetarian.", "I eat fish again now, so I'm not strictly vegetarian any more, I'm pescatarian."),
        "diet",
        "pescatarian",
    ),
    (("I eat fish again now, so I'm not strictly vegetarian any more, I'm pescatarian.",), "diet", "pescatarian"),
    (
        ("I prefer aisle seats.", "My knee is bad, so no more aisle, I prefer window seats now and I board early."),
        "seat",
        "window",
    ),
    (
        ("I live in Ghent.", "I moved to Bruges last month. I no longer live in the old flat in Ghent."),
        "home_city",
        "Bruges",
    ),
]


@pytest.mark.parametrize(("told", "key", "value"), CHANGES)
def test_a_value_is_never_replaced_by_the_statement_that_it_was_read_of(
    told: tuple[str, ...], key: str, value: str, tmp_path: Path
) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for text in told:
            memory.capture(text)
        assert [one.content for one in memory.list() if one.key == key] == [value]


def test_a_value_stays_when_its_statement_is_heard_again_in_other_words(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for text in ("I moved to York.", "I moved to York two weeks ago, the flat is tiny but nice."):
            memory.capture(text)
        assert [one.content for one in memory.list() if one.key == "home_city"] == ["York"]


def test_a_later_message_still_ends_the_value(tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        for text in ("I moved to York two weeks ago, the flat is tiny but nice.", "I don't live in York any more."):
            memory.capture(text)
        assert [one.content for one in memory.list() if one.key == "home_city"] == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "I moved to York two weeks ago, the flat is tiny but nice.",
            "I moved to York two weeks ago, the flat is tiny but nice.",
        ),
        ("My new office in Turin is loud but okay.", "My new office in Turin is loud but okay."),
    ],
)
def test_a_statement_keeps_the_word_after_but(said: str, kept: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.capture(said)
        assert kept in {one.content for one in memory.list()}
