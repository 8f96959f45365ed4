"""A learned order of messages: a linear model over what the lists and signals say of each.

`training/ranking/train.py` fits it to the `dev` half of chats between people with known evidence. It puts their
messages in another order and gives them the scores that they had between them, so that everything else keeps its place
among them. Chats with an assistant are left as they are: there it loses (docs/benchmarks/retrieval.md). `mnemic
eval locomo --ablate` prints what it buys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
LONGEST = 1 << 40
"""Turns of a session at most."""
ABSENT = (float("nan"), 0.0)
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
    said = list(signals.values())
    cosine, cosine_place = _listed(lists.get("vector", ()), signals)
    word, word_place = _listed(lists.get("keyword", ()), signals)
    far, silent = np.isnan(cosine), np.isnan(word)
    every = np.fromiter((one.score for one in lists.get("vector", ())), np.float64)
    low, high, mean, spread = (every.min(), every.max(), every.mean(), every.std()) if every.size else (0, 0, 0, 0)
    likeness = np.where(far, 0.0, (cosine - low) / (high - low + TINY))
    word = np.where(silent, 0.0, word)
    words = word / max((one.score for one in lists.get("keyword", ())), default=1.0)
    own = LIKENESS * likeness + WORDS * words
    chats, turns = _places(said)
    near = _neighbours(chats, turns, own)
    session = _sessions(chats, own)
    length, asking, oneself, timed = np.asarray([one.cues for one in said], np.float64).reshape(-1, 4).T
    spoken = np.asarray([one.speaker in question.speakers for one in said], np.float64)
    dated = question.names_date is not None or question.period is not None
    told = np.asarray([dated and question.tells(one.happened_at.date()) for one in said], np.float64)
    columns = (
        likeness, words, far, np.where(far, low, cosine), word / (4.0 * max(1, question.words)),
        np.where(far, FAR, (cosine - mean) / (spread + STILL)), cosine_place, word_place, word == 0.0,
        *near, np.maximum(near[0], near[1]), *session, own >= session[1] - TINY,
        spoken, (1.0 - spoken) * bool(question.speakers), told, timed * question.asks_when, oneself, asking,
        np.log1p(length), length < FEW_WORDS, words * likeness, timed, turns == 0, own,
        [scores[one] for one in signals],
    )  # fmt: skip
    table = np.empty((len(NAMES), len(said)))
    for place, column in enumerate(columns):
        table[place] = column
    return table.T


def _listed(found: Sequence[Scored], wanted: Iterable[str]) -> tuple[Floats, Floats]:
    """The score in a list (not a number where it does not name the memory), and a share that falls with the place."""
    known = {one.memory_id: (one.score, 1 / (1 + place / 5)) for place, one in enumerate(found)}
    rows = np.asarray([known.get(one, ABSENT) for one in wanted], np.float64).reshape(-1, 2)
    return rows[:, 0], rows[:, 1]


def _places(said: Sequence[Signals]) -> tuple[Whole, Whole]:
    """A number for the session of each message, and its turn."""
    numbers: dict[str | None, int] = {}
    chats = np.asarray([numbers.setdefault(one.session, len(numbers)) for one in said], np.int64)
    return chats, np.asarray([one.turn for one in said], np.int64)


def _neighbours(chats: Whole, turns: Whole, own: Floats) -> list[Floats]:
    """Scores of the messages one before, one after, two before and two after; 0 where none was found."""
    if not own.size:
        return [own] * 4
    where = chats * LONGEST + turns
    order = np.argsort(where, kind="stable")
    ordered = where[order]
    found = []
    for step in (-1, 1, -2, 2):
        place = np.minimum(np.searchsorted(ordered, where + step), len(ordered) - 1)
        found.append(np.where(ordered[place] == where + step, own[order[place]], 0.0))
    return found


def _sessions(chats: Whole, own: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """For the session of each message: the mean of its best three, the best, the mean of its best eight (nothing for
    those that are missing), and the logarithm of how many were found.
    """
    if not own.size:
        return own, own, own, own
    order = np.lexsort((-own, chats))
    starts = np.flatnonzero(np.diff(chats[order], prepend=-1))
    sizes = np.diff(starts, append=len(own))
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
        order = [ids[place] for place in np.argsort(-learned, kind="stable")]
        dealt = sorted((scores[one] for one in ids), reverse=True)
        return {**scores, **dict(zip(order, dealt, strict=True))}


def moved(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """The amounts by which the learned order changed the scores."""
    if before is after:
        return {}
    return {one: after[one] - score for one, score in before.items() if after[one] != score}


def _shipped() -> Ranker:
    """Return the ranker whose weights are part of the program."""
    weights = json.loads(get_data("mnemic.retrieve", "ranker.json") or b"{}")
    return Ranker(tuple(float(weights[name]) for name in NAMES))


LEARNED_RANKER = _shipped()
"""Read with the module, like its code, so that no search waits for a file."""
