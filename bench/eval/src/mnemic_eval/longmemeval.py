"""LongMemEval ("Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025): turns and sessions in a
haystack.

Each question has a separate haystack and therefore a separate scope; all its turns, the user's and the assistant's, are
added to the engine. Turns are ranked by one search, asked on the question's date; sessions by the first of their turns
in it, as the authors' turn-to-session evaluation does. `session_any@5` and `session_all@5` ask whether one, or all, of
the answer sessions are among the first five; `turn_recall@5` is the share of the turns marked `has_answer` among the
first five messages, `ndcg@10` is over the same turns.

Abstention questions (`_abs`) have no answer to find and are left out, as are questions that mark no turn. Split:
within each question type, ordered by question id, every other question is `test`.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.timestamps import moment
from mnemic.ports import Embedder
from mnemic.types import Actor, Message
from mnemic_eval.ablation import Ablation
from mnemic_eval.conditions import conditions
from mnemic_eval.dataset_files import Unread, find_file, load_json, messages_of
from mnemic_eval.metrics import all_at, any_at, ndcg_at, recall_at
from mnemic_eval.options import EvalOptions, evaluation
from mnemic_eval.outcome import Asked, report, write_lines
from mnemic_eval.progress import Progress
from mnemic_eval.replay import Replayed, facts, throwaway_engine

FILES = ("longmemeval_s*.json*", "longmemeval_m*.json*", "longmemeval_oracle*.json*", "*.json*")
FIGURES = ("session_any@5", "session_all@5", "session_any@10", "session_all@10", "turn_recall@5", "ndcg@10")
DEPTH = 100
UNANSWERABLE = "_abs"
"""The end of the id of a question that nothing in its haystack answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Haystack:
    """One question with everything that was ever said; `session_of` tells each message's session."""

    question_id: str
    category: str
    split: str
    question: str
    asked_at: datetime | None
    messages: tuple[Message, ...]
    session_of: Mapping[str, str]
    turns: frozenset[str]
    sessions: frozenset[str]


def haystacks(path: Path, unread: Unread | None = None) -> list[Haystack]:
    """Return the answerable questions of a LongMemEval file. Raises InvalidInput (`invalid_input:data:longmemeval`)."""
    file = find_file(path, FILES)
    messages = messages_of(file, "longmemeval", Unread() if unread is None else unread)
    try:
        entries = load_json(file)
        answerable = [entry for entry in entries if not str(entry["question_id"]).endswith(UNANSWERABLE)]
        splits = _splits(answerable)
        stacks = [
            _haystack(entry, messages[entry["question_id"]], splits[entry["question_id"]]) for entry in answerable
        ]
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InvalidInput("data:longmemeval", hint="the file has another shape than LongMemEval's") from None
    return [stack for stack in stacks if stack.turns]


def _splits(entries: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    seen: Counter[str] = Counter()
    splits = {}
    for entry in sorted(entries, key=lambda entry: str(entry["question_id"])):
        splits[entry["question_id"]] = "test" if seen[entry["question_type"]] % 2 else "dev"
        seen[entry["question_type"]] += 1
    return splits


def _haystack(entry: Mapping[str, Any], messages: Sequence[Message], split: str) -> Haystack:
    marked = {
        f"{session}:{place}"
        for session, turns in zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True)
        for place, turn in enumerate(turns, start=1)
        if turn.get("has_answer")
    }
    return Haystack(
        question_id=str(entry["question_id"]),
        category=str(entry["question_type"]),
        split=split,
        question=str(entry["question"]),
        asked_at=moment(entry["question_date"], "question_date") if entry.get("question_date") else None,
        messages=tuple(messages),
        session_of={str(message.message_id): str(message.session) for message in messages},
        turns=frozenset(marked),
        sessions=frozenset(map(str, entry["answer_session_ids"])),
    )


@evaluation
def run(path: Path, options: EvalOptions) -> dict[str, Any]:
    """Measure LongMemEval at `path` (file or folder); the arguments are those of `locomo.run`, `limit` counts
    questions.

    With `limit`, questions are taken across the types in turn, so that a short run is not all of one type.
    """
    unread = Unread()
    chosen = across_types(haystacks(path, unread))[: options.limit]
    made = options.chosen_embedder()
    asked, ablation, more = asyncio.run(_measure_haystacks(chosen, made, options.progress, options.ablate))
    if options.per_question is not None:
        write_lines(asked, options.per_question)
    split = {half: [one.question_id for one in asked if one.split == half] for half in ("dev", "test")}
    more = {"split": split, "unread": dict(unread), **more}
    settings = conditions(seed=options.seed, set="longmemeval", embedder=made.space.model, **more)
    result = report(asked, FIGURES, settings, seed=options.seed)
    return {**result, "ablation": ablation.report(FIGURES)} if ablation else result


def across_types(stacks: Sequence[Haystack]) -> list[Haystack]:
    """Return the questions, ordered so that the types take turns."""
    seen: Counter[str] = Counter()
    rounds = []
    for stack in stacks:
        rounds.append((seen[stack.category], stack))
        seen[stack.category] += 1
    return [stack for _, stack in sorted(rounds, key=lambda pair: pair[0])]


async def _measure_haystacks(
    chosen: Sequence[Haystack], embedder: Embedder, progress: Progress, ablate: bool
) -> tuple[list[Asked], Ablation | None, dict[str, Any]]:
    asked: list[Asked] = []
    conversations: list[Replayed] = []
    async with throwaway_engine(embedder) as engine:
        ablation = Ablation(engine) if ablate else None
        for place, stack in enumerate(chosen, start=1):
            conversations.append(Replayed(engine, Actor(user=f"question-{place}")))
            await conversations[-1].tell(stack.messages, progress, f"question {place} of {len(chosen)}: messages")
            asked.append(await _ask_question(conversations[-1], stack))
            if ablation is not None:
                measure = partial(_figures, stack)
                asked_at = stack.asked_at
                await ablation.ask(
                    conversations[-1], stack.question, stack.split, measure, top_k=DEPTH, asked_at=asked_at
                )
            progress("questions", place, len(chosen))
    return asked, ablation, facts(conversations)


def _figures(stack: Haystack, ranked: Sequence[str]) -> dict[str, float]:
    sessions = list(dict.fromkeys(stack.session_of[ref] for ref in ranked))
    figures = {
        "session_any@5": any_at(sessions, stack.sessions, 5),
        "session_all@5": all_at(sessions, stack.sessions, 5),
        "session_any@10": any_at(sessions, stack.sessions, 10),
        "session_all@10": all_at(sessions, stack.sessions, 10),
        "turn_recall@5": recall_at(ranked, stack.turns, 5),
        "ndcg@10": ndcg_at(ranked, stack.turns, 10),
    }
    return {name: round(value, 6) for name, value in figures.items()}


async def _ask_question(conversation: Replayed, stack: Haystack) -> Asked:
    ranked = await conversation.ask(stack.question, top_k=DEPTH, asked_at=stack.asked_at)
    return Asked(
        question_id=stack.question_id,
        category=stack.category,
        split=stack.split,
        figures=_figures(stack, ranked),
        question=stack.question,
        wanted=tuple(sorted(stack.turns)),
        ranked=ranked[:20],
    )
