"""Chats with questions whose evidence is some of their messages: recall of that evidence by search.

Each chat is one user's scope. Every message is added to the engine, every question is asked unchanged, and its figures
are computed over the messages found: `recall@k`, the share of its evidence among the first k; `all@k`, whether all of
it is there; `ndcg@k`. Figures of a set are means over questions. Questions without evidence are left out. Evidence that
names no message stays in the denominator as something nothing can find.

Split: the first half of the chats in their order is `dev`, the second `test`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from mnemic.ports import Embedder
from mnemic.types import Actor, Message
from mnemic_eval.ablation import Ablation
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import Unread
from mnemic_eval.metrics import all_at, ndcg_at, recall_at
from mnemic_eval.outcome import SEED, Asked, report, write_lines
from mnemic_eval.pinned import FIGURES as STANDING_FIGURES
from mnemic_eval.pinned import Wish, follow_wishes
from mnemic_eval.progress import Progress, silent
from mnemic_eval.replay import Replayed, chosen_embedder, facts, throwaway_engine
from mnemic_eval.unknown_questions import Knowing

DEPTH = 20
ADVERSARIAL = "adversarial"
"""The category of questions that ask for what was never said, in words that were."""

_MEASURES: Mapping[str, Callable[[Sequence[str], frozenset[str], int], float]] = {
    "recall": recall_at,
    "all": all_at,
    "ndcg": ndcg_at,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a chat with the messages that answer it."""

    question_id: str
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat:
    """One chat with its questions."""

    name: str
    messages: tuple[Message, ...] = field(repr=False)
    questions: tuple[Question, ...] = field(repr=False)
    wishes: tuple[Wish, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatSet:
    """The chats of one set and the reported figures, each `<measure>@<k>` with k at most 20. `unread` counts what could
    not be read.
    """

    name: str
    chats: Sequence[Chat]
    figures: Sequence[str]
    unread: Unread = field(default_factory=Unread)

    def measure_question(self, evidence: frozenset[str], ranked: Sequence[str]) -> dict[str, float]:
        """Return the figures of one question."""
        taken = {}
        for figure in self.figures:
            measure, _, depth = figure.partition("@")
            taken[figure] = round(_MEASURES[measure](ranked, evidence, int(depth)), 6)
        return taken


def run(
    of: ChatSet,
    *,
    progress: Progress = silent,
    per_question: Path | None = None,
    vectors: Path | None = None,
    ablate: bool = False,
    embedder: Embedder | None = None,
    seed: int = SEED,
) -> dict[str, Any]:
    """Measure `of` with the engine's own embedder, or with `embedder`.

    `ablate` adds what each list and sign buys, `vectors` keeps embeddings in a file between runs, `per_question` is a
    file to write one JSON line a question to. Returns fractions: `overall`, `categories`, `dev`, `test`, and
    `settings`; where the chats have wishes, the same of these under `standing`; where there are several, under `known`
    whether a search knows that nothing is known (`mnemic_eval.unknown_questions`).
    """
    half = (len(of.chats) + 1) // 2
    split = {"dev": [one.name for one in of.chats[:half]], "test": [one.name for one in of.chats[half:]]}
    made = chosen_embedder(embedder, vectors)
    seen = asyncio.run(_measure_set(of, frozenset(split["dev"]), made, progress, ablate))
    if per_question is not None:
        write_lines([*seen.asked, *seen.followed], per_question)
    more = {"split": split, "unread": dict(of.unread), **facts(seen.replayed)}
    settings = conditions(seed=seed, set=of.name, embedder=made.space.model, **more)
    result = report(seen.asked, of.figures, settings, seed=seed)
    if known := seen.knowing.report():
        result["known"] = known
    if seen.followed:
        result["standing"] = report(seen.followed, STANDING_FIGURES, {}, seed=seed)
    return {**result, "ablation": seen.ablation.report(of.figures)} if seen.ablation else result


@dataclass(slots=True)
class _Seen:
    """Results for the questions of all chats, and for their wishes."""

    ablation: Ablation | None
    replayed: list[Replayed] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    followed: list[Asked] = field(default_factory=list)
    knowing: Knowing = field(default_factory=Knowing)


async def _measure_set(of: ChatSet, dev: frozenset[str], embedder: Embedder, progress: Progress, ablate: bool) -> _Seen:
    async with throwaway_engine(embedder) as engine:
        seen = _Seen(Ablation(engine) if ablate else None)
        for place, chat in enumerate(of.chats, start=1):
            conversation = Replayed(engine, Actor(user=f"chat-{place}"))
            seen.replayed.append(conversation)
            await conversation.tell(chat.messages, progress, f"{chat.name}: messages")
            split = "dev" if chat.name in dev else "test"
            for question in chat.questions:
                seen.asked.append(await _ask_question(conversation, of, question, split))
            others = [one for one in of.chats if one is not chat and (one.name in dev) is (chat.name in dev)]
            foreign = [question.text for one in others for question in one.questions]
            own, adversarial = (
                [one.text for one in chat.questions if (one.category == ADVERSARIAL) is kind] for kind in (False, True)
            )
            await seen.knowing.ask(conversation, own, {"others": foreign, "adversarial": adversarial}, split)
            seen.followed += await follow_wishes(conversation, chat.messages, chat.wishes, split)
            if seen.ablation is not None:
                for question in chat.questions:
                    measure = partial(of.measure_question, question.evidence)
                    await seen.ablation.ask(conversation, question.text, split, measure, top_k=DEPTH)
            progress("chats", place, len(of.chats))
    return seen


async def _ask_question(conversation: Replayed, of: ChatSet, question: Question, split: str) -> Asked:
    ranked = await conversation.ask(question.text, top_k=DEPTH)
    return Asked(
        question_id=question.question_id,
        category=question.category,
        split=split,
        figures=of.measure_question(question.evidence, ranked),
        question=question.text,
        wanted=tuple(sorted(question.evidence)),
        ranked=ranked,
    )
