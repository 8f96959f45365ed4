"""Which of the memories that a store found have anything to do with the turn."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.agents.steps.nodes import relevant
from mnemic.policy.key_rules import KeyRule, Policy

POLICY = Policy(keys={"allergies": KeyRule("allergies", on_change="accumulate", pinned=True)}, open_keys=True)


def chosen(query: str, *entries: tuple[str, Any, float | None], most: int = 5) -> list[str]:
    found = [{"key": key, "value": value, "score": score} for key, value, score in entries]
    return [entry["key"] for entry in relevant(found, query, POLICY, min_score=0.1, most=most)]


@pytest.mark.parametrize(
    "value",
    ["the harp is in the attic", {"value": "the harp is in the attic"}, {"text": "the harp is in the attic"}],
)
def test_a_document_of_any_shape_is_read(value: Any) -> None:
    assert chosen("Where is my harp?", ("m-1", value, None), ("m-2", {"value": "a red bicycle"}, None)) == ["m-1"]


def test_its_key_its_quote_and_its_topic_count() -> None:
    aisle, quoted = {"value": "aisle"}, {"value": "Denver", "quote": "I always fly through Denver"}
    style = {"value": "Answer in bullet points.", "category": "preference"}
    assert chosen("Which seat?", ("seat", aisle, None)) == ["seat"]
    assert chosen("Find me a flight.", ("hub", quoted, None)) == ["hub"]
    assert chosen("What is the capital of Peru?", ("m-1", style, None), ("seat", aisle, None)) == ["m-1"]


def test_scores_decide_where_there_are_some() -> None:
    near, far, none = ("seat", {"value": "aisle"}, 0.5), ("harp", {"value": "x"}, 0.05), ("seat2", {"value": "y"}, None)
    assert chosen("Which seat?", near, far, none) == ["seat"]


def test_what_policy_pins_is_there_and_no_more_than_asked_for() -> None:
    pinned = ("allergies/m-77", {"value": "nuts"}, 0.0)
    assert chosen("What is the capital of Peru?", pinned) == ["allergies/m-77"]
    many = [(f"m-{n}", {"value": f"harp {n}"}, None) for n in range(9)]
    assert chosen("Which harp?", *many, most=2) == ["m-0", "m-1"]
