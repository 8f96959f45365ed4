"""Fit the weights of mnemic/retrieve/answer_judgement.py: python fit.py.

To scopes of generated statements of attributes that the judge was not trained on, with questions that one of them
answers, near ones, and ones about nothing that was told. Prints the weights, and how often an answered question has the
higher relevance.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from pairs import WORDS, Frames, Told

import mnemic.retrieve.search as searching
from mnemic.ports import JudgesAnswers
from mnemic.retrieve import answer_judgement as judgement
from mnemic.types import Deadline, Memory
from mnemic_eval import unread
from mnemic_eval.unknown_questions import auc

SEED, SCOPES, QUESTIONS = 11, 34, 14


class Read(NamedTuple):
    """A statement that was judged for a question: the odds of the judge and of resemblance."""

    statement: str
    judged: float
    alike: float


class Asked(NamedTuple):
    """A question, what was judged for it, and the statement that answers it."""

    kind: str
    read: Sequence[Read]
    answer: str | None


def make_scope(
    rng: random.Random, frames: Frames, told: Told, seen: Told
) -> tuple[list[str], list[tuple[str, str, str | None]]]:
    """Return statements, and questions with their kind and the statement that answers them."""
    groups = [told.group(rng) for _ in range(rng.randint(3, 6))] + [
        frames.group(rng) for _ in range(rng.randint(4, 14))
    ]
    questions: list[tuple[str, str, str | None]] = []
    for group in groups:
        statement = group[0].statement
        questions += [
            (one.question, one.kind, statement if one.answers else None)
            for one in group
            if one.statement == statement and one.kind in ("answered", "near")
        ]
    far = [seen.group(rng)[0].question for _ in range(3)] + [rng.choice(WORDS["far_requests"]) for _ in range(3)]
    rng.shuffle(questions)
    statements = list(dict.fromkeys(group[0].statement for group in groups))
    return statements, questions[:QUESTIONS] + [(question, "far", None) for question in far]


async def ask() -> list[Asked]:
    """Return the questions of all scopes with what the engine's searches have judged."""
    rng = random.Random(SEED)
    frames, told, seen = Frames(held_out=True), Told(held_out=True), Told(held_out=False)
    read: list[Read] = []

    async def judge(
        embedder: JudgesAnswers,
        question: str,
        order: Sequence[str],
        statements: Mapping[str, Memory],
        relevances: Mapping[str, float],
        deadline: Deadline | None = None,
    ) -> dict[str, float]:
        alike = judgement.first_alike(order, statements, relevances)
        texts = [judgement.text_of(statements[one]) for one in alike]
        odds = await embedder.judge_answers(question, texts, deadline=deadline) if texts else []
        read[:] = [Read(text, *both) for text, *both in zip(texts, odds, alike.values(), strict=True)]
        return {}

    searching.judge_answers = judge
    asked = []
    async with unread._managers() as open_manager:
        for place in range(SCOPES):
            statements, questions = make_scope(rng, frames, told, seen)
            manager = open_manager(f"scope-{place}")
            for statement in statements:
                await manager.add(statement)
            for question, kind, answer in questions:
                read.clear()
                await manager.search(question)
                asked.append(Asked(kind, tuple(read), answer))
    return asked


def fit(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the weights of a logistic regression, by Newton's method."""
    weights = np.zeros(features.shape[1])
    for _ in range(50):
        shares = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (shares - labels) + 0.01 * weights
        bend = (features * (shares * (1 - shares))[:, None]).T @ features + 0.01 * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    return weights


def main() -> dict[str, Any]:
    """Print and return the weights and figures."""
    asked = asyncio.run(ask())
    rows = [(one.judged, min(judgement.ALIKE, one.alike), 1.0) for question in asked for one in question.read]
    labels = [one.statement == question.answer for question in asked for one in question.read]
    weights = fit(np.array(rows), np.array(labels, float))
    best: dict[str, list[float]] = {"answered": [], "near": [], "far": []}
    for question in asked:
        odds = [weights @ (one.judged, min(judgement.ALIKE, one.alike), 1.0) for one in question.read]
        best[question.kind].append(max(odds, default=-np.inf))
    figures = {kind: round(auc(best["answered"], best[kind]), 3) for kind in ("near", "far")}
    print("judge, resemblance, base", weights.round(2), figures, "statements", len(rows), "answers", sum(labels))
    return {"weights": list(weights), **figures}


if __name__ == "__main__":
    main()
