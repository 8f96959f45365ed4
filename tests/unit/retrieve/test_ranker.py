"""The learned order of messages."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np

from mnemic.retrieve.learned_ranker import LEARNED_RANKER, NAMES, HiddenUnits, Ranker, features
from mnemic.retrieve.question import read_question
from mnemic.types import Cues, Scored, Signals

QUESTION = read_question("What did Ana repair?", speakers=("Ana", "Ben"))


def said(memory_id: str, turn: int, speaker: str, words: int = 9) -> Signals:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return Signals(memory_id, at, session="one", turn=turn, speaker=speaker, cues=Cues(words=words))


SIGNALS = {"a": said("a", 0, "Ana"), "b": said("b", 1, "Ben"), "c": said("c", 2, "Ana", words=3)}
SCORES = {"a": 0.2, "b": 0.6, "c": 0.4, "fact": 0.5}
LISTS = {"vector": [Scored("b", 0.5), Scored("a", 0.3)], "keyword": [Scored("a", 4.0)]}


def only(name: str) -> Ranker:
    return Ranker(tuple(float(one == name) for one in NAMES))


def test_messages_share_out_their_scores_in_the_learned_order() -> None:
    assert only("score").reorder(LISTS, SCORES, SIGNALS, QUESTION) == SCORES
    assert only("bm25").reorder(LISTS, SCORES, SIGNALS, QUESTION) == {"a": 0.6, "b": 0.4, "c": 0.2, "fact": 0.5}
    assert only("speaker").reorder(LISTS, SCORES, SIGNALS, QUESTION) == {"a": 0.6, "c": 0.4, "b": 0.2, "fact": 0.5}


def test_a_chat_with_an_assistant_and_a_single_message_stay_as_they_are() -> None:
    with_assistant = SIGNALS | {"b": said("b", 1, "assistant")}
    assert only("bm25").reorder(LISTS, SCORES, with_assistant, QUESTION) == SCORES
    assert only("bm25").reorder(LISTS, SCORES, {"a": SIGNALS["a"]}, QUESTION) == SCORES
    assert only("bm25").reorder({}, SCORES, {}, QUESTION) == SCORES


def test_features_say_what_the_lists_and_signals_say() -> None:
    rows = [dict(zip(NAMES, row, strict=True)) for row in features(LISTS, SCORES, SIGNALS, QUESTION).tolist()]
    first, second, third = rows
    assert (first["bm25"], second["bm25"], third["no_bm25"]) == (1, 0, 1)
    assert (first["speaker"], second["other_speaker"], third["short"]) == (1, 1, 1)
    assert (second["cosine_raw"], third["no_cosine"], third["cosine_raw"]) == (0.5, 1, 0.3)
    assert (first["first"], second["first"]) == (1, 0)
    assert second["previous"] == first["own"]
    assert second["best_neighbour"] == max(first["own"], third["own"])
    assert (first["score"], second["score"]) == (0.2, 0.6)


def test_features_without_lists_are_numbers() -> None:
    assert features({}, SCORES, SIGNALS, QUESTION).shape == (3, len(NAMES))
    assert features(LISTS, SCORES, {}, QUESTION).shape == (0, len(NAMES))


def test_features_know_the_neighbours_in_the_same_session_alone() -> None:
    apart = SIGNALS | {"b": SIGNALS["b"]._replace(session="two", turn=0)}
    rows = [dict(zip(NAMES, row, strict=True)) for row in features(LISTS, SCORES, apart, QUESTION).tolist()]
    first, second, third = rows
    assert second["previous"] == second["following"] == 0
    assert (third["two_before"], first["two_after"]) == (first["own"], third["own"])
    assert [round(row["session_found"], 3) for row in rows] == [1.099, 0.693, 1.099]
    assert [row["session_best"] for row in rows] == [first["own"], second["own"], first["own"]]


def test_a_question_that_names_a_time_marks_what_was_told_then() -> None:
    asked = read_question("What did Ana repair in March 2026?", speakers=("Ana", "Ben"))
    later = SIGNALS | {"c": SIGNALS["c"]._replace(happened_at=datetime(2027, 5, 1, tzinfo=UTC))}
    told = [row[NAMES.index("told")] for row in features(LISTS, SCORES, later, asked).tolist()]
    assert told == [1, 1, 0]


def test_a_unit_weighs_features_together() -> None:
    hidden = np.array([[float(name == "bm25") + float(name == "other_speaker")] for name in NAMES])
    silent = Ranker((0.0,) * len(NAMES), HiddenUnits(hidden, np.array([-2.0]), np.array([1.0])))
    either = Ranker((0.0,) * len(NAMES), HiddenUnits(hidden, np.array([0.0]), np.array([-1.0])))
    # No message has both, so the unit that needs both leaves the order of the messages as it found them.
    assert silent.reorder(LISTS, SCORES, SIGNALS, QUESTION) == {"a": 0.6, "b": 0.4, "c": 0.2, "fact": 0.5}
    assert either.reorder(LISTS, SCORES, SIGNALS, QUESTION) == {"c": 0.6, "a": 0.4, "b": 0.2, "fact": 0.5}


def test_a_file_has_a_weight_and_the_weights_of_the_units_for_each_feature() -> None:
    named = {name: [float(name == "length"), 1.0, -1.0] for name in NAMES}
    text = json.dumps({"bases": [0.5, 0.0], "worths": [2.0, 3.0], "features": named}).encode()
    row = np.array([[float(name == "length") * 4.0 for name in NAMES]])
    assert Ranker.read(text).score_rows(row).tolist() == [4.0 + 2.0 * 4.5]


def test_the_weights_of_the_program_are_one_a_feature() -> None:
    ranker = LEARNED_RANKER
    assert len(ranker.weights) == len(NAMES)
    assert ranker.units is not None
    assert ranker.units.weights.shape == (len(NAMES), len(ranker.units.bases)) == (len(NAMES), len(ranker.units.worths))
    assert np.isfinite(ranker.score_rows(features(LISTS, SCORES, SIGNALS, QUESTION))).all()
    assert set(ranker.reorder(LISTS, SCORES, SIGNALS, QUESTION)) == set(SCORES)


def test_messages_of_nobody_with_a_name_stay_as_they_are() -> None:
    of_the_user = {name: one._replace(speaker="user") for name, one in SIGNALS.items()}
    assert only("bm25").reorder(LISTS, SCORES, of_the_user, QUESTION) == SCORES
