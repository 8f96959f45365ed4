"""Count what messages close that are kept as they were said: `python training/changes/closings_in_talk.py TALK...`.

Each TALK is a file of talk, one JSON line for each turn: `user`, `session`, `text`. Every turn is given to `add` as it
stands, and hardly anything changes while people talk, so that nearly each closing is wrong; `--pairs FILE` takes them
for a reader, one JSON line each: `old`, `new`, `how`. No talk is part of this project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mnemic.engine import MemoryEngine
from mnemic.types import Actor, Candidate, Outcome, Source
from mnemic_eval.replay import chosen_embedder, throwaway_engine


class Turn(NamedTuple):
    """A message of a user."""

    user: str
    session: str
    text: str


class Closing(NamedTuple):
    """A memory, the message that closed it, and the reason on the receipt."""

    old: str
    new: str
    how: str


def talk(path: Path) -> Iterator[Turn]:
    """Yield the turns of a file that say something."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        if row["text"].strip():
            yield Turn(f"{path.stem}-{row['user']}", row["session"], row["text"].strip())


async def closings(turns: Iterable[Turn]) -> list[Closing]:
    """Return what the turns close, in their order."""
    found: list[Closing] = []
    async with throwaway_engine(chosen_embedder(None, None)) as engine:
        for turn in turns:
            actor = Actor(user=turn.user)
            candidate = Candidate(content=turn.text, source=Source(session=turn.session))
            (receipt,) = await engine.add_many([candidate], actor=actor)
            if receipt.outcome is Outcome.SUPERSEDED and receipt.memory_id is not None:
                olds = await _closed_by(engine, actor, receipt.memory_id)
                found += [Closing(old, turn.text, str(receipt.reason)) for old in olds]
    return found


async def _closed_by(engine: MemoryEngine, actor: Actor, memory_id: str) -> list[str]:
    """Return the contents of the memories that a memory has closed."""
    made = await engine.get(memory_id, actor=actor)
    olds = [await engine.get(one, actor=actor) for one in (made.supersedes if made else ())]
    return [old.content for old in olds if old is not None]


def main() -> None:
    """Print the number of turns, of those that closed something, and of what they closed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("talk", nargs="+", type=Path)
    parser.add_argument("--pairs", type=Path, help="a file for what was closed, with what closed it")
    given = parser.parse_args()
    turns = [turn for path in given.talk for turn in talk(path)]
    found = asyncio.run(closings(turns))
    messages = len({one.new for one in found})
    print(f"{len(turns)} turns; {messages} closed something, {len(found)} memories in all")
    if given.pairs is not None:
        lines = [json.dumps(one._asdict(), ensure_ascii=False) + "\n" for one in found]
        given.pairs.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
