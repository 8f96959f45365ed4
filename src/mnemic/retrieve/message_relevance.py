"""Probability that a message of a conversation answers a query.

A message is short, answers the one before it and says "I": similarity and shared words alone are weak evidence. Its
rank and score among the others, and whether its speaker is the person in question, add the rest. This is a logistic
model over these features; `training/relevance/train.py` fits it to the `dev` halves of chats with known evidence, in
scopes of 8 to 600 messages, and to requests that nothing answers. bench/retrieval.md reports how well the
probabilities are calibrated on the `test` halves.

`agreement` is the same for a whole search: if Ben's words answer a question about Ana best, little is known. A
statement names its own subject.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pkgutil import get_data

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import ROLES, Question
from mnemic.types import Scored, Signals

Floats = npt.NDArray[np.float64]
NAMES = ("cosine", "word", "score", "place", "asked", "speaker", "share", "foreign", "user")
"""Features of a message, in the order of the weights.

`cosine` and `word` are as in `mnemic.retrieve.relevance`, `score` and `place` (1, 1/2, 1/3 ...) as in the ranking.
`asked` is 1 if the query names one of several speakers; then `speaker` is 1/2 for that person's message, else -1/2, and
`share` is the share of the first five hits by that person, minus a half. `foreign`: the asker says "I", and another
named person wrote the message. `user`: the asker wrote it.
"""
AGREEMENT = ("first", "share")
"""Features of a search about a person: `speaker` of the first hit (1/2 for a statement), and `share`."""
ANY_MODEL = "*"
MAX_WORD_WEIGHT = 4.0
FIRST = 5
_ME = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class QuerySubjects:
    """People that a query asks about (`None` if it names no one of several speakers), and their share of the first
    hits, minus a half.
    """

    speakers: frozenset[str] | None
    share: float = 0.0
    first: float = 0.0

    @classmethod
    def from_signals(
        cls,
        scores: Mapping[str, float],
        signals: Mapping[str, Signals],
        question: Question,
        order: Sequence[str] | None = None,
    ) -> QuerySubjects:
        """Return the people that the query asks about; `signals` are those of the messages among the hits. `order`: the
        memories, best first, if they are in order already.
        """
        named = question.speakers - ROLES
        if not named or all(one.speaker in named for one in signals.values()):
            return cls(None)
        best = (best_first(scores) if order is None else order)[:FIRST]
        said = [signals[one].speaker in named for one in best if one in signals]
        if not said:
            return cls(named)
        return cls(named, sum(said) / len(said) - 0.5, said[0] - 0.5 if best[0] in signals else 0.5)


def best_first(scores: Mapping[str, float]) -> list[str]:
    """Return the memories by their scores."""
    return sorted(scores, key=scores.__getitem__, reverse=True)


def features(
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    question: Question,
    per_word: float,
    among: Sequence[str] | None = None,
    order: Sequence[str] | None = None,
) -> Floats:
    """Return a row for each of `signals` (messages alone), or for those that are `among` them, and a column for each of
    `NAMES`. `per_word`: of `RelevanceModel`; `order`: as in `QuerySubjects.of`.
    """
    chosen = list(signals) if among is None else among
    order = best_first(scores) if order is None else order
    about = QuerySubjects.from_signals(scores, signals, question, order)
    cosines, words = dict(lists.get("vector", ())), dict(lists.get("keyword", ()))
    # A message that the list does not contain is no nearer than the last one in it.
    far = min(cosines.values(), default=0.0)
    places = _places(order, frozenset(chosen))
    named, mine = about.speakers, not (question.speakers - ROLES) and _ME.search(question.text) is not None
    asker = "user" in question.speakers
    table = np.zeros((len(chosen), len(NAMES)))
    # Column by column: numpy reads a list of tuples five times as slowly.
    table[:, 0] = [cosines.get(one, far) for one in chosen]
    table[:, 1] = [min(MAX_WORD_WEIGHT, words.get(one, 0.0) * per_word) for one in chosen]
    table[:, 2] = [scores[one] for one in chosen]
    table[:, 3] = [places[one] for one in chosen]
    if named is not None:
        table[:, 4], table[:, 6] = 1.0, about.share
        table[:, 5] = [(signals[one].speaker in named) - 0.5 for one in chosen]
    elif mine:
        table[:, 7] = [(said := signals[one].speaker) is not None and said not in ROLES for one in chosen]
        table[:, 8] = [asker and signals[one].speaker == "user" for one in chosen]
    return table


def _places(order: Sequence[str], chosen: frozenset[str]) -> dict[str, float]:
    """Return 1, 1/2, 1/3 ... for those of `order` that are `chosen`; mostly these are the first of it."""
    places: dict[str, float] = {}
    for place, one in enumerate(order, start=1):
        if one in chosen:
            places[one] = 1 / place
            if len(places) == len(chosen):
                break
    return places


@dataclass(frozen=True, slots=True)
class MessageScale:
    """A weight for each of `NAMES`, by the model of the vectors, and for each of `AGREEMENT`; the last is the base."""

    messages: Mapping[str, tuple[float, ...]]
    agreed: tuple[float, ...]

    def relevances(
        self,
        lists: Mapping[str, Sequence[Scored]],
        scores: Mapping[str, float],
        signals: Mapping[str, Signals],
        question: Question,
        *,
        per_word: float,
        model: str,
        among: Sequence[str] | None = None,
        order: Sequence[str] | None = None,
    ) -> dict[str, float]:
        """Return the probability of each message, or of those `among` them; `order`: as in `QuerySubjects.of`."""
        chosen = list(signals) if among is None else among
        weights = np.asarray(self.messages.get(model, self.messages[ANY_MODEL]))
        found = features(lists, scores, signals, question, per_word, chosen, order) @ weights[:-1] + weights[-1]
        return dict(zip(chosen, (1 / (1 + np.exp(-found))).round(4).tolist(), strict=True))

    def agreement(
        self,
        scores: Mapping[str, float],
        signals: Mapping[str, Signals],
        question: Question,
        order: Sequence[str] | None = None,
    ) -> float:
        """Return the probability that the hits concern the person that the query asks about; 1 if it names no person.
        `order`: as in `QuerySubjects.of`.
        """
        about = QuerySubjects.from_signals(scores, signals, question, order)
        if about.speakers is None:
            return 1.0
        first, share, base = self.agreed
        return 1 / (1 + math.exp(-(first * about.first + share * about.share + base)))


def _bundled_scale() -> MessageScale:
    """Return the scale with the bundled weights."""
    read = json.loads(get_data("mnemic.retrieve", "relevance.json") or b"{}")
    messages = {
        model: tuple(float(weights.get(name, 0.0)) for name in (*NAMES, "base"))
        for model, weights in read["messages"].items()
    }
    return MessageScale(messages, tuple(float(read["agreement"][name]) for name in (*AGREEMENT, "base")))


MESSAGE_SCALE = _bundled_scale()
"""Read with the module, like its code, so that no search waits for a file."""
