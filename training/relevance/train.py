"""Fit the relevance of messages.

`python training/relevance/train.py --locomo PATH --longmemeval PATH --beam PATH [--vectors DIR]`

The questions of the `dev` halves are asked of the engine, and so are questions about other conversations and the
made-up requests of `mixed.toml`, in scopes of 8 to 600 messages with a few statements beside them. Two logistic models
are fitted by Newton's method: `messages` (`mnemic.retrieve.message_relevance.NAMES`: is this message evidence?) with
and without the cosine, and `agreement` (is the question about somebody answerable?). Each set and kind of question
weighs what `WEIGHTS` says, however many of it there are. Nothing of a `test` half is used. The seed is fixed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import mnemic.retrieve.content_judgement as judging
from mnemic.retrieve.message_relevance import AGREEMENT, ANY_MODEL, NAMES, QuerySubjects, features
from mnemic.retrieve.relevance import RelevanceModel
from mnemic.types import Actor, Candidate
from mnemic_eval import beam, locomo, longmemeval
from mnemic_eval.progress import silent
from mnemic_eval.replay import Replayed, chosen_embedder, throwaway_engine

OUT = Path(__file__).parents[2] / "src/mnemic/retrieve/relevance.json"
MIXED = Path(__file__).parent / "mixed.toml"
SEED, BEST, SIZES, OTHERS = 20261124, 10, (8, 40, 150, 600), 40
WEIGHTS = {
    "locomo": {"own": 1.0, "adversarial": 0.3, "other": 0.4},
    "longmemeval": {"own": 0.5, "other": 0.2},
    "beam": {"own": 0.5, "other": 0.2},
    "mixed": {"own": 0.5, "outside": 0.3, "fact": 0.3, "needless": 0.3},
}
Row = tuple[str, np.ndarray, np.ndarray, tuple[float, float] | None]
"""The kind of the question, the features of its best messages, which of them are evidence, and `AGREEMENT`."""
LAST: dict[str, Any] = {}


def record(lists, scores, signals, question, model, *_):  # type: ignore[no-untyped-def]
    """Keep what the relevance is made of, in the place of the search's own."""
    LAST.update(lists=lists, scores=scores, signals=signals, question=question, model=model)
    return {}


def row(kind: str, told: Replayed, evidence: frozenset[str]) -> Row | None:
    """Return what the last search says."""
    lists, scores, signals, question = (LAST[name] for name in ("lists", "scores", "signals", "question"))
    gauge = RelevanceModel.of(lists, question, LAST["model"])
    if gauge is None or not signals:
        return None
    table = features(lists, scores, signals, question, gauge.per_word)
    best = set(sorted(scores, key=lambda one: -scores[one])[:BEST])
    kept = [place for place, one in enumerate(signals) if one in best]
    right = [kind == "own" and not evidence.isdisjoint(told._refs.get(one, ())) for one in signals]
    about = QuerySubjects.of(scores, signals, question)
    agreed = None if about.speakers is None else (about.first, about.share)
    return kind, table[kept], np.asarray(right, float)[kept], agreed


async def rows(chats: Sequence[tuple[Any, list[tuple[str, str, frozenset[str], Any]]]], embedder: Any) -> list[Row]:
    """`chats`: messages, and the questions about them: kind, text, evidence, day."""
    found: list[Row | None] = []
    async with throwaway_engine(embedder) as engine:
        for place, (messages, asked) in enumerate(chats):
            told = Replayed(engine, Actor(user=f"chat-{place}"))
            await told.tell(messages, silent, "")
            step = max(1, sum(len(more) for _, more in chats) // OTHERS)
            others = [one for other, (_, more) in enumerate(chats) if other != place for one in more][::step]
            for kind, text, evidence, at in [*asked, *(("other", text, frozenset(), at) for _, text, _, at in others)]:
                await engine.search(text, actor=told.actor, top_k=1, asked_at=at)
                found.append(row(kind, told, evidence))
    return [one for one in found if one is not None]


async def mixed(chats: Sequence[Any], embedder: Any) -> list[Row]:
    """Parts of chats with statements beside them, and requests for both and for neither."""
    made, draw = tomllib.loads(MIXED.read_text(encoding="utf-8")), random.Random(SEED)
    found: list[Row | None] = []
    async with throwaway_engine(embedder) as engine:
        for place, (chat, size) in enumerate((chat, size) for chat in chats for size in SIZES):
            told = Replayed(engine, Actor(user=f"mixed-{place}"))
            start = draw.randrange(max(1, len(chat.messages) - size))
            part = chat.messages[start : start + size]
            await told.tell(part, silent, "")
            facts = draw.sample(made["facts"], draw.randrange(3, 12))
            await engine.add_many([Candidate(content=text) for text, _ in facts], actor=told.actor)
            for kind, text, evidence in _requests(chat, part, made, draw):
                await engine.search(text, actor=told.actor, top_k=1)
                found.append(row(kind, told, evidence))
    return [one for one in found if one is not None]


def _requests(chat: Any, part: Any, made: Any, draw: random.Random) -> Iterator[tuple[str, str, frozenset[str]]]:
    inside = {str(one.message_id) for one in part}
    own = [one for one in chat.questions if one.evidence <= inside and one.category != "adversarial"]
    yield from (("own", one.text, one.evidence) for one in own[:25])
    outside = [one for one in chat.questions if inside.isdisjoint(one.evidence)]
    yield from (("outside", one.text, frozenset()) for one in draw.sample(outside, min(15, len(outside))))
    yield from (("fact", request, frozenset()) for _, request in made["facts"][::2])
    yield from (("needless", request, frozenset()) for request in made["needless"][::2])


def fitted(table: np.ndarray, right: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic model, the base last."""
    spread = table.std(axis=0) + 1e-9
    wide = np.c_[table / spread, np.ones(len(table))]
    ridge = np.eye(wide.shape[1]) * 1e-4 * weight.sum()
    ridge[-1, -1] = 0.0
    weights = np.zeros(wide.shape[1])
    for _ in range(60):
        guess = 1 / (1 + np.exp(-wide @ weights))
        slope = wide.T @ ((guess - right) * weight) + ridge @ weights
        weights -= np.linalg.solve((wide.T * (guess * (1 - guess) * weight)) @ wide + ridge, slope)
    weights[:-1] /= spread
    return weights


def messages(found: dict[str, list[Row]], names: Sequence[str]) -> dict[str, float]:
    """Return the model of a message, of these features."""
    tables, rights, weights = [], [], []
    for name, kinds in WEIGHTS.items():
        for kind, weight in kinds.items():
            of = [one for one in found[name] if one[0] == kind and len(one[1])]
            many = sum(len(one[1]) for one in of)
            tables += [one[1] for one in of]
            rights += [one[2] for one in of]
            weights += [np.full(len(one[1]), weight / many) for one in of]
    columns = [NAMES.index(name) for name in names]
    weight = np.concatenate(weights)
    fit = fitted(np.concatenate(tables)[:, columns], np.concatenate(rights), 1000 * weight / weight.sum())
    return _named((*names, "base"), fit)


def agreement(found: Sequence[Row]) -> dict[str, float]:
    """Return the model of a search for somebody: answerable or adversarial."""
    asked = [(one[3], one[0] == "own") for one in found if one[3] is not None and one[0] in ("own", "adversarial")]
    table = np.asarray([features for features, _ in asked])
    fit = fitted(table, np.asarray([float(right) for _, right in asked]), np.ones(len(asked)))
    return _named((*AGREEMENT, "base"), fit)


def _named(names: Sequence[str], weights: np.ndarray) -> dict[str, float]:
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def _dev(chats: Sequence[Any]) -> Sequence[Any]:
    return chats[: (len(chats) + 1) // 2]


async def main() -> None:
    """Read, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("locomo", "longmemeval", "beam"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--vectors", type=Path, help="a folder that keeps the embeddings, a file for each set")
    given = parser.parse_args()
    judging.relevances = record  # type: ignore[assignment]

    def embedder(name: str) -> Any:
        return chosen_embedder(None, given.vectors and given.vectors / f"{name}.vec")

    chats = _dev(locomo.conversations(given.locomo))
    told = {
        "locomo": [(one.messages, [_asked(asked) for asked in one.questions]) for one in chats],
        "longmemeval": [
            (one.messages, [("own", one.question, one.turns, one.asked_at)])
            for one in longmemeval.haystacks(given.longmemeval)
            if one.split == "dev"
        ],
        "beam": [
            (one.messages, [_asked(asked) for asked in one.questions]) for one in _dev(beam.read_chats(given.beam))
        ],
    }
    found = {name: await rows(sets, embedder(name)) for name, sets in told.items()}
    found["mixed"] = await mixed(chats, embedder("locomo"))
    made = {
        "messages": {
            embedder("locomo").space.model: messages(found, NAMES),
            ANY_MODEL: messages(found, [name for name in NAMES if name != "cosine"]),
        },
        "agreement": agreement(found["locomo"]),
    }
    made = json.loads(OUT.read_text(encoding="utf-8")) | made
    OUT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _asked(asked: Any) -> tuple[str, str, frozenset[str], None]:
    return ("adversarial" if asked.category == "adversarial" else "own"), asked.text, asked.evidence, None


if __name__ == "__main__":
    asyncio.run(main())
