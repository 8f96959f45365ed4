"""What lifts a message besides its own scores."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.retrieve.question import read_question
from mnemic.retrieve.signals import MessageBoosts, ScoreShift, SignalWeights, sign_ranks, with_signals
from mnemic.types import Cues, Rank, Signals

MAY = datetime(2023, 5, 8, tzinfo=UTC)
PLAIN = read_question("the lake")
NOTHING = SignalWeights(previous=0, following=0, session=0, speaker=0, told=0, when=0, oneself=0, asking=0)


def message(memory_id: str, turn: int, **changes: object) -> Signals:
    values = {"session": "s1", "speaker": "Ana", "happened_at": MAY, "cues": Cues(words=10), **changes}
    return Signals(memory_id=memory_id, turn=turn, **values)  # type: ignore[arg-type]


def lifted(weights: SignalWeights, *signals: Signals, query: str = "the lake", **scores: float) -> dict[str, float]:
    question = read_question(query, speakers={"Ana", "Ben"})
    return with_signals(scores, {one.memory_id: one for one in signals}, question, weights)


def test_a_short_message_takes_part_of_its_neighbours_scores() -> None:
    weights = SignalWeights(previous=0.1, following=0.2, session=0, speaker=0, told=0, when=0, oneself=0, asking=0)
    scores = lifted(weights, message("a", 0), message("b", 1), message("c", 2), a=1.0, b=0.0, c=0.5)
    assert scores == pytest.approx({"a": 1.0, "b": 0.1 + 0.1, "c": 0.5})


def test_neighbours_end_with_the_session_and_with_long_messages() -> None:
    weights = SignalWeights(previous=0.1, following=0.2, session=0, speaker=0, told=0, when=0, oneself=0, asking=0)
    other = lifted(weights, message("a", 0), message("b", 1, session="s2"), a=1.0, b=0.0)
    long = lifted(weights, message("a", 0), message("b", 1, cues=Cues(words=61)), a=1.0, b=0.0)
    assert other == long == {"a": 1.0, "b": 0.0}


def test_a_session_lifts_its_messages_by_its_three_best() -> None:
    weights = SignalWeights(previous=0, following=0, session=0.3, speaker=0, told=0, when=0, oneself=0, asking=0)
    scores = lifted(
        weights, message("a", 0), message("b", 5), message("c", 9), message("d", 20), a=0.9, b=0.6, c=0.3, d=0.0
    )
    assert scores["d"] == pytest.approx(0.3 * 0.6)


@pytest.mark.parametrize(
    ("sign", "query", "changes"),
    [
        ("speaker", "What did Ana buy?", {}),
        ("told", "What happened in May 2023?", {}),
        ("when", "When did it rain?", {"cues": Cues(words=5, timed=True)}),
        ("oneself", "rain", {"cues": Cues(words=5, oneself=True)}),
    ],
)
def test_each_sign_adds_its_weight(sign: str, query: str, changes: dict[str, object]) -> None:
    weights = SignalWeights(**{**dict.fromkeys(NOTHING.__slots__, 0.0), sign: 0.25})
    assert lifted(weights, message("a", 0, **changes), query=query, a=0.5) == {"a": 0.75}
    without = message("a", 0, speaker="Ben", happened_at=datetime(2020, 1, 1, tzinfo=UTC), cues=Cues(words=5))
    assert lifted(weights, without, query=query, a=0.5) == {"a": 0.5}


def test_questions_of_others_are_held_back() -> None:
    weights = SignalWeights(previous=0, following=0, session=0, speaker=0, told=0, when=0, oneself=0, asking=0.1)
    assert lifted(weights, message("a", 0, cues=Cues(words=4, asking=0.5)), a=0.5) == pytest.approx({"a": 0.45})


def test_memories_that_are_no_messages_keep_their_scores() -> None:
    assert lifted(SignalWeights(), message("fact", -1, cues=Cues(oneself=True)), fact=0.4) == {"fact": 0.4}
    assert lifted(SignalWeights(), lonely=0.4) == {"lonely": 0.4}


def test_what_is_no_message_keeps_its_score() -> None:
    told = message("a", -1, speaker="Ana", session=None, cues=Cues(words=5, oneself=True, asking=1.0, timed=True))
    assert lifted(SignalWeights(), told, query="When did Ana swim in May 2023?", a=0.5, b=0.2) == {"a": 0.5, "b": 0.2}


@pytest.mark.parametrize("query", ["the lake", "When did Ana see the lake?", "What did I ask in May 2023?"])
def test_all_scores_have_what_each_sign_is_said_to_add(query: str) -> None:
    cues = [
        Cues(words=words, timed=words % 2 == 0, oneself=words % 3 == 0, asking=words % 5 == 0) for words in range(80)
    ]
    signals = {
        f"m{turn}": message(
            f"m{turn}", turn, cues=one, session=f"s{turn // 7}", speaker=("Ana", "Ben", None)[turn % 3],
            happened_at=MAY + timedelta(days=11 * turn),
        )
        for turn, one in enumerate(cues)
    }  # fmt: skip
    scores = {name: 1 / (3 + place) for place, name in enumerate([*signals, "a statement"])}
    lifts = MessageBoosts(scores, signals, read_question(query, speakers={"Ana", "Ben"}), SignalWeights())
    signs = [amounts for _, amounts in lifts.each(list(scores))]
    assert lifts.add_boosts() == {
        name: score + sum(amounts[place] for amounts in signs) for place, (name, score) in enumerate(scores.items())
    }


def test_a_hit_has_the_place_of_each_sign_that_moved_it_and_of_each_rule() -> None:
    signals = {name: message(name, turn, cues=Cues(words=5, oneself=name != "b")) for turn, name in enumerate("abc")}
    scores = {"a": 0.2, "b": 0.1, "c": 0.3, "a statement": 0.4}
    lifts = MessageBoosts(scores, signals, PLAIN, replace(NOTHING, oneself=0.25))
    moves = {"learned": ScoreShift(scores, {**scores, "b": 0.5, "a statement": 0.3}), "then": ScoreShift({}, {})}
    assert sign_ranks(["a", "b", "c", "a statement"], lifts, moves) == {
        "a": {"oneself": Rank(1, 0.25)},
        "b": {"learned": Rank(1, 0.4)},
        "c": {"oneself": Rank(1, 0.25)},  # equal amounts have one place
        "a statement": {"learned": Rank(2, -0.1)},
    }
