"""Reliability of relevance: is a hit of relevance 0.6 right six times in ten, in every size of scope and language?

PATH is LoCoMo's file or folder, or the folder of texts that `languages` reads. Of LoCoMo, scopes of 5 to 5,000 messages
are filled with consecutive messages and asked for evidence that is in them, and as often for evidence that is not (of
the same chat where its other messages are left out, and of other chats). Of languages, half of the forty texts that
have a question are stored with the texts that have none, and all forty are asked for, in the language of the texts and
in English; English texts are asked for in the other languages.

The first `DEPTH` hits of every search count. For each group: `mean` relevance and `right`, the share that is evidence,
over all and in each of `BINS`; `ece`, the expected calibration error (the mean distance between both, weighted by the
hits of a bin); `auc`, how often a right hit has the higher relevance than a wrong one; and for the searches as a whole
`first_right`, the share of questions with an answer whose first hit is right, and the shares for which a search
abstains.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.ports import Embedder
from mnemic.types import Actor, Candidate, Message, Source
from mnemic_eval import languages, locomo
from mnemic_eval.chats import Chat
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import Unread
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import SPLITS
from mnemic_eval.progress import Progress, silent
from mnemic_eval.replay import Replayed, throwaway_engine

SIZES = (5, 30, 100, 1_000, 5_000)
ASKED = 80
"""Questions of each kind, answerable and not, in each size and half."""
DEPTH = 5
MORE_LANGUAGES = ("it", "pt-BR", "ru", "hi")
"""Languages of texts without questions, which are asked for in English."""
BINS = (0.0, 0.05, 0.17, 0.3, 0.5, 0.7, 1.0)
"""Bounds of the groups by relevance; a search abstains below 0.17."""


@dataclass(frozen=True, slots=True)
class Rated:
    """The relevance of each of the first hits of a search, whether the hit is right, whether anything could be, and
    whether the search abstained.
    """

    hits: tuple[tuple[float, bool], ...]
    answerable: bool
    abstained: bool


@dataclass(frozen=True, slots=True)
class FilledScope:
    """A scope: its messages, and its questions, each with the messages that answer it (none: nothing does)."""

    messages: Sequence[Message] = field(repr=False)
    questions: Sequence[tuple[str, frozenset[str]]] = field(repr=False)


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure with at most `limit` questions of each kind in each group: a part for each size and half, or for each
    language, and `settings`. Raises InvalidInput for data that is neither set's.
    """
    made, most, sizes = options.chosen_embedder(), options.limit or ASKED, options.sizes or SIZES
    draw = Random(options.seed)  # noqa: S311 - draws samples
    try:
        chats = locomo.conversations(path, Unread())
    except InvalidInput:
        texts = languages.read_texts(path)
        more = {one: languages.texts_in(path, one) for one in (languages.ENGLISH, *MORE_LANGUAGES)}
        rated = asyncio.run(_languages({**texts, **more}, most, made, options.progress))
    else:
        rated = asyncio.run(_sizes(chats, sizes, most, made, options.progress, draw))
    settings = conditions(seed=options.seed, set="reliability", embedder=made.space.model, depth=DEPTH)
    return {**{name: figures(found) for name, found in rated.items()}, "settings": settings}


def figures(rated: Sequence[Rated]) -> dict[str, Any]:
    """Return the figures of the module over the searches of a group."""
    pairs = [pair for one in rated for pair in one.hits]
    table = np.array(pairs, np.float64).reshape(-1, 2)
    of_bin = np.clip(np.searchsorted(BINS, table[:, 0], side="right") - 1, 0, len(BINS) - 2)
    bins = {}
    off = 0.0
    for place, (low, high) in enumerate(itertools.pairwise(BINS)):
        within = table[of_bin == place]
        if len(within):
            mean, right = within.mean(axis=0)
            off += abs(mean - right) * len(within)
            bins[f"{low:g}-{high:g}"] = {
                "mean": round(float(mean), 3),
                "right": round(float(right), 3),
                "hits": len(within),
            }
    with_answer, without = ([one for one in rated if one.answerable is kind] for kind in (True, False))
    return {
        "ece": round(float(off) / len(table), 4) if len(table) else None,
        "auc": _auc(table),
        "mean": round(float(table[:, 0].mean()), 4) if len(table) else None,
        "right": round(float(table[:, 1].mean()), 4) if len(table) else None,
        "first_right": _share([bool(one.hits) and one.hits[0][1] for one in with_answer]),
        "answerable_abstained": _share([one.abstained for one in with_answer]),
        "unanswerable_abstained": _share([one.abstained for one in without]),
        "bins": bins,
        "questions": len(rated),
    }


def _share(values: Sequence[bool]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _auc(table: np.ndarray[Any, np.dtype[np.float64]]) -> float | None:
    """Return the area under the curve by ranks, ties at their mean."""
    right = table[table[:, 1] == 1, 0]
    wrong = np.sort(table[table[:, 1] == 0, 0])
    if not len(right) or not len(wrong):
        return None
    below = (np.searchsorted(wrong, right, "left") + np.searchsorted(wrong, right, "right")) / 2
    return round(float(below.sum()) / (len(right) * len(wrong)), 4)


async def _sizes(
    chats: Sequence[Chat], sizes: Sequence[int], most: int, embedder: Embedder, progress: Progress, random: Random
) -> dict[str, list[Rated]]:
    named = [_rename_chat(chat) for chat in chats]
    half = (len(named) + 1) // 2
    halves = (named[:half], named[half:])
    rated: dict[str, list[Rated]] = {}
    async with throwaway_engine(embedder) as engine:
        for size in sizes:
            for split, own, other in zip(SPLITS, halves, halves[::-1], strict=True):
                group = rated.setdefault(f"{split} {size}", [])
                for place, filled in enumerate(_scopes(own, other, size, most, random)):
                    conversation = Replayed(engine, Actor(user=f"{split}-{size}-{place}"))
                    await conversation.tell(filled.messages, silent, "")
                    group += [await _ask_question(conversation, *question) for question in filled.questions]
                    progress(f"{split}, {size} memories", len(group), 2 * most)
    return rated


def _rename_chat(chat: Chat) -> Chat:
    """Return the chat with ids of messages that no other chat has."""
    messages = tuple(replace(one, message_id=f"{chat.name}/{one.message_id}") for one in chat.messages)
    questions = tuple(
        replace(one, evidence=frozenset(f"{chat.name}/{name}" for name in one.evidence)) for one in chat.questions
    )
    return replace(chat, messages=messages, questions=questions)


def _scopes(own: Sequence[Chat], other: Sequence[Chat], size: int, most: int, random: Random) -> Iterator[FilledScope]:
    """Yield scopes of `size` messages until they have `most` questions of each kind between them. A scope larger than
    a chat has several chats, the largest those of the other half, too, about which nothing is asked.
    """
    messages = [message for chat in (*own, *other) for message in chat.messages]
    questions = [one for chat in own for one in chat.questions if one.evidence and one.category != "adversarial"]
    within = sum(len(chat.messages) for chat in own)
    wanted = most
    for _ in range(most):
        if wanted <= 0:
            return
        start = random.randrange(max(1, within - size))
        part = messages[start : start + size]
        ids = {one.message_id for one in part}
        known = [one for one in questions if one.evidence <= ids]
        unknown = [one for one in questions if one.evidence.isdisjoint(ids)] or _of_others(other, ids)
        asked = random.sample(known, min(len(known), wanted, max(1, size // 10)))
        if not asked:
            continue
        wanted -= len(asked)
        nothing = random.sample(unknown, min(len(asked), len(unknown)))
        yield FilledScope(
            part, [(one.text, one.evidence) for one in asked] + [(one.text, frozenset()) for one in nothing]
        )


def _of_others(chats: Sequence[Chat], ids: set[str | None]) -> list[Any]:
    """Return the questions of other chats whose evidence is not in the scope."""
    return [one for chat in chats for one in chat.questions if one.evidence and one.evidence.isdisjoint(ids)]


async def _ask_question(conversation: Replayed, question: str, evidence: frozenset[str]) -> Rated:
    result = await conversation.engine.search(question, actor=conversation.actor, top_k=DEPTH)
    hits = []
    for hit in result.hits:
        refs = conversation.refs(replace(result, hits=(hit,)))
        if hit.relevance is not None:
            hits.append((hit.relevance, not evidence.isdisjoint(refs)))
    return Rated(tuple(hits), bool(evidence), bool(result.abstains))


async def _languages(
    texts: dict[str, dict[str, str]], most: int, embedder: Embedder, progress: Progress
) -> dict[str, list[Rated]]:
    """Tell half of the texts with a question, and ask for all of them."""
    questions = list(languages.read_questions())
    wanted = {name: place for place, name in enumerate(dict.fromkeys(one.wanted for one in questions))}
    rated: dict[str, list[Rated]] = {}
    async with throwaway_engine(embedder) as engine:
        for place, (language, memories) in enumerate(texts.items()):
            stored = {name: text for name, text in memories.items() if wanted.get(name, 0) % 2 == 0}
            actor, names = await _store_texts(engine, language, stored)
            asked_in = (
                {languages.ENGLISH, language} if language != languages.ENGLISH else {q.language for q in questions}
            )
            for one in [one for one in questions if one.language in asked_in]:
                group = rated.setdefault(f"{language}, asked in {one.language}", [])
                if len(group) < 2 * most:
                    group.append(await _asked_of(engine, actor, names, one.text, one.wanted, one.wanted in stored))
            progress("languages", place + 1, len(texts))
    return rated


async def _store_texts(engine: MemoryEngine, language: str, texts: dict[str, str]) -> tuple[Actor, dict[str, str]]:
    """Return the user whose memories the texts are, and the name of the text of each memory."""
    actor = Actor(user=f"reliability-{language}")
    candidates = [Candidate(content=text, source=Source(ref=name)) for name, text in texts.items()]
    receipts = await engine.add_many(candidates, actor=actor)
    return actor, {one.memory_id: name for one, name in zip(receipts, texts, strict=True) if one.memory_id is not None}


async def _asked_of(
    engine: MemoryEngine, actor: Actor, names: dict[str, str], question: str, wanted: str, answerable: bool
) -> Rated:
    result = await engine.search(question, actor=actor, top_k=DEPTH)
    hits = [
        (hit.relevance, names.get(hit.memory.memory_id) == wanted) for hit in result.hits if hit.relevance is not None
    ]
    return Rated(tuple(hits), answerable, bool(result.abstains))
