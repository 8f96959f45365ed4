"""A day that is told in words is a day of the speaker, and whoever reads the words later is shown which day that is."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from mnemic import MemoryManager, Message

WEST, EAST = timezone(timedelta(hours=-8)), timezone(timedelta(hours=10))


@pytest.mark.parametrize(
    ("text", "said", "day"),
    [
        ("I bought a canoe yesterday.", datetime(2026, 3, 4, 23, 30, tzinfo=WEST), "2026-03-03"),
        ("I sold the piano two days ago.", datetime(2026, 3, 4, 23, 30, tzinfo=WEST), "2026-03-02"),
        ("I bought a canoe yesterday.", datetime(2026, 3, 4, 7, 0, tzinfo=EAST), "2026-03-03"),
        ("I bought a canoe yesterday.", datetime(2026, 3, 4, 12, 0, tzinfo=UTC), "2026-03-03"),
    ],
)
def test_yesterday_is_a_day_of_the_speakers_zone(tmp_path: Path, text: str, said: datetime, day: str) -> None:
    with MemoryManager("ana", store=str(tmp_path / "a.db")) as memory:
        memory.capture(Message(role="user", content=text, sent_at=said))
        assert [one.occurred_at.date().isoformat() for one in memory.list() if one.occurred_at] == [day]


def test_an_entry_says_which_day_its_yesterday_is(tmp_path: Path) -> None:
    said = datetime(2026, 3, 4, 12, tzinfo=UTC)
    with MemoryManager("ana", store=str(tmp_path / "a.db")) as memory:
        memory.capture(Message(role="user", content="I bought a canoe yesterday.", sent_at=said))
        memory.record([Message(role="user", content="I sold the piano yesterday.", sent_at=said)])
        memory.capture(Message(role="user", content="My sister Ruth lives in Cardiff.", sent_at=said))
        shown = [memory.context(query).text for query in ("the canoe", "the piano", "my sister")]
    entries = [re.findall(r"<entry [^>]*>([^<]*)</entry>", text)[0] for text in shown]
    assert entries == [
        "I bought a canoe yesterday. (2026-03-03)",
        "I sold the piano yesterday. (2026-03-03)",
        "My sister Ruth lives in Cardiff.",
    ]
