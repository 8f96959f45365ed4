"""Step 1: what is refused, with which reason, and what is cleaned."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.policy.key_rules import Policy
from mnemic.types import Candidate, Kind, Source
from mnemic.write.prepare import validate

NOW = datetime(2026, 1, 5, tzinfo=UTC)


def validated(**fields: Any) -> Candidate:
    return validate(Candidate(**{"content": "likes tea", **fields}), Policy(), NOW)


def nested(depth: int) -> Any:
    value: Any = "leaf"
    for _ in range(depth):
        value = {"in": value}
    return value


REFUSED = [
    ({"content": ""}, "content:empty"),
    ({"content": " \n\t "}, "content:empty"),
    ({"content": "\u200b\u200b"}, "content:empty"),
    ({"content": "x" * 8193}, "content:too_long"),
    ({"content": "x" * 100_000}, "content:too_long"),
    ({"content": "\U0001f600" * 8192 + "x"}, "content:too_long"),
    ({"content": "a\0b"}, "content:nul"),
    ({"content": "a\ud800b"}, "content:surrogate"),
    ({"content": 7}, "content"),
    ({"kind": "diary"}, "kind"),
    ({"kind": Kind.WORKING}, "kind:not_durable"),
    ({"kind": Kind.SHORT_TERM}, "kind:not_durable"),
    ({"key": ""}, "key"),
    ({"key": "a\u202eb"}, "key"),
    ({"confidence": math.nan}, "confidence"),
    ({"confidence": math.inf}, "confidence"),
    ({"confidence": 1.01}, "confidence"),
    ({"confidence": True}, "confidence"),
    ({"confidence": 10**400}, "confidence"),
    ({"confidence": "high"}, "confidence"),
    ({"data": {"x": 10**5000}}, "data:integer"),
    ({"data": {"x": b"bytes"}}, "data"),
    ({"data": [1]}, "data"),
    ({"ttl": timedelta(0)}, "ttl"),
    ({"ttl": timedelta(days=99_999)}, "ttl"),
    ({"valid_from": NOW, "valid_to": NOW}, "valid_to"),
    ({"valid_to": NOW - timedelta(days=1)}, "valid_to"),
    ({"data": {"x": math.nan}}, "data"),
    ({"data": {"x": object()}}, "data"),
    ({"data": nested(10)}, "data:depth"),
    ({"data": {"x": "y" * 40_000}}, "data:too_long"),
    ({"data": {"x": ["y" * 9_000] * 4}}, "data:too_long"),
    ({"data": {"": 1}}, "data"),
    ({"data": {"x": "a\0"}}, "data:nul"),
    ({"context": "x" * 8193}, "context:too_long"),
    ({"context": "\ud800"}, "context:surrogate"),
    ({"category": "x" * 129}, "category:too_long"),
    ({"category": 3}, "category"),
    ({"source": Source(origin="rumour")}, "origin"),  # type: ignore[arg-type]
    ({"source": Source(span=(3, 1))}, "span"),
    ({"source": Source(span=(True, 2))}, "span"),
    ({"source": Source(speaker="x" * 300)}, "speaker:too_long"),
    ({"source": Source(quote="x" * 20_000)}, "quote:too_long"),
]


@pytest.mark.parametrize(
    ("fields", "reason"), REFUSED, ids=[f"{reason}-{at}" for at, (_, reason) in enumerate(REFUSED)]
)
def test_refused_with_a_reason(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as error:
        validated(**fields)
    assert error.value.reason == f"invalid_input:{reason}"
    assert "xxxx" not in str(error.value)


def test_limits_are_measured_after_normalising() -> None:
    padded = "\u200b" * 20_000 + "x" * 8192
    assert validated(content=padded).content == "x" * 8192
    assert len(validated(content="\U0001f600" * 8192).content.encode()) == 32 * 1024


def test_texts_are_cleaned() -> None:
    source = Source(quote="  I like\u200b tea ", speaker=" Ada ", ref="  ")
    clean = validated(
        content="  Cafe\u0301 \r\n", key=" home ", category=" food ", data={"a": ["x\u200b"]}, source=source
    )
    assert (clean.content, clean.key, clean.category) == ("Café", "home", "food")
    assert clean.data["a"] == ("x\u200b",), "data stay as they are given, so that a filter finds them"
    assert (clean.source.quote, clean.source.speaker, clean.source.ref) == ("I like tea", "Ada", None)


def test_a_kind_may_be_named_by_its_value() -> None:
    assert validated(kind="episodic").kind is Kind.EPISODIC
