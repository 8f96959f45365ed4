"""Train the second opinion on closings: `python training/changes/train_evidence.py TALK...`.

Each TALK is a file of talk between people, one JSON line for each turn: `user`, `session`, `at`, `text`. Hardly
anything changes while people talk, so each closing that is found in it, with every guard off and a low bar, is an
example of none; `--right FILE` names those that a reader found right, one JSON line each: `old`, `new`. What changes is
found in the first half of the generated conversations (`generate.py`) and in the tables of `tests/acceptance/told`. The
weights go to `changes/data/evidence.json`. No talk is part of this project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import generate
import numpy as np

from mnemic.types import Actor, Message
from mnemic.write import supersede
from mnemic_eval.replay import chosen_embedder, throwaway_engine
from mnemic_language.changes.change_classifier import frame_of
from mnemic_language.changes.change_evidence import NAMES, features

ROOT = Path(__file__).parents[2]
WEIGHTS = ROOT / "packages/mnemic-language/src/mnemic_language/changes/data/evidence.json"
TOLD = ROOT / "tests/acceptance/told"
LOW = 0.3
"""Probability from which a pair is an example."""
RIDGE = 3.0
AT_ONCE = ("[make that]", "[I meant]", "[actually]", "[denial]")
"""Ways of changing something that take up what was said just before."""
BEGAN = datetime(2026, 5, 4, 9, tzinfo=UTC)
ONE_VALUE = frozenset(
    {"keep_both", "third_person", "hypothetical", "pasted", "assistant_said", "tool_said", "quote", "joke", "denial"}
)
"""Kinds of generated conversations in which nothing is over."""


class Turn(NamedTuple):
    """A message of a user, and the expressions of what it makes stale; `None`: all that it closes."""

    user: str
    message: Message
    stale: tuple[str, ...] | None


class Pair(NamedTuple):
    """An example: the two statements, its features, and whether the later one closes the earlier one."""

    old: str
    new: str
    row: list[float]
    closes: bool


def generated(folder: Path) -> Iterator[Turn]:
    """Yield the turns of the first half of the generated conversations."""
    generate.main(folder)
    for line in (folder / "updates.dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        stale = () if row["kind"] in ONE_VALUE else tuple(one for ask in row["asks"] for one in ask["must_not"])
        for place, session in enumerate(row["sessions"]):
            at = datetime.fromisoformat(session["at"])
            for minute, one in enumerate(session["messages"]):
                sent = at + timedelta(minutes=minute)
                message = Message(role=one["role"], content=one["content"], session=f"s{place}", sent_at=sent)
                yield Turn(row["id"], message, stale)


def told() -> Iterator[Turn]:
    """Yield the statements of the tables: of `changes.txt` each closes the one before it, of `beside.txt` none does."""
    for name, stale in (("changes", None), ("beside", ())):
        at_once = False
        for number, line in enumerate((TOLD / f"{name}.txt").read_text("utf-8").splitlines()):
            at_once = line in AT_ONCE if line.startswith("[") else at_once
            if not line or line[0] in "#[":
                continue
            for place, text in enumerate(line.partition(" ")[2].split("|")):
                sent = BEGAN + place * (timedelta(minutes=1) if at_once else timedelta(days=20))
                session = "s" if at_once else f"s{place}"
                message = Message(role="user", content=text.strip(), session=session, sent_at=sent)
                yield Turn(f"{name}-{number}", message, stale)


def talk(path: Path) -> Iterator[Turn]:
    """Yield the turns of a file of talk."""
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        sent = datetime.fromisoformat(row["at"])
        message = Message(role="user", content=row["text"], session=row["session"], sent_at=sent)
        yield Turn(f"{path.stem}-{row['user']}", message, ())


async def pairs(turns: Iterable[Turn]) -> list[Pair]:
    """Return every closing that is found with the guards off and a low bar, each once."""
    found: dict[tuple[str, str, str], Pair] = {}
    stale: tuple[str, ...] | None = ()

    def noted(one: Any, new: Any, draft: Any, change: Any) -> bool:
        old, in_talk = one.memory, supersede._in_one_talk(one.memory, draft)
        row = features(frame_of(old), new, change.probability, one_talk=in_talk)
        said = f"{old.key.replace('_', ' ')}: {old.content}" if old.key else old.content
        closes = stale is None or any(re.search(words, said, re.IGNORECASE) for words in stale)
        found[draft.actor.user, said, draft.candidate.content] = Pair(said, draft.candidate.content, row, closes)
        return True

    with ExitStack() as guards:
        guards.enter_context(patch("mnemic.write.supersede._is_evident", noted))
        guards.enter_context(patch("mnemic.write.supersede._is_changed_by_a_clause", lambda *_: True))
        for module in ("change_classifier", "change_bounds"):
            guards.enter_context(
                patch(f"mnemic_language.changes.{module}.required", lambda _, alone=LOW: min(alone, LOW))
            )
        async with throwaway_engine(chosen_embedder(None, None)) as engine:
            for turn in turns:
                stale = turn.stale
                await engine.capture(turn.message, actor=Actor(user=turn.user))
    return list(found.values())


def fitted(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the weights, the bias first, of a ridge regression on standardised rows, for rows as they are."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-9
    scaled = np.hstack([np.ones((len(rows), 1)), (rows - mean) / spread])
    weights = np.zeros(scaled.shape[1])
    pull = np.diag([1e-6] + [RIDGE] * rows.shape[1])
    for _ in range(100):
        share = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (share - wanted) + pull @ weights
        step = np.linalg.solve((scaled.T * (share * (1 - share))) @ scaled + pull, slope)
        weights -= step
        if np.abs(step).max() < 1e-7:
            break
    plain = weights[1:] / spread
    return np.concatenate([[weights[0] - plain @ mean], plain])


def held_out(rows: np.ndarray, wanted: np.ndarray, parts: int = 5) -> np.ndarray:
    """Return the evidence of each row by the weights of the other parts."""
    part = np.random.default_rng(0).integers(0, parts, len(rows))
    found = np.zeros(len(rows))
    for one in range(parts):
        weights = fitted(rows[part != one], wanted[part != one])
        found[part == one] = 1 / (1 + np.exp(-(rows[part == one] @ weights[1:] + weights[0])))
    return found


def main() -> None:
    """Train, print what each threshold keeps of pairs held out, and write the weights."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("talk", nargs="+", type=Path)
    parser.add_argument("--right", type=Path, help="closings of the talk that a reader found right")
    given = parser.parse_args()
    right = (
        {tuple(json.loads(line).values()) for line in given.right.read_text("utf-8").splitlines()}
        if given.right
        else set()
    )
    with tempfile.TemporaryDirectory() as folder:
        own = asyncio.run(pairs([*generated(Path(folder)), *told()]))
    others = asyncio.run(pairs(turn for path in given.talk for turn in talk(path)))
    others = [one._replace(closes=(one.old, one.new) in right) for one in others]
    every = [*own, *others]
    rows, wanted = np.array([one.row for one in every]), np.array([one.closes for one in every], float)
    in_talk = np.arange(len(every)) >= len(own)
    found = held_out(rows, wanted)
    print(
        f"{int(wanted[~in_talk].sum())} changes, {int((wanted == 0).sum())} pairs that are none, of talk {len(others)}"
    )
    for least in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        kept = found >= least
        changes, none = kept[(wanted == 1) & ~in_talk].mean(), int(kept[(wanted == 0) & in_talk].sum())
        print(f"from {least}: {changes:.3f} of the changes, {none} of {int(((wanted == 0) & in_talk).sum())} of talk")
    weights = dict(zip(("bias", *NAMES), (round(float(one), 4) for one in fitted(rows, wanted)), strict=True))
    WEIGHTS.write_text(json.dumps({"weights": weights}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
