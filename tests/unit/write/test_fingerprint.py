"""Step 3: what counts as the same statement."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from mnemic.types import Candidate, Kind, Level, Scope, Source
from mnemic.write.prepare import fingerprint_of, normal_form
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


HOME = Scope(tenant="default", level=Level.USER, owner="ada")
SECRET = b"s" * 32


def of(content: str = "Likes tea", scope: Scope = HOME, secret: bytes = SECRET, **fields: Any) -> str:
    return fingerprint_of(secret, scope, Candidate(content=content, **fields))


def test_the_same_statement() -> None:
    EXAMPLES.assert_right(lambda content: of(content) == of(), "the_same_statement")


def test_another_statement() -> None:
    EXAMPLES.assert_right(lambda other: other != of(), "another_statement")


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
