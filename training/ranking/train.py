"""Fit the order of messages: `python training/ranking/train.py PATH [--vectors FILE] [--made]`.

PATH is LoCoMo's file or folder. The questions of its `dev` half are asked of the engine, and a linear model over
`mnemic.retrieve.learned_ranker.NAMES` is fitted with Adam: softmax over the messages found for a question, the evidence
sharing the whole. Nothing of the `test` half is used. The seed is fixed.

With `--made` the weights are fitted to the chats of `generate.py` alone, which are this project's own, and nothing is
written: it prints how they, the order by hand and the shipped weights do on all of LoCoMo.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from generate import chats

from mnemic.ports import Embedder
from mnemic.retrieve.learned_ranker import LEARNED_RANKER, NAMES, Ranker, features
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


async def rows(chats: Sequence[Any], embedder: Embedder) -> AsyncIterator[Row]:
    """Yield the features of the messages found for each question, and which of them are evidence."""
    async with throwaway_engine(embedder) as engine:
        engine.gateway.searcher.ranker = Recorder(())
        for chat in chats:
            told = Replayed(engine, Actor(user=chat.name))
            await told.tell(chat.messages, silent, "")
            for asked in chat.questions:
                await engine.search(asked.text, actor=told.actor, top_k=1)
                ids, found = Recorder.last
                right = np.asarray([float(not asked.evidence.isdisjoint(told._refs.get(one, ()))) for one in ids])
                best = np.argsort(-found[:, -1])[:SHOWN]
                if right[best].any():
                    yield found[best], right[best]


def share(found: list[Row], weights: np.ndarray, most: int) -> float:
    """Return the share of the evidence that the lists found among the first `most`, in per cent."""
    firsts = [(right[np.argsort(-(one @ weights), kind="stable")[:most]].sum(), right.sum()) for one, right in found]
    return round(100 * float(np.mean([first / every for first, every in firsts])), 1)


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
    parser.add_argument("--made", action="store_true", help="fit to made-up chats, rate on the others, write nothing")
    given = parser.parse_args()
    told, embedder = locomo.conversations(given.path), chosen_embedder(None, given.vectors)
    if given.made:
        made = fitted([row async for row in rows(list(chats()), chosen_embedder(None, None))])
        found = [row async for row in rows(told, embedder)]
        by_hand = np.asarray([float(name == "score") for name in NAMES])
        for name, weights in {"by hand": by_hand, "made": made, "shipped": np.asarray(LEARNED_RANKER.weights)}.items():
            print(f"{name}: {share(found, weights, 5)} / {share(found, weights, 10)}")
        return
    found = [row async for row in rows(told[: (len(told) + 1) // 2], embedder)]
    fit = {name: round(float(weight), 5) for name, weight in zip(NAMES, fitted(found), strict=True)}
    WEIGHTS.write_text(json.dumps(fit, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
