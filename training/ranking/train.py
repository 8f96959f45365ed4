"""Fit the order of messages: `python training/ranking/train.py PATH [--vectors FILE] [--made]`.

PATH is LoCoMo's file or folder. The questions of its `dev` half are asked of the engine, and a small network over
`mnemic.retrieve.learned_ranker.NAMES` is fitted to the messages found for each (`network.py`). Nothing of the `test`
half is used. The seed is fixed.

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
from network import Row, fitted

from mnemic.ports import Embedder
from mnemic.retrieve.learned_ranker import LEARNED_RANKER, NAMES, Ranker, features
from mnemic.types import Actor
from mnemic_eval import locomo
from mnemic_eval.progress import silent
from mnemic_eval.replay import Replayed, chosen_embedder, throwaway_engine

WEIGHTS = Path(__file__).parents[2] / "src/mnemic/retrieve/ranker.json"
SHOWN = 120
"""Messages of a question, the best by hand, to which the order is fitted."""


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


def share(found: list[Row], ranker: Ranker, most: int) -> float:
    """Return the share of the evidence that the lists found among the first `most`, in per cent."""
    firsts = [(right[np.argsort(-ranker.scored(one), kind="stable")[:most]].sum(), right.sum()) for one, right in found]
    return round(100 * float(np.mean([first / every for first, every in firsts])), 1)


def written(ranker: Ranker) -> str:
    """Return the file that `Ranker.read` reads: for each feature its weight and its weights in the units."""
    assert ranker.units is not None
    rows = np.column_stack([ranker.weights, ranker.units.weights]).round(5).tolist()
    features = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in zip(NAMES, rows, strict=True))
    bases, worths = (json.dumps(one.round(5).tolist()) for one in (ranker.units.bases, ranker.units.worths))
    return f'{{\n "bases": {bases},\n "worths": {worths},\n "features": {{\n{features}\n }}\n}}\n'


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
        by_hand = Ranker(tuple(float(name == "score") for name in NAMES))
        for name, ranker in {"by hand": by_hand, "made": made, "shipped": LEARNED_RANKER}.items():
            print(f"{name}: {share(found, ranker, 5)} / {share(found, ranker, 10)}")
        return
    found = [row async for row in rows(told[: (len(told) + 1) // 2], embedder)]
    WEIGHTS.write_text(written(fitted(found)), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
