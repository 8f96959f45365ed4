"""Generated remarks that name what a fact about safety names, and say that something else has ended.

    python -m mnemic_eval.safety_remarks [--people 200] [--seed 1] [--data FILE]

Every person has told some facts: allergies, illnesses, medicines, disabilities, pregnancies, standing instructions.
Then come remarks, in the same talk or another one. None says anything about the fact, so none of the facts may end.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mnemic.engine import MemoryEngine
from mnemic.types import Actor
from mnemic_eval.replay import chosen_embedder, live_memories, throwaway_engine

FACTS, REMARKS = 4, 8


class Fact(NamedTuple):
    """A fact about safety, and what it names."""

    kind: str
    named: str
    text: str


class Ended(NamedTuple):
    """A fact that was no longer in force after a remark."""

    way: str
    fact: str
    remark: str


@dataclass(frozen=True, slots=True)
class Person:
    """What one person told: facts, then remarks by one way and in one place."""

    name: str
    way: str
    session: str
    facts: tuple[str, ...]
    remarks: tuple[str, ...]

    async def first_ended(self, engine: MemoryEngine) -> Ended | None:
        """Tell everything and return the first fact that a remark ended."""
        first, later = Actor(user=self.name, session="one"), Actor(user=self.name, session=self.session)
        told = {(await engine.add(text, actor=first)).memory_id: text for text in self.facts}
        for remark in self.remarks:
            await getattr(engine, self.way)(remark, actor=later)
            lost = told.keys() - {one.memory_id for one in await live_memories(engine, later)}
            if lost:
                return Ended(f"{self.way}, {self.session}", told[lost.pop()], remark)
        return None


def people(count: int, seed: int, data: Path | None = None) -> Iterator[Person]:
    """Yield `count` people, who tell facts and remarks of the file `data`, or of the package's own."""
    random = Random(seed)  # noqa: S311 - repeatable, not secret
    facts, remarks = _read(data)
    for number in range(count):
        mine = random.sample(facts, FACTS)
        said = [random.choice(remarks[one.kind]).format(one.named) for one in random.choices(mine, k=REMARKS)]
        yield Person(
            f"person {number}",
            ("add", "capture")[number % 2],
            ("one", "two")[number // 2 % 2],
            tuple(one.text for one in mine),
            tuple(text[0].upper() + text[1:] if random.random() < 0.5 else text for text in said),
        )


def _read(data: Path | None) -> tuple[list[Fact], dict[str, list[str]]]:
    text = (data or files("mnemic_eval") / "data" / "remarks.tsv").read_text(encoding="utf-8")
    facts: list[Fact] = []
    remarks: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("fact\t"):
            facts.append(Fact(*line.split("\t")[1:]))
        elif line.startswith("remark\t"):
            _, kind, form = line.split("\t")
            remarks.setdefault(kind, []).append(form)
    return facts, remarks


async def ended_facts(everyone: Iterator[Person]) -> list[Ended]:
    """Return the facts that a remark ended, told in a temporary store with the default settings."""
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        found = [await one.first_ended(engine) for one in everyone]
    return [one for one in found if one is not None]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the number of people who lost a fact, and each of these facts with the remark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, metavar="FILE", help="facts and remarks instead of the package's own")
    given = parser.parse_args(arguments)
    found = asyncio.run(ended_facts(people(given.people, given.seed, given.data)))
    figures: dict[str, Any] = {"people": given.people, "facts_ended": len(found), "ended": found}
    json.dump(figures, sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
