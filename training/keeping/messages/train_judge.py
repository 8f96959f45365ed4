"""Train the judge of what is worth keeping: python train_judge.py EPOCHS OUT START ASIDE FILE..., with PYTHONPATH
../../answers:..

It reads a part of a message, and the words around it. Its pairs come from whole messages written by hand (the message
`M`, why it is kept or left `W`, what of it is worth keeping, word by word, `K`), cut as a message is read, and from
sentences of the frames, alone and one after another. ASIDE: a file of messages that is reported on and trains nothing.
START: the weights of another judge, of whose architecture it is; see training/answers/train.py for what else is needed.
The packaged weights began with those of the judge of changes: 3 epochs of the first ten files, 2 with four more, then
2, 1 and 1 as further files came, with up to three sentences of each frame; the mean of the weights after each of these
three was trained for an epoch more, the first with sentences one after another; the mean of that and of an epoch more,
with orders_at_once.txt.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from frames import frames, lexicon, sentences
from pairs import Pair
from train import BATCH, auc, begin, fit, score

from mnemic.extract.rule_extractor import around, pieces_to_judge
from mnemic.language.sentences.classify.classifier import KEPT
from mnemic.providers.pair_judge import KEEPING_LIMITS

HERE = Path(__file__).parent
RATE, WARMING = 4e-4, 40
OF_FRAMES = 3_500
"""About how many pairs an epoch has beside those of the messages."""
INSIDE, OUTSIDE = 0.6, 0.2
"""Share of its letters that a part has in what is worth keeping, from which it is kept, and to which it is left."""


class Told(NamedTuple):
    """A message, why it is kept or left, and what of it is worth keeping."""

    message: str
    why: str
    kept: tuple[str, ...]


def read_messages(path: Path) -> list[Told]:
    """Return the messages of a file."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [(line[0], line[2:].strip()) for line in block.strip().splitlines()]
        if lines:
            (_, message), (_, why), *kept = lines
            found.append(Told(message, why, tuple(text for _, text in kept)))
    return found


def pairs_of(told: Told) -> Iterator[Pair]:
    """Yield a pair for each part of a message that is wholly worth keeping, or not at all."""
    worth = np.zeros(len(told.message), bool)
    for kept in told.kept:
        start = told.message.index(kept)
        worth[start : start + len(kept)] = True
    letters = np.array([one.isalnum() for one in told.message], bool)
    for start, end, text, near in pieces_to_judge(told.message):
        if letters[start:end].any():
            share = worth[start:end][letters[start:end]].mean()
            if share >= INSIDE or share <= OUTSIDE:
                yield Pair(text, near, bool(share >= INSIDE), told.why)


def of_frames(rng: random.Random, each: int = 1) -> Iterator[Pair]:
    """Yield sentences of every frame, alone."""
    words = lexicon()
    for frame in frames():
        for text in sentences(frame, words[frame.language], rng, each):
            yield Pair(text, "", frame.label in KEPT, "frame")


def of_lists(rng: random.Random, count: int = 250) -> Iterator[Pair]:
    """Yield the sentences of messages that tell one thing after another, made of English frames."""
    words, chosen = lexicon()["en"], [frame for frame in frames() if frame.language == "en"]
    kept, left = ([one for one in chosen if (one.label in KEPT) == is_kept] for is_kept in (True, False))
    for _ in range(count):
        told = [rng.choice(kept if rng.random() < 0.8 else left) for _ in range(rng.randint(3, 9))]
        texts = [next(sentences(frame, words, rng, 1)).rstrip(".!") for frame in told]
        message = ". ".join(texts) + "."
        start = 0
        for frame, text in zip(told, texts, strict=True):
            near = around(message, start, start + len(text))
            yield Pair(text, near, frame.label in KEPT, "list")
            start += len(text) + 2


def report(odds: np.ndarray, pairs: Sequence[Pair]) -> str:
    """Return how well what is kept and left is told apart."""
    kept = np.array([one.answers for one in pairs])
    shares = []
    for least in (-1.0, -0.5, 0.0, 0.5, 1.0):
        taken = odds >= least
        right = (taken & kept).sum()
        shares.append(f"{least}: {right / max(1, taken.sum()):.3f}/{right / kept.sum():.3f}")
    return f"AUC {auc(odds[kept], odds[~kept]):.3f}, precision / recall from log odds " + ", ".join(shares)


def main(epochs: int, out: str, start: str, aside: str, *names: str) -> None:
    torch.manual_seed(0)
    rng = random.Random(7)
    kept_aside = [pair for told in read_messages(Path(aside)) for pair in pairs_of(told)]
    taken = [pair for name in names for told in read_messages(HERE / name) for pair in pairs_of(told)]
    model = begin(start)
    steps = math.ceil(epochs * (len(taken) + OF_FRAMES) / BATCH)
    drawn = ([*taken, *of_frames(rng), *of_lists(rng)] for _ in range(epochs))
    for epoch, loss in enumerate(fit(model, drawn, steps, KEEPING_LIMITS, RATE, WARMING, rng), start=1):
        print(epoch, round(loss, 3), flush=True)
        torch.save(model.state_dict(), Path(out))
        if kept_aside:
            print(report(score(model, kept_aside, KEEPING_LIMITS), kept_aside), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], *sys.argv[5:])
