"""Conversations with the answers of a language model played to them, a good one's and those of models that are none.

Each conversation has what a good model would answer, in its own words: a whole clause of the message as quote, and a
value that is seldom in it. `now` are expressions that a memory matches in the end, `gone` those that none does. The
models: `natural` gives these answers; `silent` finds nothing in any message; `echoing` says of every message again what
is known; `foolish` ends what is known by any words, and gives the user values that are nobody's; `prose` only talks;
`slow` and `down` never answer.
What the rules alone keep must be kept whatever a model answers.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnemic.bootstrap import build_completer
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, ModelTimeout, ModelUnavailable
from mnemic.extract import Extractor
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.budget import MODELS_SHARE, Budget
from mnemic.ports import Completer
from mnemic.runtime.clock import SystemClock
from mnemic.types import Actor, Completion, Cost, Deadline, Prompt
from mnemic_eval.options import EvalOptions
from mnemic_eval.replay import live_memories, throwaway_engine

Talk = Mapping[str, Any]
Held = list[str]
PLAYED = ("natural", "silent", "echoing", "foolish", "prose", "slow", "down")
FIRST_WORDS = 4


def configured_model(completer: Completer | None) -> Completer:
    """Return `completer`, or else the model of the settings. Raises InvalidConfig (`invalid_config:model`)."""
    asked = completer or build_completer(Settings.load(), SystemClock())
    if asked is None:
        raise InvalidConfig("model", hint="set MNEMIC_MODEL")
    return asked


class Played:
    """A language model of one of the kinds in `PLAYED`; `talk` is set before its messages are captured."""

    def __init__(self, kind: str) -> None:
        self.kind = self.model = kind
        self.talk: Talk = {}

    async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
        """Return the answer for the message that `prompt` shows. Raises ModelTimeout, ModelUnavailable."""
        if self.kind in ("slow", "down"):
            raise ModelTimeout if self.kind == "slow" else ModelUnavailable
        asked = json.loads(prompt.user)
        said, known = asked["user_message"], asked["known"]
        if self.kind == "prose":
            return Completion(text="Thanks for telling me! I'll keep that in mind.", model=self.model)
        answers = {"natural": self._natural, "echoing": _echoes, "foolish": _follies}
        items = list(answers[self.kind](said, known)) if self.kind in answers else []
        return Completion(text=json.dumps({"items": items}, ensure_ascii=False), model=self.model)

    def _natural(self, said: str, known: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        for item in self.talk["items"]:
            if self.talk["say"][item["turn"]] != said:
                continue
            about = str(item.get("about") or "").casefold()
            meant = (one["id"] for one in known if about and about in f"{one['key']}: {one['text']}".casefold())
            fields = {name: given for name, given in item.items() if name not in ("turn", "about")}
            yield {**fields, "id": next(meant, None), "scope": "user", "ttl_days": None}

    async def close(self) -> None:
        """Nothing to free."""


def _echoes(said: str, known: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for one in known:
        common = {"op": "add", "id": None, "subject": "me", "holds": "now", "category": "identity", "scope": "user"}
        yield {**common, "quote": said, "key": one["key"], "value": one["text"], "ttl_days": None}


def _follies(said: str, known: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    first = " ".join(said.split()[:FIRST_WORDS])
    for one in known:
        yield {"op": "end", "id": one["id"], "quote": said, "subject": "me", "holds": "was", "value": one["text"]}
    me = {"op": "add", "id": None, "subject": "me", "holds": "now", "category": "identity"}
    yield {**me, "quote": first, "key": "home_city", "value": "Ulaanbaatar"}
    yield {**me, "quote": said, "key": "name", "value": first}
    yield {**me, "quote": "I keep an owl in the attic", "key": None, "value": "owl"}


async def play_talks(talks: Sequence[Talk], options: EvalOptions, model: Completer | None) -> dict[str, Any]:
    """Return the shares of answers that arrived, of conversations that are right, and of what the rules alone keep that
    is kept with each model, the real `model` too if there is one; and what that one cost.
    """
    embedder = options.chosen_embedder()
    rules = RuleExtractor(embedder)
    alone = [held for held, _ in await _hold(talks, rules, None, options, "rules")]
    seen: dict[str, list[bool]] = defaultdict(list)
    told: dict[str, Any] = {}
    for talk, held in zip(talks, alone, strict=True):
        seen["right, rules alone"].append(_is_right(talk, held))
    models: list[Completer] = [Played(kind) for kind in PLAYED]
    for one in (*models, *([] if model is None else [model])):
        name = one.model if isinstance(one, Played) else "real"
        rows = await _hold(talks, LayeredExtractor(ModelExtractor(one), rules), one, options, name)
        for talk, held, certain in zip(talks, (held for held, _ in rows), alone, strict=True):
            seen[f"right, {name}"].append(_is_right(talk, held))
            # Words that the conversation itself takes back may end by a good model's answer.
            kept = [one for one in certain if not _matches(talk["gone"], one) and not _is_replaced(talk, one)]
            seen[f"kept of the rules', {name}"] += [_is_held(one, held) for one in kept]
            if name == "natural":
                seen[f"right, natural, {talk['lang']}"].append(_is_right(talk, held))
                seen["arrived, natural"] += [
                    _is_held(item["quote"], held) or _is_held(item["value"], held)
                    for item in talk["items"]
                    if not _is_replaced(talk, item["quote"])
                ]
        if name == "real":
            cost = sum((spent for _, spent in rows), Cost())
            told = {"turns": sum(len(talk["say"]) for talk in talks), **cost.to_dict()}
    return {"shares": seen, "cost": told}


async def _hold(
    talks: Sequence[Talk], extractor: Extractor, model: Completer | None, options: EvalOptions, name: str
) -> list[tuple[Held, Cost]]:
    """Return what is in memory after each conversation, and what its model cost."""
    rows = []
    budget = Budget(max_seconds=Settings.load().model_timeout_seconds / MODELS_SHARE)
    async with throwaway_engine(options.chosen_embedder(), extractor=extractor, budget=budget) as engine:
        for number, talk in enumerate(talks):
            if isinstance(model, Played):
                model.talk = talk
            actor = Actor(user=f"u{number}")
            cost = Cost()
            for text in talk["say"]:
                cost += (await engine.capture(text, actor=actor)).cost
            memories = await live_memories(engine, actor)
            held = [f"{one.key}: {one.content}" if one.key else one.content for one in memories]
            rows.append((held, cost))
            options.progress(name, number + 1, len(talks))
    return rows


def _is_right(talk: Talk, held: Held) -> bool:
    return all(any(_matches([one], text) for text in held) for one in talk["now"]) and not any(
        _matches(talk["gone"], text) for text in held
    )


def _is_replaced(talk: Talk, text: str) -> bool:
    """Return True if a later answer of the conversation replaces or ends these words."""
    abouts = [str(item["about"]) for item in talk["items"] if item.get("about")]
    return any(one.casefold() in text.casefold() for one in abouts)


def _matches(expressions: Sequence[str], text: str) -> bool:
    return any(re.search(one, text, re.IGNORECASE) for one in expressions)


def _is_held(words: str, held: Held) -> bool:
    """Return True if a memory has these words. What rules add in brackets of an earlier statement, a model's labels may
    tell instead.
    """
    wanted = words.partition(" (earlier: ")[0].casefold().strip(" .")
    value = wanted.partition(": ")[2]
    return any(wanted in text.casefold() or (value and value in text.casefold()) for text in held)


def read_talks(path: Path) -> list[Talk]:
    """Return the conversations of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
