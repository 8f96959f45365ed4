"""Train the judge of order: PYTHONPATH=../answers:../updates python train_order.py EPOCHS OUT START FILE...

Of a question, an earlier and a later message it tells whether the later one changes what the earlier one says of what
is asked, and so is to be shown first. Its pairs come from blocks written by hand: `O` the earlier message, `L` the
later one, `N` a question for which the later one comes first, `S` one that the earlier one still answers. For each
question also a message of another block that is near it: what a search finds beside an answer. Files that are not
named are reported on. START: the weights of another judge, of whose architecture it is; see training/answers/train.py
for what else is needed. The packaged weights began with those of the judge of changes: 4 epochs of home, work,
corrections, look_alikes, other_languages, by_the_way, statements, people, partly, health, office and private, with
groups of training/updates, and messages of any other block in place of near ones; then 2 epochs of these with denials,
instructions, other_languages_2, plain and two_things; then, with a tenth of the states left out, 3 of every file but
the two that are kept aside; and the mean of the weights before these 3 and after them.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from pairs import Pair
from train import BATCH, begin, fit
from train_changes import report

from mnemic.providers.minilm import ASKED_OF, MiniLmEmbedder
from mnemic.providers.pair_judge import ORDER_LIMITS

HERE = Path(__file__).parent
RATE, WARMING = 6e-4, 40
SMALL = 0.25
"""Share of the blocks that are shown in small letters."""
NEAREST = 6
"""Messages near a question, of which one is drawn for it in each epoch."""


class Block(NamedTuple):
    """An earlier and a later message, and questions with whether the later one comes first."""

    earlier: str
    later: str
    questions: tuple[tuple[bool, str], ...]


def read_blocks(path: Path) -> list[Block]:
    """Return the blocks of a file."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        (_, earlier), (_, later), *asked = [(line[0], line[2:].strip()) for line in block.strip().splitlines()]
        found.append(Block(earlier, later, tuple((kind == "N", text) for kind, text in asked)))
    return found


def pairs_of(block: Block, near: Mapping[str, Sequence[str]], rng: random.Random) -> Iterator[Pair]:
    """Yield the pairs of a block, and for each question one with a message of another block that is near it."""
    asked = [(text, block.later, newer, "N" if newer else "S") for newer, text in block.questions]
    asked += [(text, rng.choice(near[text]), False, "near") for _, text in block.questions]
    small = rng.random() < SMALL
    for question, later, newer, kind in asked:
        first = f"{question}{ASKED_OF}{block.earlier}"
        yield Pair(first.lower(), later.lower(), newer, kind) if small else Pair(first, later, newer, kind)


def nearest(blocks: Sequence[Block]) -> dict[str, list[str]]:
    """Return, for each question, the messages of other blocks that the embedder puts nearest."""
    told = [(place, text) for place, block in enumerate(blocks) for text in (block.earlier, block.later)]
    asked = [(place, text) for place, block in enumerate(blocks) for _, text in block.questions]
    vectors = asyncio.run(_embed([text for _, text in (*told, *asked)]))
    of_told, of_asked = vectors[: len(told)], vectors[len(told) :]
    found = {}
    for (place, question), vector in zip(asked, of_asked, strict=True):
        order = np.argsort(-(of_told @ vector))[: NEAREST + 2]
        found[question] = [told[one][1] for one in order if told[one][0] != place][:NEAREST]
    return found


async def _embed(texts: Sequence[str]) -> np.ndarray:
    embedder = MiniLmEmbedder()
    found = await embedder.embed(texts)
    await embedder.close()
    return np.stack([np.frombuffer(one, np.float32) for one in found])


def main(epochs: int, out: str, start: str, *names: str) -> None:
    torch.manual_seed(0)
    rng, asking = random.Random(7), random.Random(5)
    blocks = {path.name: read_blocks(path) for path in sorted(HERE.glob("*.txt"))}
    near = nearest([block for kept in blocks.values() for block in kept])
    taken = [one for name in names for one in blocks[name]]
    model = begin(start)
    steps = math.ceil(epochs * sum(2 * len(one.questions) for one in taken) / BATCH)
    drawn = ([pair for one in taken for pair in pairs_of(one, near, rng)] for _ in range(epochs))
    for epoch, loss in enumerate(fit(model, drawn, steps, ORDER_LIMITS, RATE, WARMING, rng), start=1):
        print(epoch, round(loss, 3), flush=True)
        torch.save(model.state_dict(), Path(out))
        for name in sorted({*blocks} - {*names}):
            pairs = [pair for one in blocks[name] for pair in pairs_of(one, near, asking)]
            report(model, name, pairs, ORDER_LIMITS)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
