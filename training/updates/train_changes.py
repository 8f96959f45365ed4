"""Train the judge of changes: PYTHONPATH=../answers python train_changes.py EPOCHS OUT START FILE...

It tells whether a later statement ends or replaces an earlier one. Its pairs come from groups written by hand: `S` a
statement, `R` what replaces it, `E` what ends it, `K` what leaves it as it is, `D` what is told of somebody else. Files
of groups that are not named are reported on. START: the weights of the judge of answers, of whose architecture it is;
see training/answers/train.py for what else is needed. The packaged weights: the
first 4 of 5 epochs with home.txt, work.txt, further_1.txt to 3 and further_5.txt to 8; further_4.txt and further_9.txt
were kept aside. Two epochs more with further_10.txt and further_11.txt are not in them: they put no more changes first
on sets that nobody had read, and the newer one before the right older one more often.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from pairs import Pair
from train import BATCH, Judge, auc, begin, fit, score

from mnemic.providers.pair_judge import CHANGE_LIMITS, Limits

HERE = Path(__file__).parent
RATE, WARMING = 6e-4, 20


class Group(NamedTuple):
    """A statement, and later ones with what each is to it."""

    told: str
    later: tuple[tuple[str, str], ...]

    def of_kind(self, kind: str) -> list[str]:
        return [text for one, text in self.later if one == kind]


def read_groups(path: Path) -> list[Group]:
    """Return the groups of a file."""
    groups = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        lines = [(line[0], line[2:]) for line in block.strip().splitlines()]
        if lines:
            groups.append(Group(lines[0][1], tuple(lines[1:])))
    return groups


def pairs_of(group: Group, groups: Sequence[Group], rng: random.Random) -> Iterator[Pair]:
    """Yield the pairs of a group, and one with a statement of another."""
    for kind, text in group.later:
        yield Pair(group.told, text, kind in "RE", kind)
    yield Pair(group.told, group.told, False, "same")
    yield Pair(group.told, rng.choice(rng.choice(groups).later)[1], False, "far")
    replacing, leaving = group.of_kind("R"), group.of_kind("K")
    if len(replacing) > 1 and rng.random() < 0.5:
        yield Pair(*replacing[:2], False, "same")
    if len(leaving) > 1 and rng.random() < 0.3:
        yield Pair(*leaving[:2], False, "K")


def report(model: Judge, name: str, pairs: Sequence[Pair], limits: Limits = CHANGE_LIMITS) -> None:
    """Print how often a change has the higher odds, for each way to be none."""
    odds = score(model, pairs, limits)
    changes = odds[[one.answers for one in pairs]]
    kinds = sorted({one.kind for one in pairs if not one.answers})
    above = {kind: auc(changes, odds[[one.kind == kind and not one.answers for one in pairs]]) for kind in kinds}
    print(name, {kind: round(share, 3) for kind, share in above.items()}, flush=True)


def main(epochs: int, out: str, start: str, *names: str) -> None:
    torch.manual_seed(0)
    rng, asking = random.Random(7), random.Random(5)
    groups = {path.name: read_groups(path) for path in sorted(HERE.glob("*.txt"))}
    aside = {
        name: [pair for one in kept for pair in pairs_of(one, kept, asking)]
        for name, kept in groups.items()
        if name not in names
    }
    taken = [one for name in names for one in groups[name]]
    model = begin(start)
    steps = math.ceil(epochs * len(taken) * 8.3 / BATCH)
    drawn = ([pair for one in taken for pair in pairs_of(one, taken, rng)] for _ in range(epochs))
    for epoch, loss in enumerate(fit(model, drawn, steps, CHANGE_LIMITS, RATE, WARMING, rng), start=1):
        print(epoch, round(loss, 3), flush=True)
        torch.save(model.state_dict(), Path(out))
    for name, pairs in aside.items():
        report(model, name, pairs)


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
