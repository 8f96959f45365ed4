"""The messages of a search as arrays."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from mnemic.retrieve.question import read_question
from mnemic.retrieve.signals import MessageTable
from mnemic.types import Cues, Signals

MAY = datetime(2023, 5, 8, tzinfo=UTC)
SIGNALS = {
    one.memory_id: one
    for one in (
        Signals("a", MAY, "s1", 0, "Ana", Cues(words=4, asking=True)),
        Signals("b", MAY, "s2", 7, "Ben", Cues(words=9, timed=True)),
        Signals("c", MAY, "s1", 1, "Ben", Cues(words=2, oneself=True)),
        Signals("d", MAY, None, 3, None, Cues()),
    )
}
TABLE = MessageTable.from_signals(
    SIGNALS, read_question("What did Ben do in May 2023?", speakers=frozenset({"Ana", "Ben"}))
)


def test_a_row_has_what_is_known_of_its_message() -> None:
    assert list(TABLE.rows) == ["a", "b", "c", "d"]
    assert TABLE.turns.tolist() == [0, 7, 1, 3]
    assert TABLE.chats[0] == TABLE.chats[2] != TABLE.chats[1]
    assert TABLE.words.tolist() == [4, 9, 2, Cues().words]
    assert (TABLE.asking.tolist(), TABLE.oneself.tolist()) == ([1, 0, 0, 0], [0, 0, 1, 0])
    assert TABLE.timed.tolist() == [0, 1, 0, 0]
    assert TABLE.spoken.tolist() == [0, 1, 1, 0]
    assert TABLE.of_time.tolist() == [1, 1, 1, 1]


def test_neighbours_are_of_the_same_session() -> None:
    before, after, two_before, two_after = TABLE.neighbour_values(np.array([0.1, 0.2, 0.3, 0.4])).tolist()
    assert before == [0, 0, 0.1, 0]
    assert after == [0.3, 0, 0, 0]
    assert two_before == two_after == [0, 0, 0, 0]


def test_sessions_have_the_mean_of_their_best_three() -> None:
    values = np.array([0.3, 0.6, 0.9, 0.0])
    assert np.allclose(TABLE.best_three(values), [0.4, 0.2, 0.4, 0.0])
    top, best, _, many = TABLE.sessions(values)
    assert np.allclose(top, TABLE.best_three(values))
    assert best.tolist() == [0.9, 0.6, 0.9, 0.0]
    assert np.allclose(many, np.log1p([2, 1, 2, 1]))


def test_no_messages_make_an_empty_table() -> None:
    assert MessageTable.from_signals({}, read_question("rain")).rows == {}
