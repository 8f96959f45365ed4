"""Fit the relevance of statements to questions in other languages than English, and print how it does.

`python training/relevance/everyday.py [--write] [--vectors FILE]`

`everyday.txt` has statements and their questions in seven languages; every other subject is of `test`. Scopes of 5, 15
and 30 statements are filled at random and asked for every subject of their half, known or not. The logistic model of
`mnemic.retrieve.content_judgement` is fitted to `dev` alone. The table that is printed has, for both halves, the area
under the curve of answerable and unanswerable questions, and the shares for which the search abstains. The embedder is
that of the settings; `--write` puts the weights into `relevance.json`, for its scale. The seed is fixed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from train import OUT, fitted

import mnemic.retrieve.content_judgement as judging
from mnemic.language.questions.word_fields import asked_in
from mnemic.retrieve.content_judgement import NAMES, features
from mnemic.types import Actor, Candidate, Source
from mnemic_eval.replay import chosen_embedder, throwaway_engine
from mnemic_eval.unknown_questions import auc

SUBJECTS = Path(__file__).parent / "everyday.txt"
SEED = 20261127
SCOPES = {5: 9, 15: 3, 30: 2}
"""Scopes of each size, in each language and half."""
LENIENT = 0.3
"""Added to the base: an answer that is not shown is worse than a memory too many."""
LAST: dict[str, Any] = {}


@dataclass(frozen=True)
class Asked:
    """A question of one scope: the statements in it, and the name of the one that answers."""

    group: tuple[str, str, int]
    text: str
    wanted: str
    scope: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """The features of the statements, which of them answers, and what the search said."""

    asked: Asked
    rows: Sequence[tuple[float, ...]]
    right: Sequence[bool]
    relevance: float
    abstained: bool
    first: bool


def subjects() -> dict[str, dict[str, tuple[str, str]]]:
    """Return statement and question of each subject, by language."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    name = ""
    for line in SUBJECTS.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            name = line.strip("[]")
        elif line and not line.startswith("#"):
            language, statement, question = (part.strip() for part in line.split("|"))
            found.setdefault(language, {})[name] = (statement, question)
    return found


def scopes(draw: random.Random) -> Iterator[Sequence[Asked]]:
    """Yield the questions of one scope after the other, of the sentences of this project."""
    for language, told in subjects().items():
        for half, names in (("dev", list(told)[::2]), ("test", list(told)[1::2])):
            for size, times in SCOPES.items():
                for _ in range(times):
                    own = draw.sample(names, min(size, len(names) // 2) if size > 5 else size)
                    rest = [name for name in told if name not in names]
                    chosen = own + draw.sample(rest, size - len(own))
                    scope = {name: told[name][0] for name in chosen}
                    yield [Asked((language, half, size), told[name][1], name, scope) for name in names]


def record(lists: Any, *given: Any) -> float | None:
    """Keep what the search knows, and let it go on."""
    LAST["lists"] = lists
    return KNOWN(lists, *given)


KNOWN = judging.relevance


async def answers(asked: Sequence[Sequence[Asked]], embedder: Any) -> list[Answer]:
    """Ask everything of the engine."""
    found = []
    async with throwaway_engine(embedder) as engine:
        for place, group in enumerate(asked):
            actor = Actor(user=f"scope-{place}")
            scope = group[0].scope
            told = [Candidate(content=text, source=Source(ref=name)) for name, text in scope.items()]
            receipts = await engine.add_many(told, actor=actor)
            names = {one.memory_id: name for one, name in zip(receipts, scope, strict=True) if one.memory_id}
            for one in group:
                LAST.clear()
                result = await engine.search(one.text, actor=actor, top_k=5)
                cosines = {names[hit]: cosine for hit, cosine in LAST["lists"]["vector"] if hit in names}
                language = asked_in(one.text) or "english"
                rows = [features(one.text, scope[name], language, cosine) for name, cosine in cosines.items()]
                best = names.get(result.hits[0].memory.memory_id) if result.hits else None
                right = [name == one.wanted for name in cosines]
                found.append(
                    Answer(one, rows, right, result.relevance or 0.0, bool(result.abstains), best == one.wanted)
                )
    return found


def fit(found: Sequence[Answer]) -> np.ndarray:
    """Return the weights, fitted to `dev`."""
    taken = [one for one in found if one.asked.group[1] == "dev" and one.asked.group[0] != "english" and one.rows]
    table = np.concatenate([np.asarray(one.rows)[:, :-1] for one in taken])
    right = np.concatenate([np.asarray(one.right, float) for one in taken])
    return fitted(table, right, np.ones(len(right)))


def table(found: Sequence[Answer]) -> str:
    """Return a line for each language, half and size: answerable and not, AUC, abstained from each, first right."""
    groups: dict[tuple[str, str, int], list[Answer]] = defaultdict(list)
    for one in found:
        groups[one.asked.group].append(one)
    lines = ["language half size: questions, AUC, abstains % known / unknown, first right %"]
    for (language, half, size), part in groups.items():
        known, unknown = ([one for one in part if any(one.right) is kind] for kind in (True, False))
        share = auc([one.relevance for one in known], [one.relevance for one in unknown])
        percents = [100 * sum(one.abstained for one in kind) / len(kind) for kind in (known, unknown)]
        first = 100 * sum(one.first for one in known) / len(known)
        lines.append(
            f"{language:12} {half:4} {size:2}: {len(known)}+{len(unknown)} {share:.3f}"
            f" {percents[0]:3.0f} / {percents[1]:3.0f} {first:3.0f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Ask, fit, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--vectors", type=Path, help="a file that keeps the embeddings")
    given = parser.parse_args()
    judging.relevance = record  # type: ignore[assignment]
    draw, embedder = random.Random(SEED), chosen_embedder(None, given.vectors)
    found = asyncio.run(answers([*scopes(draw)], embedder))
    weights = dict(zip(NAMES, (round(float(one), 2) for one in fit(found)), strict=True))
    weights["base"] = round(weights["base"] + LENIENT, 2)
    print(table(found), weights, sep="\n")
    if given.write:
        made = json.loads(OUT.read_text(encoding="utf-8"))
        scales = ("*",) if embedder.space.scale else ("other language", "romance language")
        made["everyday"] |= dict.fromkeys(scales, weights)
        OUT.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
