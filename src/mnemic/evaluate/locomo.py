"""LoCoMo ("Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024): does a search find the
evidence?

Each conversation is one user's scope. Every turn is told to the engine as a message; every question is asked as it
stands, and `recall@k` is the share of its evidence turns among the first k messages found. Questions without evidence
are left out (1,982 of 1,986 remain), and the figures are means over questions.

Evidence ids are read by one rule: every `D<session>:<turn>` in the text counts, however it is separated, with an
extra colon ("D:11:26") or zeros in front ("D30:05") taken away. Whatever is left, and an id that names no turn of the
conversation, stays in the denominator as evidence that nothing can find: a figure is never flattered by a fault in
the data.

Split: the first half of the conversations in the file's order is `dev`, the second `test` (five and five in
`locomo10.json`).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mnemic.conversations import Format
from mnemic.errors import InvalidInput
from mnemic.evaluate.ablation import Ablation
from mnemic.evaluate.conditions import conditions
from mnemic.evaluate.files import found, loaded, messages_of
from mnemic.evaluate.metrics import recall_at
from mnemic.evaluate.outcome import SEED, Asked, report, write_lines
from mnemic.evaluate.progress import Progress, silent
from mnemic.evaluate.replay import Told, chosen_embedder, facts, throwaway_engine
from mnemic.ports import Embedder
from mnemic.types import Actor, Message

FILES = ("locomo10.json", "locomo.json")
DEPTHS = (5, 10, 20)
FIGURES = tuple(f"recall@{depth}" for depth in DEPTHS)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_EVIDENCE = re.compile(r"D:?0*(\d+):0*(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question of a conversation with the turns that answer it."""

    question_id: str
    text: str
    category: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One conversation with its questions."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]


def evidence_ids(raw: Iterable[object]) -> frozenset[str]:
    """The turns that `raw` names, by the rule of this module."""
    ids: set[str] = set()
    for entry in map(str, raw):
        ids.update(f"D{session}:{turn}" for session, turn in _EVIDENCE.findall(entry))
        ids.update(re.sub(r"[;,]", " ", _EVIDENCE.sub(" ", entry)).split())
    return frozenset(ids)


def conversations(path: Path) -> list[Conversation]:
    """The conversations of a LoCoMo file, or of the folder it lies in. Raises InvalidInput
    (`invalid_input:data:locomo`).
    """
    file = found(path, FILES)
    messages = messages_of(file, Format.LOCOMO)
    try:
        return [_conversation(entry, messages) for entry in loaded(file)]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("data:locomo", hint="the file has another shape than LoCoMo's") from None


def _conversation(entry: Mapping[str, Any], messages: Mapping[str, Sequence[Message]]) -> Conversation:
    name = entry["sample_id"]
    asked = [(number, item) for number, item in enumerate(entry["qa"]) if item.get("evidence")]
    return Conversation(
        name=name,
        messages=tuple(messages[name]),
        questions=tuple(
            Question(
                question_id=f"{name}/{number}",
                text=str(item["question"]),
                category=CATEGORIES.get(item.get("category"), "other"),
                evidence=evidence_ids(item["evidence"]),
            )
            for number, item in asked
        ),
    )


def run(
    path: str | Path,
    *,
    progress: Progress = silent,
    per_question: Path | None = None,
    limit: int | None = None,
    vectors: Path | None = None,
    ablate: bool = False,
    embedder: Embedder | None = None,
    seed: int = SEED,
) -> dict[str, Any]:
    """Measure LoCoMo at `path` (file or folder) with the engine's own embedder, or with `embedder`.

    `limit` takes only the first conversations, `ablate` adds what each list and sign buys, `vectors` keeps embeddings
    in a file between runs, `per_question` is a file to write one JSON line a question to. Returns fractions:
    `overall`, `categories`, `dev`, `test`, and `settings`. Raises InvalidInput for data that is not there or not
    LoCoMo's.
    """
    told_of = conversations(Path(path))[:limit]
    half = (len(told_of) + 1) // 2
    split = {"dev": [one.name for one in told_of[:half]], "test": [one.name for one in told_of[half:]]}
    made = chosen_embedder(embedder, vectors)
    asked, ablation, more = asyncio.run(_measured(told_of, frozenset(split["dev"]), made, progress, ablate))
    if per_question is not None:
        write_lines(asked, per_question)
    settings = conditions(seed=seed, set="locomo", embedder=made.space.model, split=split, **more)
    result = report(asked, FIGURES, settings, seed=seed)
    return {**result, "ablation": ablation.report(FIGURES)} if ablation else result


async def _measured(
    chosen: Sequence[Conversation], dev: frozenset[str], embedder: Embedder, progress: Progress, ablate: bool
) -> tuple[list[Asked], Ablation | None, dict[str, Any]]:
    asked: list[Asked] = []
    told: list[Told] = []
    async with throwaway_engine(embedder) as engine:
        ablation = Ablation(engine) if ablate else None
        for place, one in enumerate(chosen, start=1):
            told.append(Told(engine, Actor(user=one.name)))
            await told[-1].tell(one.messages, progress, f"{one.name}: messages")
            split = "dev" if one.name in dev else "test"
            for question in one.questions:
                asked.append(await _asked(told[-1], question, split))
                if ablation is not None:
                    measure = partial(_figures, question.evidence)
                    await ablation.ask(told[-1], question.text, split, measure, top_k=max(DEPTHS))
            progress("conversations", place, len(chosen))
    return asked, ablation, facts(told)


def _figures(evidence: frozenset[str], ranked: Sequence[str]) -> dict[str, float]:
    return {f"recall@{depth}": round(recall_at(ranked, evidence, depth), 6) for depth in DEPTHS}


async def _asked(told: Told, question: Question, split: str) -> Asked:
    ranked = await told.ask(question.text, top_k=max(DEPTHS))
    return Asked(
        question_id=question.question_id,
        category=question.category,
        split=split,
        figures=_figures(question.evidence, ranked),
        question=question.text,
        wanted=tuple(sorted(question.evidence)),
        ranked=ranked,
    )
