"""Requests to an assistant, none of which contains a lasting statement: the share that would be remembered.

PATH is a folder searched with everything under it for `seq.in` (one command a line) with a file `label` (one intent a
line) beside it, as ATIS and SNIPS are laid out by Goo et al. (NAACL 2018). Every command is a user's message to the
rule extractor, under the default policy. `stored` is the share with at least one candidate. Split: folders called
`train` are `dev`, the others `test`; a command that is in both halves counts in `dev` alone.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic_eval.conditions import conditions
from mnemic_eval.outcome import SEED, SPLITS
from mnemic_eval.progress import Progress, silent
from mnemic_eval.samples import share, shares_of_true
from mnemic_eval.single_extraction import Reader


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its half and its intent."""

    split: str
    intent: str
    text: str = field(repr=False)


def read_commands(path: Path) -> list[Command]:
    """Return the commands under `path`, each text once. Raises InvalidInput (`invalid_input:data:commands`)."""
    found: dict[str, Command] = {}
    for file in sorted(path.rglob("seq.in"), key=lambda file: (file.parent.name != "train", file)):
        for command in _commands(file):
            found.setdefault(command.text, command)
    if not found:
        raise InvalidInput("data:commands", hint="expected a folder with seq.in and label in it")
    return list(found.values())


def _commands(file: Path) -> Iterator[Command]:
    try:
        texts = file.read_text(encoding="utf-8").splitlines()
        intents = file.with_name("label").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InvalidInput("data:commands", hint="a file cannot be read, or has no labels beside it") from None
    if len(texts) != len(intents):
        raise InvalidInput("data:commands", hint="as many labels as commands are expected")
    split = SPLITS[file.parent.name != "train"]
    for text, intent in zip(texts, intents, strict=True):
        if text.strip():
            yield Command(split, intent, text.strip())


def run(
    path: str | Path, *, progress: Progress = silent, limit: int | None = None, seed: int = SEED, **_: object
) -> dict[str, Any]:
    """Measure the commands under `path`, of each half the first `limit`: `dev`, `test` and `settings`.

    Raises InvalidInput for data that is not there or has another shape.
    """
    halves: dict[str, list[Command]] = {split: [] for split in SPLITS}
    for command in read_commands(Path(path)):
        halves[command.split].append(command)
    measured = asyncio.run(_measure_halves({split: half[:limit] for split, half in halves.items()}, progress))
    return {**measured, "settings": conditions(seed=seed, set="commands", embedder="none")}


async def _measure_halves(halves: dict[str, list[Command]], progress: Progress) -> dict[str, Any]:
    measured, reader = {}, Reader()
    for split, commands in halves.items():
        stored: dict[str, list[bool]] = defaultdict(list)
        for place, command in enumerate(commands, start=1):
            stored[command.intent].append(bool((await reader.read(command.text)).candidates))
            if place % 500 == 0 or place == len(commands):
                progress(f"{split}: commands", place, len(commands))
        kept = sum(sum(hits) for hits in stored.values())
        measured[split] = {
            "stored": share(kept, len(commands)),
            "by_source": {"intent": shares_of_true(stored)},
            "texts": len(commands),
        }
    return measured
