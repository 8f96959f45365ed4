"""A small network that orders messages, fitted with Adam: a linear part and one layer of rectified linear units.

The loss of a question is the cross entropy of a softmax over the messages found for it, the evidence sharing it all.
Several networks from different random starts are fitted and their scores averaged, which is one network with all their
units. The size, the decay and the number of epochs were chosen by leaving out one conversation of LoCoMo's `dev` half
at a time (bench/retrieval.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mnemic.retrieve.learned_ranker import NAMES, HiddenUnits, Ranker

UNITS, STARTS, BATCH, EPOCHS, RATE, DECAY, SEED = 16, 4, 16, 15, 3e-3, 0.3, 20261128
Row = tuple[np.ndarray, np.ndarray]
"""The features of the messages found for a question, and which of them are evidence."""
Layers = dict[str, np.ndarray]


def fitted(found: Sequence[Row]) -> Ranker:
    """Return the mean of `STARTS` networks, for features as they are."""
    every = np.concatenate([one for one, _ in found])
    mean, spread = every.mean(axis=0), every.std(axis=0) + 1e-6
    scaled = [((one - mean) / spread, right / right.sum()) for one, right in found]
    networks = [_network(scaled, np.random.default_rng(SEED + start)) for start in range(STARTS)]
    weights = sum(one["weights"] for one in networks) / STARTS / spread
    hidden = np.concatenate([one["hidden"] for one in networks], axis=1)
    bases = np.concatenate([one["bases"] for one in networks]) - (mean / spread) @ hidden
    worths = np.concatenate([one["worths"] for one in networks]) / STARTS
    return Ranker(tuple(weights.tolist()), HiddenUnits(hidden / spread[:, None], bases, worths))


def _network(lists: Sequence[Row], random: np.random.Generator) -> Layers:
    """Return the layers of one network, for features of mean 0 and deviation 1."""
    features = len(NAMES)
    layers: Layers = {
        "weights": np.zeros(features),
        "hidden": random.normal(size=(features, UNITS)) / np.sqrt(features),
        "bases": np.zeros(UNITS),
        "worths": np.zeros(UNITS),
    }
    first, second = ({name: np.zeros_like(one) for name, one in layers.items()} for _ in range(2))
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS) + 1e-4
        order = random.permutation(len(lists))
        for start in range(0, len(order), BATCH):
            slopes = _slopes(layers, [lists[place] for place in order[start : start + BATCH]])
            step += 1
            for name, slope in slopes.items():
                first[name] = 0.9 * first[name] + 0.1 * slope
                second[name] = 0.999 * second[name] + 0.001 * slope**2
                move = first[name] / (1 - 0.9**step) / (np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8)
                # The decay is apart from the slope (Loshchilov and Hutter, "Decoupled Weight Decay Regularization").
                layers[name] = layers[name] - rate * (move + (0.0 if name == "bases" else DECAY) * layers[name])
    return layers


def _slopes(layers: Layers, lists: Sequence[Row]) -> Layers:
    """Return the slope of the mean loss of some questions, by layer."""
    rows = np.concatenate([one for one, _ in lists])
    ends = np.cumsum([len(one) for one, _ in lists])[:-1]
    given = rows @ layers["hidden"] + layers["bases"]
    active = np.maximum(given, 0.0)
    scores = rows @ layers["weights"] + active @ layers["worths"]
    parts = zip(np.split(scores, ends), lists, strict=True)
    off = np.concatenate([_softmax(part) - right for part, (_, right) in parts]) / len(lists)
    behind = np.outer(off, layers["worths"]) * (given > 0)
    return {
        "weights": rows.T @ off,
        "hidden": rows.T @ behind,
        "bases": behind.sum(axis=0),
        "worths": active.T @ off,
    }


def _softmax(scores: np.ndarray) -> np.ndarray:
    guess: np.ndarray = np.exp(scores - scores.max())
    return guess / guess.sum()
