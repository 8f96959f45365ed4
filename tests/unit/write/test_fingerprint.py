"""Step 3: what counts as the same statement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from mnemic.types import Candidate, Kind, Level, Scope, Source
from mnemic.write.fingerprint import fingerprint_of, normal_form

HOME = Scope(tenant="default", level=Level.USER, owner="ada")
SECRET = b"s" * 32


def of(content: str = "Likes tea", scope: Scope = HOME, secret: bytes = SECRET, **fields: Any) -> str:
    return fingerprint_of(secret, scope, Candidate(content=content, **fields))


@pytest.mark.parametrize("content", ["likes tea", "Likes  tea.", "LIKES\ttea!", "Ｌｉｋｅｓ tea", "Likes tea …"])
def test_the_same_statement(content: str) -> None:
    assert of(content) == of()


@pytest.mark.parametrize(
    "other",
    [
        of("Likes tea?"),
        of("Likes teas"),
        of(key="drink"),
        of(kind=Kind.ENTITY),
        of(scope=Scope(tenant="default", level=Level.USER, owner="bob")),
        of(scope=Scope(tenant="default", level=Level.AGENT, owner="ada")),
        of(scope=Scope(tenant="other", level=Level.USER, owner="ada")),
        of(secret=b"t" * 32),
        of(source=Source(speaker="Bob")),
    ],
)
def test_another_statement(other: str) -> None:
    assert other != of()


def test_composed_and_decomposed_are_one() -> None:
    assert of("cafe\u0301") == of("caf\u00e9")


def test_data_and_time_make_another_memory() -> None:
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    assert of(data={"invoice": 1}) != of(data={"invoice": 2})
    assert of(occurred_at=noon) != of(occurred_at=noon + timedelta(days=1))
    assert of(occurred_at=noon, source=Source(quote="x")) == of(source=Source(quote="x"))
    assert of(kind=Kind.STRUCTURED, data={"seat": "1A"}) != of(kind=Kind.STRUCTURED, data={"seat": "1B"})
    assert of(kind=Kind.EPISODIC, occurred_at=noon) != of(kind=Kind.EPISODIC)


def test_it_is_no_plain_hash() -> None:
    assert len(of()) == 64
    assert normal_form("...") == "..."
