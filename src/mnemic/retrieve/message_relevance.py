"""The probability that a message of a conversation holds what a query asks for.

A message is short, answers the one before it and says "I": likeness and shared words alone tell little of it. Its place
and score among the others, and whether it was said by the person that the query asks about, tell the rest. A logistic
model over these; `training/relevance/train.py` fits it to the `dev` halves of chats with known evidence, in scopes of 8
to 600 messages, and to requests that nothing answers. docs/benchmarks/retrieval.md has how well the probabilities hold
on the `test` halves.

`agreement` is the same for a whole search: of a question about Ana that the words of Ben answer best, little is known.
A statement says by itself whom it is about.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from pkgutil import get_data

import numpy as np
import numpy.typing as npt

from mnemic.retrieve.question import ROLES, Question
from mnemic.types import Scored, Signals

Floats = npt.NDArray[np.float64]
NAMES = ("cosine", "word", "score", "place", "asked", "speaker", "share", "foreign", "user")
"""The features of a message, in the order of the weights.

`cosine` and `word`: as in `mnemic.retrieve.relevance`, `score` and `place` (1, 1/2, 1/3 ...) those of the ranking.
`asked`: 1 where the query names one who speaks here, and others speak, too; `speaker`: then 1/2 for what that person
said, else -1/2; `share`: the share of the first five that this person said, less a half. `foreign`: the asker says "I",
and another named person said the message. `user`: the asker said it.
"""
AGREEMENT = ("first", "share")
"""The features of a search for somebody: `speaker` of the first hit (1/2 of a statement), and `share`."""
ANY_MODEL = "*"
MOST_WORD = 4.0
FIRST = 5
_ME = re.compile(r"\b(?:i|me|my|mine|we|us|our)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class About:
    """The persons that a query asks about (`None`: nobody who speaks here beside others), and the share of the first
    hits that they said, less a half.
    """

    speakers: frozenset[str] | None
    share: float = 0.0
    first: float = 0.0

    @classmethod
    def of(cls, scores: Mapping[str, float], signals: Mapping[str, Signals], question: Question) -> About:
        """`signals`: of the messages among what was found."""
        named = question.speakers - ROLES
        if not named or all(one.speaker in named for one in signals.values()):
            return cls(None)
        best = nlargest(FIRST, scores, key=scores.__getitem__)
        said = [signals[one].speaker in named for one in best if one in signals]
        if not said:
            return cls(named)
        return cls(named, sum(said) / len(said) - 0.5, said[0] - 0.5 if best[0] in signals else 0.5)


def features(
    lists: Mapping[str, Sequence[Scored]],
    scores: Mapping[str, float],
    signals: Mapping[str, Signals],
    question: Question,
    per_word: float,
    among: Sequence[str] | None = None,
) -> Floats:
    """Return a row for each of `signals` (messages alone), or for those that are `among` them, and a column for each of
    `NAMES`. `per_word`: of `Gauge`.
    """
    chosen = list(signals) if among is None else among
    about = About.of(scores, signals, question)
    cosines, words = dict(lists.get("vector", ())), dict(lists.get("keyword", ()))
    far = min(cosines.values(), default=0.0)
    best = sorted(scores, key=scores.__getitem__, reverse=True)
    places = {one: 1 / place for place, one in enumerate(best, start=1)}
    named, mine = about.speakers, not (question.speakers - ROLES) and _ME.search(question.text) is not None
    asker = "user" in question.speakers
    table = np.zeros((len(chosen), len(NAMES)))
    table[:, :4] = [
        (cosines.get(one, far), min(MOST_WORD, words.get(one, 0.0) * per_word), scores[one], places[one])
        for one in chosen
    ] or np.zeros((0, 4))
    if named is not None:
        table[:, 4], table[:, 6] = 1.0, about.share
        table[:, 5] = [(signals[one].speaker in named) - 0.5 for one in chosen]
    elif mine:
        table[:, 7] = [(said := signals[one].speaker) is not None and said not in ROLES for one in chosen]
        table[:, 8] = [asker and signals[one].speaker == "user" for one in chosen]
    return table


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
    ) -> dict[str, float]:
        """Return the probability of each of the messages, or of those that are `among` them."""
        chosen = list(signals) if among is None else among
        weights = np.asarray(self.messages.get(model, self.messages[ANY_MODEL]))
        found = features(lists, scores, signals, question, per_word, chosen) @ weights[:-1] + weights[-1]
        return dict(zip(chosen, np.round(1 / (1 + np.exp(-found)), 4).tolist(), strict=True))

    def agreement(self, scores: Mapping[str, float], signals: Mapping[str, Signals], question: Question) -> float:
        """Return the probability that what was found is of the person that the query asks about; 1 where it names
        nobody.
        """
        about = About.of(scores, signals, question)
        if about.speakers is None:
            return 1.0
        first, share, base = self.agreed
        return 1 / (1 + math.exp(-(first * about.first + share * about.share + base)))


def _shipped() -> MessageScale:
    """Return the scale whose weights are part of the program."""
    read = json.loads(get_data("mnemic.retrieve", "relevance.json") or b"{}")
    messages = {
        model: tuple(float(weights.get(name, 0.0)) for name in (*NAMES, "base"))
        for model, weights in read["messages"].items()
    }
    return MessageScale(messages, tuple(float(read["agreement"][name]) for name in (*AGREEMENT, "base")))


MESSAGE_SCALE = _shipped()
"""Read with the module, like its code, so that no search waits for a file."""
