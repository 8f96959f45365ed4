"""A learned order of messages: a linear model over what the lists and signals say of each.

`training/ranking/train.py` fits it to the `dev` half of chats between people with known evidence. It puts their
messages in another order and gives them the scores that they had between them, so that everything else keeps its place
among them. Chats with an assistant are left as they are: there it loses (docs/benchmarks/retrieval.md). `mnemic
eval locomo --ablate` prints what it buys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import repeat
from pkgutil import get_data

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import Question
from mnemic.types import Scored, Signals

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

LIKENESS, WORDS = 0.4, 0.5
"""Share of the two lists in the score of neighbours and sessions."""
FEW_WORDS = 6
ASSISTANT = "assistant"
TOP, MORE = 3, 8
FAR = -1.5
"""Standard deviations below the mean of a message that the list of meaning does not name."""
TINY, STILL = 1e-9, 1e-6
STEPS = np.array([[-1], [1], [-2], [2]])
LONGEST = 1 << 40
"""Turns of a session at most."""
NAMES = (
    "cosine", "bm25", "no_cosine", "cosine_raw", "bm25_by_word", "cosine_deviations", "cosine_place", "bm25_place",
    "no_bm25", "previous", "following", "two_before", "two_after", "best_neighbour", "session_top", "session_best",
    "session_more", "session_found", "best_of_session", "speaker", "other_speaker", "told", "when", "oneself", "asking",
    "length", "short", "both", "timed", "first", "own", "score",
)  # fmt: skip
"""The features of a message, in the order of the weights."""


def features(
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    question: Question,
) -> Floats:
    """One row for each of `signals` (messages alone), a column for each of `NAMES`."""
    if not signals:
        return np.zeros((0, len(NAMES)))
    rows = {memory_id: row for row, memory_id in enumerate(signals)}
    _, times, sessions, turns, speakers, cues = zip(*signals.values(), strict=True)
    every, cosine, cosine_place = _listed(lists.get("vector", ()), rows)
    listed, word, word_place = _listed(lists.get("keyword", ()), rows)
    far, silent = np.isnan(cosine), np.isnan(word)
    low, high, mean, spread = (every.min(), every.max(), every.mean(), every.std()) if every.size else (0, 0, 0, 0)
    likeness = np.where(far, 0.0, (cosine - low) / (high - low + TINY))
    word = np.where(silent, 0.0, word)
    words = word / (listed.max() if listed.size else 1.0)
    own = LIKENESS * likeness + WORDS * words
    chats, turn = _numbered(sessions), np.array(turns, np.int64)
    near, session = _neighbours(chats, turn, own), _sessions(chats, own)
    length, asking, oneself, timed = (np.array(cue, np.float64) for cue in zip(*cues, strict=True))
    spoken, query_features = _asked(question, speakers, times)
    columns = (
        likeness, words, far, np.where(far, low, cosine), word / (4.0 * max(1, question.words)),
        np.where(far, FAR, (cosine - mean) / (spread + STILL)), cosine_place, word_place, word == 0.0,
        *near, np.maximum(near[0], near[1]), *session, own >= session[1] - TINY,
        spoken, (1.0 - spoken) * bool(question.speakers), query_features, timed * question.asks_when, oneself, asking,
        np.log1p(length), length < FEW_WORDS, words * likeness, timed, turn == 0, own,
        [scores[one] for one in signals],
    )  # fmt: skip
    table = np.empty((len(NAMES), len(rows)))
    for place, column in enumerate(columns):
        table[place] = column
    return table.T


def _listed(found: Sequence[Scored], rows: Mapping[str, int]) -> tuple[Floats, Floats, Floats]:
    """All scores of a list; for each of `rows` its score (not a number where the list does not name it), and a share
    that falls with the place.
    """
    ids, listed = zip(*found, strict=True) if found else ((), ())
    every, at = np.array(listed, np.float64), list(map(rows.get, ids, repeat(len(rows))))
    scores, places = np.full(len(rows) + 1, np.nan), np.zeros(len(rows) + 1)
    scores[at] = every
    places[at] = 1 / (1 + np.arange(len(at)) / 5)
    return every, scores[:-1], places[:-1]


def _numbered(sessions: Sequence[str | None]) -> Whole:
    """Return a number for the session of each message."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sessions))}
    return np.array([numbers[name] for name in sessions], np.int64)


def _asked(question: Question, speakers: Sequence[str | None], times: Sequence[datetime]) -> tuple[Floats, Floats]:
    """Return 1 for each message that was said by whom the question names, and for each of the time that it names."""
    spoken = np.array([one in question.speakers for one in speakers], np.float64)
    if question.names_date is None and question.period is None:
        return spoken, np.zeros(len(times))
    return spoken, np.array([question.tells(at.date()) for at in times], np.float64)


def _neighbours(chats: Whole, turns: Whole, own: Floats) -> list[Floats]:
    """Scores of the messages one before, one after, two before and two after; 0 where none was found."""
    where = chats * LONGEST + turns
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    wanted = where + STEPS
    place = np.minimum(ordered.searchsorted(wanted), len(ordered) - 1)
    return list(np.where(ordered[place] == wanted, own[order[place]], 0.0))


def _sessions(chats: Whole, own: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """For the session of each message: the mean of its best three, the best, the mean of its best eight (nothing for
    those that are missing), and the logarithm of how many were found.
    """
    order = np.lexsort((-own, chats))
    sizes = np.bincount(chats)
    starts = sizes.cumsum() - sizes
    ranks = np.arange(len(own)) - np.repeat(starts, sizes)
    best = own[order]
    each = (
        np.add.reduceat(np.where(ranks < TOP, best, 0.0), starts) / TOP,
        best[starts],
        np.add.reduceat(np.where(ranks < MORE, best, 0.0), starts) / MORE,
        np.log1p(sizes),
    )
    top, first, more, many = (one[chats] for one in each)
    return top, first, more, many


@dataclass(frozen=True, slots=True)
class Ranker:
    """A weight for each of `NAMES`."""

    weights: tuple[float, ...]

    def reordered(
        self,
        lists: Mapping[str, Sequence[Scored]],
        scores: Mapping[str, float],
        signals: Mapping[str, Signals],
        question: Question,
    ) -> dict[str, float]:
        """`scores` with those of the messages (`signals`) dealt out in the learned order, best first."""
        if len(signals) < 2 or ASSISTANT in {one.speaker for one in signals.values()}:
            return dict(scores)
        learned = features(lists, scores, signals, question) @ np.asarray(self.weights)
        ids = list(signals)
        order = [ids[place] for place in np.argsort(-learned, kind="stable").tolist()]
        dealt = sorted([scores[one] for one in ids], reverse=True)
        return {**scores, **dict(zip(order, dealt, strict=True))}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return the amounts by which the learned order changed the scores."""
    if before is after:
        return {}
    return {one: after[one] - score for one, score in before.items() if after[one] != score}


def _shipped() -> Ranker:
    """Return the ranker whose weights are part of the program."""
    weights = json.loads(get_data("mnemic.retrieve", "ranker.json") or b"{}")
    return Ranker(tuple(float(weights[name]) for name in NAMES))


LEARNED_RANKER = _shipped()
"""Read with the module, like its code, so that no search waits for a file."""
