"""Answerable and unanswerable questions about a conversation: does the relevance of a search separate them?

PATH is LoCoMo's file or folder (the adversarial questions ask for what was never said in words that were) or
LongMemEval's (the questions whose id ends in `_abs`). Every message is given to the engine, every question asked once.

`auc`: how often, of an answerable question and an unanswerable one, the first has the higher relevance (ties count
half; where the set gives each question a conversation, over all of its half, else within a conversation).
`answerable_abstained`, `unanswerable_abstained`: the shares for which the search abstains.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from mnemic.errors import InvalidInput
from mnemic.ports import Embedder
from mnemic.types import Actor, Message
from mnemic_eval import locomo, longmemeval
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import Unread, find_file, load_json
from mnemic_eval.metrics import CONFIDENCE, interval
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS
from mnemic_eval.progress import Progress
from mnemic_eval.replay import Replayed, throwaway_engine
from mnemic_eval.unknown_questions import auc

ADVERSARIAL = "adversarial"
RESAMPLES = 500
FILES = (*locomo.FILES, *longmemeval.FILES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of a conversation. `group` names the questions it is compared with."""

    group: str
    split: str
    text: str = field(repr=False)
    answerable: bool
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Messages, and the questions asked about them."""

    messages: Sequence[Message] = field(repr=False)
    asked: Sequence[Asked]


@dataclass(frozen=True, slots=True)
class Answer:
    """The relevance of one question's search, and whether the search abstained."""

    asked: Asked
    relevance: float
    abstained: bool


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure the first `limit` conversations under `path`: `dev`, `test` and `settings`.

    Raises InvalidInput (`invalid_input:data:abstention`) for data that has no question of one of the two kinds.
    """
    unread = Unread()
    conversations_read = conversations(path, unread)[: options.limit]
    kinds = {one.answerable for result in conversations_read for one in result.asked}
    if len(kinds) < 2:
        raise InvalidInput("data:abstention", hint="no answerable, or no unanswerable questions")
    made = options.chosen_embedder()
    answers = asyncio.run(_measure_answers(conversations_read, made, options.progress))
    settings = conditions(seed=options.seed, set="abstention", embedder=made.space.model, unread=dict(unread))
    halves = {split: _figures([one for one in answers if one.asked.split == split], options.seed) for split in SPLITS}
    return {**halves, "settings": settings}


def conversations(path: Path, unread: Unread) -> list[Conversation]:
    """Return the conversations of the file at `path`, of either set. Raises InvalidInput."""
    entries = load_json(find_file(path, FILES))
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise InvalidInput("data:abstention", hint="the file is neither LoCoMo's nor LongMemEval's")
    if entries and "question_id" in entries[0]:
        return list(_haystacks(path, unread))
    return list(_chats(path, unread))


def _chats(path: Path, unread: Unread) -> Iterator[Conversation]:
    chats = locomo.conversations(path, unread)
    half = (len(chats) + 1) // 2
    for place, chat in enumerate(chats):
        split = SPLITS[place >= half]
        asked = [
            Asked(group=chat.name, split=split, text=one.text, answerable=one.category != ADVERSARIAL)
            for one in chat.questions
        ]
        yield Conversation(messages=chat.messages, asked=asked)


def _haystacks(path: Path, unread: Unread) -> Iterator[Conversation]:
    for stack in longmemeval.haystacks(path, unread, unanswerable=True):
        answerable = not stack.question_id.endswith(longmemeval.UNANSWERABLE)
        one = Asked(
            group=stack.split,
            split=stack.split,
            text=stack.question,
            answerable=answerable,
            asked_at=stack.asked_at,
        )
        yield Conversation(messages=stack.messages, asked=[one])


async def _measure_answers(
    conversations_read: Sequence[Conversation], embedder: Embedder, progress: Progress
) -> list[Answer]:
    answers: list[Answer] = []
    async with throwaway_engine(embedder) as engine:
        for place, one in enumerate(conversations_read, start=1):
            conversation = Replayed(engine, Actor(user=f"conversation-{place}"))
            await conversation.tell(
                one.messages, progress, f"conversation {place} of {len(conversations_read)}: messages"
            )
            for asked in one.asked:
                result = await engine.search(asked.text, actor=conversation.actor, top_k=1, asked_at=asked.asked_at)
                # Without a judgement the scope counts as one that knows the answer, as it does for a caller.
                answers.append(Answer(asked, 1.0 if result.relevance is None else result.relevance, result.abstains))
            progress("conversations", place, len(conversations_read))
    return answers


def _figures(answers: Sequence[Answer], seed: int) -> dict[str, Any]:
    kinds = [[one for one in answers if one.asked.answerable is kind] for kind in (True, False)]
    shares = [[float(one.abstained) for one in kind] for kind in kinds]
    fields: dict[str, Any] = {"auc": _auc(answers)}
    bounds = {"auc": auc_interval(answers, seed)}
    for name, values in zip(("answerable_abstained", "unanswerable_abstained"), shares, strict=True):
        fields[name] = round(sum(values) / len(values), 4) if values else None
        bounds[name] = interval(values, seed) if values else None
    return {**fields, "answerable": len(kinds[0]), "unanswerable": len(kinds[1]), "ci95": bounds}


def _auc(answers: Sequence[Answer]) -> float | None:
    """Return the mean over the groups that have both kinds, weighted by their numbers of pairs."""
    return _group_answers(answers, lambda values: values)


def auc_interval(answers: Sequence[Answer], seed: int) -> list[float] | None:
    """Return the 95 % percentile bootstrap interval of the area; questions of each kind are resampled within their
    group.
    """
    random = np.random.default_rng(seed)

    def drawn(values: Sequence[float]) -> list[float]:
        return [values[place] for place in random.integers(0, len(values), len(values))]

    areas = [_group_answers(answers, drawn) for _ in range(RESAMPLES)]
    known = [area for area in areas if area is not None]
    if not known:
        return None
    tail = (1 - CONFIDENCE) / 2
    return [round(float(bound), 4) for bound in np.quantile(known, [tail, 1 - tail])]


def _group_answers(answers: Sequence[Answer], drawn: Callable[[Sequence[float]], Sequence[float]]) -> float | None:
    won = pairs = 0.0
    for group in sorted({one.asked.group for one in answers}):
        higher, lower = (
            [one.relevance for one in answers if one.asked.group == group and one.asked.answerable is kind]
            for kind in (True, False)
        )
        if higher and lower:
            size = len(higher) * len(lower)
            won, pairs = won + size * auc(drawn(higher), drawn(lower)), pairs + size
    return round(won / pairs, 4) if pairs else None
