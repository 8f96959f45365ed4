"""Learned order of messages: a small neural network over the scores of lists and signals.

`training/ranking/train.py` fits it to the `dev` half of chats between people with known evidence. It permutes their
messages and assigns them the same scores, so that all other memories stay in place among them. Chats with an assistant
are unchanged, since it ranks them worse (bench/retrieval.md), and so are those of which only the user's side
is known. `mnemic eval locomo --ablate` measures its contribution.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from pkgutil import get_data
from typing import NamedTuple, Self

import numpy as np

from mnemic.retrieve.question import Question
from mnemic.retrieve.signals import Floats, MessageTable
from mnemic.types import Scored, Signals

LIKENESS, WORDS = 0.4, 0.5
"""Share of the two lists in the score of neighbours and sessions."""
FEW_WORDS = 6
FAR = -1.5
"""Standard deviations below the mean of a message that the list of meaning does not name."""
TINY, STILL = 1e-9, 1e-6
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
    return features_of(
        MessageTable.from_signals(signals, question), lists, np.array([scores[one] for one in signals]), question
    )


def features_of(
    messages: MessageTable, lists: Mapping[str, Sequence[Scored]], scores: Floats, question: Question
) -> Floats:
    """Return the features of the messages of a table; `scores`: one for each of its rows."""
    rows = messages.rows
    if not rows:
        return np.zeros((0, len(NAMES)))
    every, cosine, cosine_place = _list_features(lists.get("vector", ()), rows)
    listed, word, word_place = _list_features(lists.get("keyword", ()), rows)
    far, silent = np.isnan(cosine), np.isnan(word)
    low, high, mean, spread = _spread(every)
    likeness = np.where(far, 0.0, (cosine - low) / (high - low + TINY))
    word = np.where(silent, 0.0, word)
    words = word / (listed.max() if listed.size else 1.0)
    own = LIKENESS * likeness + WORDS * words
    near, session = messages.neighbour_values(own), messages.sessions(own)
    spoken, timed = messages.spoken, messages.timed
    columns = (
        likeness, words, far, np.where(far, low, cosine), word / (4.0 * max(1, question.words)),
        np.where(far, FAR, (cosine - mean) / (spread + STILL)), cosine_place, word_place, word == 0.0,
        *near, np.maximum(near[0], near[1]), *session, own >= session[1] - TINY,
        spoken, (1.0 - spoken) * bool(question.speakers), messages.of_time > 0, timed * question.asks_when,
        messages.oneself, messages.asking, np.log1p(messages.words), messages.words < FEW_WORDS, words * likeness,
        timed, messages.turns == 0, own, scores,
    )  # fmt: skip
    table = np.empty((len(NAMES), len(rows)))
    for place, column in enumerate(columns):
        table[place] = column
    return table.T


def _spread(every: Floats) -> tuple[float, float, float, float]:
    """Return the least, the most, the mean and the standard deviation of the scores; numpy's own functions for the last
    two take as long as ten of its sums.
    """
    if not every.size:
        return 0.0, 0.0, 0.0, 0.0
    mean = float(np.add.reduce(every)) / every.size
    off = every - mean
    least, most = float(np.minimum.reduce(every)), float(np.maximum.reduce(every))
    return least, most, mean, math.sqrt(float(off @ off) / every.size)


def _list_features(found: Sequence[Scored], rows: Mapping[str, int]) -> tuple[Floats, Floats, Floats]:
    """All scores of a list; for each of `rows` its score (not a number if it is not in the list), and a share that
    falls with the place.
    """
    ids, listed = zip(*found, strict=True) if found else ((), ())
    every = np.array(listed, np.float64)
    # Ids that are no messages go to one row too many, which is cut off at the end.
    at = np.fromiter(map(rows.get, ids, repeat(len(rows))), np.int64, len(ids))
    scores, places = np.full(len(rows) + 1, np.nan), np.zeros(len(rows) + 1)
    scores[at] = every
    places[at] = 1 / (1 + np.arange(len(at)) / 5)
    return every, scores[:-1], places[:-1]


class HiddenUnits(NamedTuple):
    """One layer of rectified linear units: their weights, [features, units], their bases, and the worth of each."""

    weights: Floats
    bases: Floats
    worths: Floats

    def add_units(self, table: Floats) -> Floats:
        """Return the amount that the units add to the score of each row of features."""
        added: Floats = np.maximum(table @ self.weights + self.bases, 0.0) @ self.worths
        return added


@dataclass(frozen=True, slots=True)
class Ranker:
    """A weight for each of `NAMES`, and units that weigh features together; None: the weights alone."""

    weights: tuple[float, ...]
    units: HiddenUnits | None = None

    @classmethod
    def read(cls, text: bytes) -> Self:
        """Return the ranker of a file that `training/ranking/train.py` wrote."""
        fitted = json.loads(text)
        named = [fitted["features"][name] for name in NAMES]
        hidden = np.array([row[1:] for row in named])
        units = HiddenUnits(hidden, np.array(fitted["bases"]), np.array(fitted["worths"]))
        return cls(tuple(float(row[0]) for row in named), units)

    def score_rows(self, table: Floats) -> Floats:
        """Return a score for each row of features, any number; only their order means something."""
        scores: Floats = table @ np.asarray(self.weights)
        return scores if self.units is None else scores + self.units.add_units(table)

    def reorder(
        self,
        lists: Mapping[str, Sequence[Scored]],
        scores: Mapping[str, float],
        signals: Mapping[str, Signals],
        question: Question,
        messages: MessageTable | None = None,
    ) -> dict[str, float]:
        """Return `scores` with those of the messages (`signals`) reassigned in the learned order, best first.
        `messages`: their table, if there is one already.
        """
        # One message has only one order.
        if len(signals) < 2:
            return dict(scores)
        messages = messages or MessageTable.from_signals(signals, question)
        if not messages.between_people:
            return dict(scores)
        own = np.fromiter(map(scores.__getitem__, messages.rows), np.float64, len(messages.rows))
        learned = self.score_rows(features_of(messages, lists, own, question))
        dealt = np.empty_like(own)
        # The learned order decides which message gets which of the scores; the scores themselves stay.
        dealt[(-learned).argsort(kind="stable")] = -np.sort(-own)
        return {**scores, **dict(zip(messages.rows, dealt.tolist(), strict=True))}


LEARNED_RANKER = Ranker.read(get_data("mnemic.retrieve", "ranker.json") or b"{}")
"""Read with the module, like its code, so that no search waits for a file."""
