"""Cutting hits to a token budget."""

from __future__ import annotations

from datetime import UTC, datetime

from mnemic.inject.token_count import within_tokens
from mnemic.types import Actor, Hit, Kind, Memory

NOW = datetime(2026, 3, 4, tzinfo=UTC)


def hit(content: str) -> Hit:
    memory = Memory(
        memory_id=content[:8],
        kind=Kind.LONG_TERM,
        scope=Actor(user="u").scope("user"),
        content=content,
        created_at=NOW,
        updated_at=NOW,
    )
    return Hit(memory=memory, score=1.0)


def test_a_hit_too_long_for_what_is_left_is_passed_over() -> None:
    hits = [hit("short one"), hit("x" * 4000), hit("short two")]
    assert within_tokens(hits, 40) == (hits[0], hits[2])
    assert within_tokens(hits, 80, as_json=True) == (hits[0],)
    assert within_tokens(hits, 150, as_json=True) == (hits[0], hits[2])
    assert within_tokens(hits, 5) == ()
    assert within_tokens(hits, 10_000) == tuple(hits)
