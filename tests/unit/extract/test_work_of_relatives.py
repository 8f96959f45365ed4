"""Capture of the vehicle that a relative of the user drives for a living."""

from __future__ import annotations

import pytest

from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Deadline, Message

FRESH = Deadline(10.0, lambda: 0.0)


async def kept(text: str) -> list[str]:
    message = Message(role="user", content=text)
    found = await RuleExtractor().extract(message, policy=Policy(), budget=Budget(), deadline=FRESH)
    return [candidate.content for candidate in found.candidates]


@pytest.mark.parametrize(
    "text",
    [
        "My cousin drives a tram.",
        "My aunt flies a helicopter.",
        "Our neighbour Ulla drives a lorry.",
    ],
)
async def test_it_is_kept(text: str) -> None:
    assert await kept(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "My cousin Pavel drives a tram today.",
        "If my cousin drives a tram, he is late.",
    ],
)
async def test_what_is_of_the_day_or_supposed_is_left_out(text: str) -> None:
    assert await kept(text) == []
