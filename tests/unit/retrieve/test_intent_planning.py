"""Retrieval intents by rule."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest

from mnemic.policy.budget import Budget
from mnemic.retrieve.intent_planning import RulePlanner
from mnemic.types import Deadline


def soon() -> Deadline:
    return Deadline.after(timedelta(seconds=5), time.monotonic)


@pytest.mark.parametrize(
    ("goal", "query"),
    [
        ("Find me a flight to Denver.", "Find me a flight to Denver."),
        ("  find\n me ", "find me"),
        ("¿Qué asiento prefiero?", "¿Qué asiento prefiero?"),
    ],
)
async def test_the_goal_is_the_query(goal: str, query: str) -> None:
    intent = await RulePlanner().plan(goal, levels=["user"], budget=Budget(), deadline=soon())
    assert intent == {"kind": "retrieve_memory", "query": query, "top_k": 5}


async def test_the_query_keeps_the_budget() -> None:
    intent = await RulePlanner().plan("x" * 1000, levels=[], budget=Budget(max_retrieve_top_k=2), deadline=soon())
    assert len(intent["query"]) == 240
    assert intent["top_k"] == 2
