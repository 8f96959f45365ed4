"""Train the classifier of statements: `python training/keeping/train.py [--held-out] [--weights FILE]`.

Sentences are generated from `frames/*.txt` and `lexicon.toml`, embedded with the default embedder, and two models are
fitted with Adam: a softmax over hashed words, and a network with one hidden layer over the vectors. Each is fitted
`ROUNDS` times, on other sentences of the frames, and the mean is kept: one fit alone swings by several points with its
seed. `--held-out` trains on every second frame and measures on the others; without it all frames train and the weights
are written. The seeds are fixed, and each frame has its own: the same frames give the same weights, and a new frame
leaves the sentences of the others as they are.

The judge that reads a part of a message with the words around it is trained by `messages/train_judge.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from frames import Frame, frames, lexicon, sentences

from mnemic.language.sentences.classify.classifier import KEPT, LABELS, WIDTH, Weights, buckets, log_softmax
from mnemic.providers.minilm import MiniLmEmbedder

SEED = 20261123
HIDDEN = 64
ROUNDS = 3
FOLDER = Path(__file__).parents[2]
WEIGHTS = FOLDER / "src/mnemic/language/sentences/classify/weights.npz"
CACHE = FOLDER / "build/keeping"
Row = tuple[str, str, str, int]


def generated(chosen: list[tuple[int, Frame]], each: int, turn: int = 0) -> list[Row]:
    """(text, label, language, frame) of every chosen frame; other sentences at each `turn`."""
    words, rows = lexicon(), []
    for number, frame in chosen:
        dice = random.Random(f"{SEED}:{turn}:{frame.language}:{frame.label}:{frame.text}")
        count = each if frame.language == "en" else each * 2
        rows += [(t, frame.label, frame.language, number) for t in sentences(frame, words[frame.language], dice, count)]
    random.Random(SEED + turn).shuffle(rows)
    return rows


def vectors(texts: list[str]) -> np.ndarray:
    """Return the vectors of `texts`, each kept in `build/` for the next run: only new sentences are embedded."""
    kept = _kept()
    names = [hashlib.sha256(text.encode()).hexdigest()[:24] for text in texts]
    missing = {name: text for name, text in zip(names, texts, strict=True) if name not in kept}
    if missing:
        found = asyncio.run(_embedded(list(missing.values())))
        kept |= dict(zip(missing, found, strict=True))
        CACHE.mkdir(parents=True, exist_ok=True)
        np.savez(CACHE / "vectors.npz", names=np.array(list(kept)), vectors=np.stack(list(kept.values())))
    return np.stack([kept[name] for name in names])


@cache
def _kept() -> dict[str, np.ndarray]:
    file = CACHE / "vectors.npz"
    if not file.exists():
        return {}
    with np.load(file) as stored:
        return dict(zip(stored["names"].tolist(), stored["vectors"], strict=True))


async def _embedded(texts: list[str]) -> np.ndarray:
    embedder = MiniLmEmbedder()
    found: list[np.ndarray] = []
    for start in range(0, len(texts), 256):
        found += [np.frombuffer(v, np.float32) for v in await embedder.embed(texts[start : start + 256])]
    await embedder.close()
    return np.stack(found)


class Adam:
    """Adam with decoupled weight decay over named arrays."""

    def __init__(self, arrays: dict[str, np.ndarray], rate: float, decay: float) -> None:
        self.arrays, self.rate, self.decay, self.step = arrays, rate, decay, 0
        self.first = {name: np.zeros_like(a) for name, a in arrays.items()}
        self.second = {name: np.zeros_like(a) for name, a in arrays.items()}

    def move(self, slopes: dict[str, np.ndarray]) -> None:
        self.step += 1
        for name, slope in slopes.items():
            self.first[name] += 0.1 * (slope - self.first[name])
            self.second[name] += 0.01 * (slope * slope - self.second[name])
            first = self.first[name] / (1 - 0.9**self.step)
            second = self.second[name] / (1 - 0.99**self.step)
            self.arrays[name] -= self.rate * (first / (np.sqrt(second) + 1e-7) + self.decay * self.arrays[name])


def fit_words(rows: list[Row], weight: np.ndarray, seed: int, epochs: int = 10) -> dict[str, np.ndarray]:
    """Return the words' model. A tenth of the features is dropped at each look, so that no single word carries a
    sentence.
    """
    dice = np.random.default_rng(seed)
    found = [buckets(row[0]) for row in rows]
    wanted = np.array([LABELS.index(row[1]) for row in rows])
    model = {"words": np.zeros((WIDTH, len(LABELS)), np.float32), "words_bias": np.zeros(len(LABELS), np.float32)}
    adam = Adam(model, rate=0.02, decay=0.002)
    for epoch in range(epochs):
        adam.rate = 0.02 * (1 - epoch / epochs)
        order = dice.permutation(len(rows))
        for start in range(0, len(order), 256):
            batch = order[start : start + 256]
            kept = [found[i][dice.random(len(found[i])) > 0.15] for i in batch]
            lengths = np.array([max(1, len(k)) for k in kept])
            columns = np.concatenate(kept)
            values = np.repeat(1 / np.sqrt(lengths), [len(k) for k in kept]).astype(np.float32)
            owner = np.repeat(np.arange(len(batch)), [len(k) for k in kept])
            scores = np.zeros((len(batch), len(LABELS)), np.float32)
            np.add.at(scores, owner, model["words"][columns] * values[:, None])
            wrong = _wrong(scores + model["words_bias"], wanted[batch], weight[batch])
            slope = np.zeros_like(model["words"])
            np.add.at(slope, columns, wrong[owner] * values[:, None])
            adam.move({"words": slope, "words_bias": wrong.sum(axis=0)})
    return model


def fit_vectors(
    rows: list[Row], points: np.ndarray, weight: np.ndarray, seed: int, epochs: int = 24
) -> dict[str, np.ndarray]:
    """Return the vector's model."""
    dice = np.random.default_rng(seed)
    wanted = np.array([LABELS.index(row[1]) for row in rows])
    model = {
        "inner": (dice.standard_normal((points.shape[1], HIDDEN)) * 0.2).astype(np.float32),
        "inner_bias": np.zeros(HIDDEN, np.float32),
        "outer": (dice.standard_normal((HIDDEN, len(LABELS))) * 0.1).astype(np.float32),
        "outer_bias": np.zeros(len(LABELS), np.float32),
    }
    adam = Adam(model, rate=0.004, decay=0.01)
    for epoch in range(epochs):
        adam.rate = 0.004 * (1 - epoch / epochs)
        order = dice.permutation(len(rows))
        for start in range(0, len(order), 256):
            batch = order[start : start + 256]
            seen = points[batch] + dice.standard_normal((len(batch), points.shape[1])).astype(np.float32) * 0.02
            before = seen @ model["inner"] + model["inner_bias"]
            dropped = (dice.random(before.shape) > 0.3).astype(np.float32) / 0.7
            hidden = np.maximum(before, 0) * dropped
            wrong = _wrong(hidden @ model["outer"] + model["outer_bias"], wanted[batch], weight[batch])
            back = (wrong @ model["outer"].T) * dropped * (before > 0)
            adam.move({
                "outer": hidden.T @ wrong, "outer_bias": wrong.sum(axis=0),
                "inner": seen.T @ back, "inner_bias": back.sum(axis=0),
            })  # fmt: skip
    return model


def _wrong(scores: np.ndarray, wanted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the slope of the cross-entropy, with labels smoothed a little."""
    shares = np.exp(log_softmax(scores))
    aim = np.full_like(shares, 0.04 / len(LABELS))
    aim[np.arange(len(wanted)), wanted] += 0.96
    return (shares - aim) * weight[:, None] / len(wanted)


def weighted(rows: list[Row]) -> np.ndarray:
    """Every frame counts the same within its label and language; languages and labels by the root of their size."""
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    for _, label, language, _ in rows:
        sizes[label, language] += 1
    raw = np.array([1 / np.sqrt(sizes[label, language]) for _, label, language, _ in rows])
    return (raw / raw.mean()).astype(np.float32)


def report(name: str, weights: Weights, rows: list[Row], points: np.ndarray | None) -> None:
    opinions = weights.opinions([row[0] for row in rows], points)
    groups: dict[str, list[tuple[bool, bool, bool]]] = defaultdict(list)
    for row, one in zip(rows, opinions, strict=True):
        best = LABELS[int(np.argmax(one.shares))]
        groups[row[2]].append((row[1] in KEPT, one.keep >= 0.5, best == row[1]))
    print(name)
    for language in ("en", "de", "fr", "es", "it", "pt", "nl"):
        seen = groups[language]
        kept, right = sum(k for k, _, _ in seen), sum(k and s for k, s, _ in seen)
        said = sum(s for _, s, _ in seen)
        exact = sum(e for _, _, e in seen) / max(1, len(seen))
        print(f"  {language}: precision {right / max(1, said):.3f} recall {right / max(1, kept):.3f} label {exact:.3f}")


def trained(chosen: list[tuple[int, Frame]], each: int) -> Weights:
    """Both models, each the mean of `ROUNDS` fits: of the words' scores, and of the networks side by side."""
    words, nets = [], []
    for turn in range(ROUNDS):
        rows = generated(chosen, each, turn)
        print(len(rows), "sentences of", len(chosen), "frames", flush=True)
        weight = weighted(rows)
        words.append(fit_words(rows, weight, SEED + turn))
        nets.append(fit_vectors(rows, vectors([row[0] for row in rows]), weight, SEED + turn))
    return Weights(
        words=np.mean([one["words"] for one in words], axis=0).T.copy(),
        words_bias=np.mean([one["words_bias"] for one in words], axis=0),
        inner=np.concatenate([one["inner"] for one in nets], axis=1),
        inner_bias=np.concatenate([one["inner_bias"] for one in nets]),
        outer=np.concatenate([one["outer"] for one in nets], axis=0) / np.float32(ROUNDS),
        outer_bias=np.mean([one["outer_bias"] for one in nets], axis=0),
        mixing=(0.6, 0.6), space=MiniLmEmbedder().space.model,
    )  # fmt: skip


def save(weights: Weights, file: Path) -> None:
    scale = np.abs(weights.words).max(axis=1) / 127
    np.savez_compressed(
        file,
        words=np.round(weights.words / scale[:, None]).astype(np.int8),
        words_scale=scale.astype(np.float32),
        words_bias=weights.words_bias,
        inner=weights.inner.astype(np.float16),
        inner_bias=weights.inner_bias,
        outer=weights.outer,
        outer_bias=weights.outer_bias,
        mixing=np.array(weights.mixing, np.float32),
        space=np.array(weights.space),
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--each", type=int, default=14)
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    asked = parser.parse_args()
    numbered = list(enumerate(frames()))
    learnt = [pair for pair in numbered if pair[0] % 2 == 0] if asked.held_out else numbered
    made = trained(learnt, asked.each)
    if asked.held_out:
        others = generated([pair for pair in numbered if pair[0] % 2], max(2, asked.each // 3))
        seen = vectors([row[0] for row in others])
        report("held-out frames, words alone", made, others, None)
        report("held-out frames, both", made, others, seen)
    else:
        save(made, asked.weights)
        print(asked.weights, asked.weights.stat().st_size)


if __name__ == "__main__":
    main()
