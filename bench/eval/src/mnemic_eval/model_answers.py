"""What becomes of a language model's answers: those of a good model in its own words, and foolish ones.

PATH is a folder with `lines.tsv`, `talks.jsonl` and `uses.jsonl`; without it those of this package are read. The lines
are a table with the columns kind, lang, known, message, quote, op, subject, holds, category, key, value, now, gone.
Every line is another user, who said `known` before, if it is given. A line `right` is an answer
of a good model: it `arrived` if a memory has its quote or value, and the conversation is `right` if each expression
`now` matches a current memory and `gone` none. A line `wrong_end` closes `known` by words about something else: it is
let in if the user's own words are not in force any more. A line `wrong_subject` gives the user a value that belongs to
somebody else, or held once: it is let in if that value is a current memory under the key. For the talks see
`mnemic_eval.model_talks`. A use is a question with its answer and the memories that the model was shown: those that the
answer uses in other words, those that it does not, and those that it contradicts; it counts how many of each are called
likely. A folder `unread` beside them is measured apart: nothing is to be tuned on it.
"""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.inject.paraphrased_use import LIKELY_FROM, certainty_of_use
from mnemic.types import Actor, Completion, Deadline, Memory, Prompt
from mnemic_eval.conditions import conditions
from mnemic_eval.model_talks import configured_model, play_talks, read_talks
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.replay import live_memories, throwaway_engine
from mnemic_eval.samples import shares_of_true

PACKAGED = Path(__file__).parent / "data" / "answers"
COLUMNS = "kind lang known message quote op subject holds category key value now gone".split()
Line = Mapping[str, str]


class _Scripted:
    """Answers the prompt about a line's message with the line's item, and any other with its words as they are."""

    model = "scripted"

    def __init__(self) -> None:
        self.line: Line = {}

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return the items for the message that `prompt` shows."""
        asked = json.loads(prompt.user)
        line = self.line
        common = {"scope": "user", "ttl_days": None, "id": None}
        if asked["user_message"] != line["message"]:
            said = asked["user_message"]
            first = {"quote": said, "op": "add", "subject": "me", "holds": "now", "category": "fact", "key": None}
            return self._answer({**common, **first, "value": said})
        item = {name: line[name] or None for name in COLUMNS[4:11]}
        if line["op"] != "add":
            common["id"] = next((one["id"] for one in asked["known"]), None)
        return self._answer({**common, **item, "value": line["value"]})

    def _answer(self, item: Mapping[str, Any]) -> Completion:
        return Completion(text=json.dumps({"items": [item]}, ensure_ascii=False), model=self.model)

    async def close(self) -> None:
        """Nothing to free."""


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Play every line and every talk, and count. Raises InvalidInput (`data`)."""
    shares, cost = _measure(path, options)
    unread = path / "unread"
    if unread.is_dir():
        shares |= {
            f"unread, {name}": share for name, share in _measure(unread, replace(options, per_question=None))[0].items()
        }
    made = options.chosen_embedder().space.model
    return {**shares, **cost, "settings": conditions(seed=options.seed, set="answers", embedder=made)}


def _measure(path: Path, options: EvalOptions) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the shares of one set, and what the real model cost, if it was asked. Raises InvalidInput (`data`)."""
    lines, talks = path / "lines.tsv", path / "talks.jsonl"
    if path.is_file():
        lines, talks = (path, talks) if path.suffix == ".tsv" else (lines, path)
    if not lines.exists() and not talks.exists():
        raise InvalidInput("data", hint=f"{path.name} has no lines.tsv and no talks.jsonl")
    rows = asyncio.run(_play_lines(_read_lines(lines)[: options.limit], options)) if lines.exists() else []
    seen: dict[str, list[bool]] = defaultdict(list)
    for line, outcome, _ in rows:
        for name, found in outcome.items():
            seen[name].append(found)
            seen[f"{name}, {line['lang']}"].append(found)
    if options.per_question is not None:
        told = [{**line, **outcome, "held": held} for line, outcome, held in rows]
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in told)
        options.per_question.write_text(text, encoding="utf-8")
    cost: dict[str, Any] = {}
    if talks.exists():
        real = configured_model(options.completer) if options.model or options.completer else None
        played = asyncio.run(play_talks(read_talks(talks)[: options.limit], options, real))
        seen |= played["shares"]
        cost = {"cost": played["cost"]} if played["cost"] else {}
    uses = path / "uses.jsonl"
    if uses.exists():
        seen |= asyncio.run(_weigh_uses(read_talks(uses)[: options.limit], options))
    return shares_of_true(seen), cost


async def _weigh_uses(uses: Sequence[Mapping[str, Any]], options: EvalOptions) -> dict[str, list[bool]]:
    embedder = options.chosen_embedder()
    seen: dict[str, list[bool]] = defaultdict(list)
    for one in uses:
        kinds = {kind: one.get(kind, []) for kind in ("used", "unused", "contradicted")}
        shown = [memory for memories in kinds.values() for memory in memories]
        found = iter(await certainty_of_use(shown, one["goal"], one["answer"], embedder))
        for kind, memories in kinds.items():
            for _ in memories:
                likely = next(found) >= LIKELY_FROM
                seen[f"likely, of {kind}"].append(likely)
                seen[f"likely, of {kind}, {one['lang']}"].append(likely)
    return seen


async def _play_lines(lines: Sequence[Line], options: EvalOptions) -> list[tuple[Line, dict[str, bool], list[str]]]:
    embedder, model = options.chosen_embedder(), _Scripted()
    extractor = LayeredExtractor(ModelExtractor(model), RuleExtractor(embedder))
    rows = []
    async with throwaway_engine(embedder, extractor=extractor) as engine:
        for number, line in enumerate(lines):
            model.line = line
            rows.append((line, *await _play(engine, Actor(user=f"u{number}"), line)))
            options.progress("lines", number + 1, len(lines))
    return rows


async def _play(engine: MemoryEngine, actor: Actor, line: Line) -> tuple[dict[str, bool], list[str]]:
    for text in filter(None, (line["known"], line["message"])):
        await engine.capture(text, actor=actor)
    memories = await live_memories(engine, actor)
    held = [f"{one.key}: {one.content}" if one.key else one.content for one in memories]
    if line["kind"] == "wrong_end":
        return {"wrong_end let in": not any(_says(one, line["known"]) for one in memories)}, held
    if line["kind"] == "wrong_subject":
        claimed = any(one.key == line["key"] and _says(one, line["value"]) for one in memories)
        return {"wrong_subject let in": claimed}, held
    arrived = any(_says(one, line["quote"]) or _says(one, line["value"]) for one in memories)
    right = any(re.search(line["now"], one, re.IGNORECASE) for one in held)
    stale = bool(line["gone"]) and any(re.search(line["gone"], one, re.IGNORECASE) for one in held)
    return {"arrived": arrived, "right": right and not stale}, held


def _says(memory: Memory, words: str) -> bool:
    wanted, text = (one.casefold().strip(" .") for one in (words, memory.content))
    return wanted in text or (memory.key is not None and text in wanted)


def _read_lines(path: Path) -> list[Line]:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        raise InvalidInput("data", hint=f"{path.name} cannot be read") from None
    told = (one for one in text.splitlines() if one and not one.startswith("#"))
    table = csv.reader(told, delimiter="\t", quoting=csv.QUOTE_NONE)
    found: list[Line] = [dict(zip(COLUMNS, row, strict=False)) for row in table]
    if not found or any(one.keys() != set(COLUMNS) for one in found):
        raise InvalidInput("data", hint=f"{path.name} has other columns")
    return found
