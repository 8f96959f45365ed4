"""A learned order of messages: a linear model over what the lists and signals say of each.

`training/ranking/train.py` fits it to the `dev` half of chats between people with known evidence. It puts their
messages in another order and gives them the scores that they had between them, so that everything else keeps its place
among them. Chats with an assistant are left as they are: there it loses (docs/benchmarks/retrieval.md). Off by default
(`Searcher.ranker`); `mnemic eval locomo --ablate` prints what it buys.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import log1p

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import Question
from mnemic.types import Scored, Signals

Floats = npt.NDArray[np.float64]
Turn = tuple[str | None, int]

LIKENESS, WORDS = 0.4, 0.5
"""Share of the two lists in the score of neighbours and sessions."""
FEW_WORDS = 6
ASSISTANT = "assistant"
TOP, MORE = 3, 8
NAMES = (
    "cosine", "bm25", "no_cosine", "cosine_raw", "bm25_by_word", "cosine_deviations", "cosine_place", "bm25_place",
    "no_bm25", "previous", "following", "two_before", "two_after", "best_neighbour", "session_top", "session_best",
    "session_more", "session_found", "best_of_session", "speaker", "other_speaker", "told", "when", "oneself", "asking",
    "length", "short", "both", "timed", "first", "own", "score",
)  # fmt: skip
"""The features of a message, in the order of the weights."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """Scores of one search, made ready for the features of each message."""

    cosines: Mapping[str, float]
    words: Mapping[str, float]
    cosine_places: Mapping[str, int]
    word_places: Mapping[str, int]
    own: Mapping[str, float]
    turns: Mapping[Turn, float]
    sessions: Mapping[str | None, tuple[float, float, float, float]]
    low: float
    span: float
    mean: float
    deviation: float
    best: float
    asked: float


def features(
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    question: Question,
) -> Floats:
    """One row for each of `signals` (messages alone), a column for each of `NAMES`."""
    seen = _seen(lists, signals, question)
    rows = [_row(one, signals[one], scores[one], seen, question) for one in signals]
    return np.asarray(rows, np.float64).reshape(-1, len(NAMES))


def _seen(lists: Mapping[str, Sequence[Scored]], signals: Mapping[str, Signals], question: Question) -> _Seen:
    cosines, words = ({one.memory_id: one.score for one in lists.get(name, ())} for name in ("vector", "keyword"))
    values = np.fromiter(cosines.values(), np.float64) if cosines else np.zeros(1)
    low, span = float(values.min()), float(values.max() - values.min()) + 1e-9
    best = max(words.values(), default=0.0) or 1e-9
    own = {
        one: LIKENESS * ((cosines[one] - low) / span if one in cosines else 0.0) + WORDS * words.get(one, 0.0) / best
        for one in signals
    }
    sessions: dict[str | None, list[float]] = defaultdict(list)
    for memory_id, one in signals.items():
        sessions[one.session].append(own[memory_id])
    return _Seen(
        cosines=cosines,
        words=words,
        cosine_places={one: place for place, one in enumerate(cosines)},
        word_places={one: place for place, one in enumerate(words)},
        own=own,
        turns={(one.session, one.turn): own[memory_id] for memory_id, one in signals.items()},
        sessions={session: _session(found) for session, found in sessions.items()},
        low=low,
        span=span,
        mean=float(values.mean()),
        deviation=float(values.std()) + 1e-6,
        best=best,
        asked=4.0 * max(1, question.words),
    )


def _session(found: list[float]) -> tuple[float, float, float, float]:
    ordered = sorted(found, reverse=True)
    return sum(ordered[:TOP]) / TOP, ordered[0], sum(ordered[:MORE]) / MORE, log1p(len(ordered))


def _row(memory_id: str, one: Signals, score: float, seen: _Seen, question: Question) -> tuple[float, ...]:
    cosine, word = seen.cosines.get(memory_id), seen.words.get(memory_id, 0.0)
    likeness = 0.0 if cosine is None else (cosine - seen.low) / seen.span
    near = [seen.turns.get((one.session, one.turn + step), 0.0) for step in (-1, 1, -2, 2)]
    session, own, cues = seen.sessions[one.session], seen.own[memory_id], one.cues
    spoken = one.speaker in question.speakers
    return (
        likeness, word / seen.best, cosine is None, seen.low if cosine is None else cosine, word / seen.asked,
        -1.5 if cosine is None else (cosine - seen.mean) / seen.deviation,
        0.0 if cosine is None else 1 / (1 + seen.cosine_places[memory_id] / 5),
        1 / (1 + seen.word_places[memory_id] / 5) if memory_id in seen.word_places else 0.0,
        word == 0.0, *near, max(near[:2]), *session, own >= session[1] - 1e-9,
        spoken, bool(question.speakers) and not spoken, question.tells(one.happened_at.date()),
        question.asks_when and cues.timed, cues.oneself, cues.asking, log1p(cues.words), cues.words < FEW_WORDS,
        word / seen.best * likeness, cues.timed, one.turn == 0, own, score,
    )  # fmt: skip


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
        if len(signals) < 2 or any(one.speaker == ASSISTANT for one in signals.values()):
            return dict(scores)
        learned = features(lists, scores, signals, question) @ np.asarray(self.weights)
        ids = list(signals)
        order = [ids[place] for place in np.argsort(-learned, kind="stable")]
        dealt = sorted((scores[one] for one in ids), reverse=True)
        return {**scores, **dict(zip(order, dealt, strict=True))}


@cache
def learned_ranker() -> Ranker:
    """The ranker whose weights are part of the program."""
    text = resources.files("mnemic.retrieve").joinpath("ranker.json").read_text(encoding="utf-8")
    weights = json.loads(text)
    return Ranker(tuple(float(weights[name]) for name in NAMES))
