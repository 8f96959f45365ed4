"""Train the classifier of world talk: `python training/keeping/train_world.py [--held-out]`.

It tells what speaks of the world, advises the listener or keeps a talk going (`world/*.txt`, section `world`) from what
is worth keeping (`frames/*.txt`, and section `own` of `world/*.txt`). As in `train.py` one model looks at hashed words
and one at a sentence's vector; their log odds are added. `--held-out` trains on every second frame and measures on the
others. The seeds are fixed.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
from frames import Frame, frames, lexicon, sentences
from train import Adam, vectors

from mnemic.language.sentences.classify.classifier import KEPT, WIDTH, buckets
from mnemic.language.sentences.classify.general_knowledge import MIXING, World
from mnemic.providers.minilm import MiniLmEmbedder

SEED = 20261126
HIDDEN = 32
WEIGHTS = Path(__file__).parents[2] / "src/mnemic/language/sentences/classify/world.npz"
EACH = {"world": 12, "own": 16}
EACH_KEPT = 2
Row = tuple[str, float, str]


def generated(chosen: list[Frame]) -> list[Row]:
    """(text, 1 for world talk or 0, language) of every chosen frame."""
    words, rows = lexicon(), []
    for frame in chosen:
        dice = random.Random(f"{SEED}:{frame.language}:{frame.label}:{frame.text}")
        count = EACH.get(frame.label, EACH_KEPT) * (1 if frame.language == "en" else 2)
        wanted = float(frame.label == "world")
        rows += [(text, wanted, frame.language) for text in sentences(frame, words[frame.language], dice, count)]
    random.Random(SEED).shuffle(rows)
    return rows


def fitted(rows: list[Row]) -> World:
    """Fit both models; classes and languages count by the root of their size."""
    wanted = np.array([row[1] for row in rows], np.float32)
    sizes = {(w, lang): sum(1 for _, x, y in rows if (x, y) == (w, lang)) for _, w, lang in rows}
    weight = np.array([1 / np.sqrt(sizes[w, lang]) for _, w, lang in rows], np.float32)
    weight /= weight.mean()
    words, words_bias = _fit_words([buckets(row[0]) for row in rows], wanted, weight)
    net = _fit_vectors(vectors([row[0] for row in rows]), wanted, weight)
    return World(words=words, words_bias=words_bias, space=MiniLmEmbedder().space.model, **net)


def _fit_words(found: list[np.ndarray], wanted: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    dice = np.random.default_rng(SEED)
    model = {"words": np.zeros(WIDTH, np.float32), "bias": np.zeros(1, np.float32)}
    adam = Adam(model, rate=0.03, decay=0.003)
    for epoch in range(10):
        adam.rate = 0.03 * (1 - epoch / 10)
        order = dice.permutation(len(found))
        for start in range(0, len(order), 256):
            batch = order[start : start + 256]
            kept = [found[i][dice.random(len(found[i])) > 0.15] for i in batch]
            values = np.repeat([1 / np.sqrt(max(1, len(k))) for k in kept], [len(k) for k in kept]).astype(np.float32)
            owner = np.repeat(np.arange(len(batch)), [len(k) for k in kept])
            columns = np.concatenate(kept)
            scores = np.bincount(owner, model["words"][columns] * values, len(batch)) + model["bias"]
            wrong = (_share(scores) - _smooth(wanted[batch])) * weight[batch] / len(batch)
            slope = np.bincount(columns, wrong[owner] * values, WIDTH).astype(np.float32)
            adam.move({"words": slope, "bias": np.array([wrong.sum()], np.float32)})
    return model["words"], float(model["bias"][0])


def _fit_vectors(points: np.ndarray, wanted: np.ndarray, weight: np.ndarray) -> dict[str, np.ndarray]:
    dice = np.random.default_rng(SEED)
    model = {
        "inner": (dice.standard_normal((points.shape[1], HIDDEN)) * 0.2).astype(np.float32),
        "inner_bias": np.zeros(HIDDEN, np.float32),
        "outer": (dice.standard_normal(HIDDEN) * 0.1).astype(np.float32),
        "outer_bias": np.zeros(1, np.float32),
    }
    adam = Adam(model, rate=0.004, decay=0.01)
    for epoch in range(20):
        adam.rate = 0.004 * (1 - epoch / 20)
        order = dice.permutation(len(points))
        for start in range(0, len(order), 256):
            batch = order[start : start + 256]
            seen = points[batch] + dice.standard_normal((len(batch), points.shape[1])).astype(np.float32) * 0.02
            before = seen @ model["inner"] + model["inner_bias"]
            dropped = (dice.random(before.shape) > 0.3).astype(np.float32) / 0.7
            hidden = np.maximum(before, 0) * dropped
            scores = hidden @ model["outer"] + model["outer_bias"]
            wrong = ((_share(scores) - _smooth(wanted[batch])) * weight[batch] / len(batch)).astype(np.float32)
            back = np.outer(wrong, model["outer"]) * dropped * (before > 0)
            adam.move({
                "outer": hidden.T @ wrong, "outer_bias": np.array([wrong.sum()], np.float32),
                "inner": seen.T @ back, "inner_bias": back.sum(axis=0),
            })  # fmt: skip
    return model


def _share(scores: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-scores))


def _smooth(wanted: np.ndarray) -> np.ndarray:
    return 0.02 + 0.96 * wanted


def report(world: World, rows: list[Row]) -> None:
    seen = vectors([row[0] for row in rows])
    for name, points in (("words alone", None), ("both", seen)):
        shares = np.array(world.shares([row[0] for row in rows], points))
        for language in ("en", "de", "fr", "es", "it", "pt", "nl"):
            of = np.array([row[2] == language for row in rows])
            wanted = np.array([row[1] > 0 for row in rows])
            print(
                f"{name} {language}:",
                *(
                    f"from {least}: found {(shares[of & wanted] >= least).mean():.3f} "
                    f"wrongly {(shares[of & ~wanted] >= least).mean():.3f};"
                    for least in (0.5, 0.7, 0.9)
                ),
            )


def save(world: World) -> None:
    scale = np.abs(world.words).max() / 127
    np.savez_compressed(
        WEIGHTS,
        words=np.round(world.words / scale).astype(np.int8),
        words_scale=np.float32(scale),
        words_bias=np.float32(world.words_bias),
        inner=world.inner.astype(np.float16),
        inner_bias=world.inner_bias,
        outer=world.outer,
        outer_bias=world.outer_bias,
        space=np.array(world.space),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--held-out", action="store_true")
    asked = parser.parse_args()
    chosen = [*frames("world"), *(one for one in frames() if one.label in KEPT)]
    print(len(chosen), "frames; mixing", MIXING)
    if asked.held_out:
        report(fitted(generated(chosen[::2])), generated(chosen[1::2]))
    else:
        save(fitted(generated(chosen)))
        print(WEIGHTS, WEIGHTS.stat().st_size)


if __name__ == "__main__":
    main()
