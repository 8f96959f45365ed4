"""Fit the order of messages: `python training/ranking/train.py PATH [--vectors FILE]`.

PATH is LoCoMo's file or folder. The questions of its `dev` half are asked of the engine, and a linear model over
`mnemic.retrieve.ranker.NAMES` is fitted with Adam: softmax over the messages found for a question, the evidence sharing
the whole. Nothing of the `test` half is used. The seed is fixed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np

from mnemic.ports import Embedder
from mnemic.retrieve.ranker import NAMES, Ranker, features
from mnemic.types import Actor
from mnemic_eval import locomo
from mnemic_eval.progress import silent
from mnemic_eval.replay import Replayed, chosen_embedder, throwaway_engine

WEIGHTS = Path(__file__).parents[2] / "src/mnemic/retrieve/ranker.json"
SHOWN, BATCH, EPOCHS, RATE, DECAY, SEED = 120, 32, 30, 3e-3, 1e-3, 20261124
Row = tuple[np.ndarray, np.ndarray]


class Recorder(Ranker):
    """Changes nothing, and keeps the features of the last search."""

    last: tuple[list[str], np.ndarray] = ([], np.zeros((0, len(NAMES))))

    def reordered(self, lists, scores, signals, question, *more):  # type: ignore[no-untyped-def]
        """Print the scores as they are."""
        if signals:
            Recorder.last = (list(signals), features(lists, scores, signals, question))
        return dict(scores)


async def rows(path: Path, embedder: Embedder) -> AsyncIterator[Row]:
    """Yield the features of the messages found for each question, and which of them are evidence."""
    async with throwaway_engine(embedder) as engine:
        engine.gateway.searcher.ranker = Recorder(())
        chats = locomo.conversations(path)
        for chat in chats[: (len(chats) + 1) // 2]:
            told = Replayed(engine, Actor(user=chat.name))
            await told.tell(chat.messages, silent, "")
            for asked in chat.questions:
                await engine.search(asked.text, actor=told.actor, top_k=1)
                ids, found = Recorder.last
                right = np.asarray([float(not asked.evidence.isdisjoint(told._refs.get(one, ()))) for one in ids])
                best = np.argsort(-found[:, -1])[:SHOWN]
                if right[best].any():
                    yield found[best], right[best]


def fitted(found: list[Row]) -> np.ndarray:
    """Return the weights."""
    every = np.concatenate([one for one, _ in found])
    spread = every.std(axis=0) + 1e-6
    random, weights = np.random.default_rng(SEED), np.zeros(len(NAMES))
    first, second, step = np.zeros(len(NAMES)), np.zeros(len(NAMES)), 0
    for epoch in range(EPOCHS):
        for batch in np.array_split(random.permutation(len(found)), max(1, len(found) // BATCH)):
            slope = DECAY * weights
            for place in batch:
                shown, right = found[place][0] / spread, found[place][1]
                guess = np.exp((given := shown @ weights) - given.max())
                slope = slope + shown.T @ (guess / guess.sum() - right / right.sum()) / len(batch)
            step += 1
            first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
            rate = RATE * (1 - epoch / EPOCHS) + 1e-4
            weights = weights - rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights / spread


async def main() -> None:
    """Read, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--vectors", type=Path, help="a file that keeps the embeddings")
    given = parser.parse_args()
    found = [row async for row in rows(given.path, chosen_embedder(None, given.vectors))]
    weights = {name: round(float(weight), 5) for name, weight in zip(NAMES, fitted(found), strict=True)}
    WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
