"""Fit the weights of `mnemic.retrieve.preference_relevance`: `python training/preferences/fit.py [PREFEVAL.json]`.

A request of `frames.toml` is compared with a statement of its own subject, and with nine drawn from others. Prints the
weights, and for several bounds the share of statements that their own request is shown and the mean number of the nine.
A file of {preference, question, subject}, if one is given, is only rated by them, in two halves: nothing is fitted to
it, whatever its licence.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mnemic.retrieve import preference_relevance
from mnemic.retrieve.preference_relevance import WEIGHTS, ParsedRequest, RequestSimilarity
from mnemic_eval.replay import chosen_embedder

FRAMES = Path(__file__).parent / "frames.toml"
SEED, OTHERS = 20261127, 9
RIDGE, STEPS = 1.0, 100
BOUNDS = (0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.08, 0.1)


def own_lines() -> list[tuple[str, str, str]]:
    """Return the subject, the statement and the request of every frame and value."""
    return [
        (subject, says.replace("{x}", value), asked)
        for subject, frame in tomllib.loads(FRAMES.read_text(encoding="utf-8")).items()
        for says in frame["says"]
        for value in frame.get("values", [""])
        for asked in frame["asks"]
    ]


def table(lines: Sequence[tuple[str, str, str]]) -> tuple[np.ndarray, np.ndarray]:
    """Return a row of features for each comparison, and whether the request depends on the statement."""
    texts = list(dict.fromkeys(text for _, *pair in lines for text in pair))
    embedder = chosen_embedder(None, None)
    made = [asyncio.run(embedder.embed(texts[at : at + 64])) for at in range(0, len(texts), 64)]
    vectors = dict(zip(texts, (np.frombuffer(one, dtype=np.float32) for batch in made for one in batch), strict=True))
    compared: list[RequestSimilarity] = []

    def probability(self: RequestSimilarity) -> float:
        compared.append(self)
        return 1.0

    usual, RequestSimilarity.probability = RequestSimilarity.probability, probability  # type: ignore[method-assign]
    chance, right = random.Random(SEED), []
    for subject, said, request in lines:
        apart = sorted({other for name, other, _ in lines if name.split("_")[0] != subject.split("_")[0]})
        ask = ParsedRequest.from_text(request)
        for other in (said, *chance.sample(apart, OTHERS)):
            before = len(compared)
            ask.concerns(other, category="preference", cosine=float(vectors[other] @ vectors[request]))
            right += [other == said] * (len(compared) - before)
    RequestSimilarity.probability = usual  # type: ignore[method-assign]
    return np.array([one.features() for one in compared]), np.array(right, float)


def fitted(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the weights of a ridge logistic regression, the base last. No feature counts against a preference: those
    that would are left out, and the others fitted again.
    """
    kept = np.full(rows.shape[1], True)
    while True:
        weights = _regression(rows[:, kept], right)
        if (weights[:-1] >= 0).all():
            break
        kept[np.flatnonzero(kept)[weights[:-1] < 0]] = False
    found = np.zeros(rows.shape[1] + 1)
    found[np.append(kept, True)] = weights
    return found


def _regression(rows: np.ndarray, right: np.ndarray) -> np.ndarray:
    rows = np.c_[rows, np.ones(len(rows))]
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        found = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (found - right) + RIDGE * weights
        bend = (rows * (found * (1 - found))[:, None]).T @ rows + RIDGE * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    return weights


def rate(name: str, rows: np.ndarray, right: np.ndarray, weights: np.ndarray) -> None:
    """Print the share of what is shown."""
    found = 1 / (1 + np.exp(-(rows @ weights[:-1] + weights[-1])))
    for bound in BOUNDS:
        own, others = (found[right == 1] >= bound).mean(), (found[right == 0] >= bound).mean()
        print(f"{name} from {bound}: own {100 * own:.1f} %, of nine others {OTHERS * others:.2f}")


def main(files: Sequence[str]) -> None:
    """Fit, print the weights, and rate."""
    frames, halves = table(own_lines()), []
    for file in files:
        read = json.loads(Path(file).read_text(encoding="utf-8"))
        lines = [(one["subject"], one["preference"], one["question"]) for one in read]
        halves = [table(lines[half::2]) for half in (0, 1)]
    weights = fitted(*frames)
    print(dict(zip(WEIGHTS, (round(float(one), 2) for one in weights), strict=True)))
    for name, (rows, right) in zip(("frames", "one half", "other half"), (frames, *halves), strict=False):
        rate(name, rows, right, weights)
    print(f"in use: {dict(preference_relevance.WEIGHTS)}, from {preference_relevance.LEAST}")


if __name__ == "__main__":
    main(sys.argv[1:])
