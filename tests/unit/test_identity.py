"""UUID version 7."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.types import scope
from mnemic.types.scope import first_id, new_id, token_of

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


@pytest.fixture
def from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what other tests have counted already."""
    monkeypatch.setattr(scope, "_stamps", type(scope._stamps)())


def test_it_is_a_version_7_uuid_that_carries_its_time() -> None:
    later = NOW + timedelta(days=400_000)
    made = uuid.UUID(new_id(later))
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert made.int >> 80 >= int(later.timestamp() * 1000)


def test_identifiers_increase_also_when_the_clock_goes_back() -> None:
    moments = [NOW, NOW, NOW - timedelta(hours=1), NOW + timedelta(seconds=1)] * 2000
    made = [new_id(moment) for moment in moments]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


@pytest.mark.usefixtures("from_the_start")
def test_it_is_time_then_a_count_then_chance() -> None:
    made = [uuid.UUID(new_id(NOW)).int for _ in range(200)]
    assert {value >> 80 for value in made} == {int(NOW.timestamp() * 1000)}
    assert [value >> 64 & 0xFFF for value in made] == list(range(200))
    chance = [value & ((1 << 62) - 1) for value in made]
    ever, always = 0, (1 << 62) - 1
    for bits in chance:
        ever, always = ever | bits, always & bits
    assert (ever, always) == ((1 << 62) - 1, 0), "each bit is set in one and clear in another"


@pytest.mark.usefixtures("from_the_start")
def test_where_the_identifiers_of_a_moment_begin() -> None:
    earlier = new_id(NOW - MILLISECOND)
    border = first_id(NOW)
    assert earlier < border <= new_id(NOW)
    assert border < new_id(NOW + MILLISECOND)
    assert uuid.UUID(border + earlier[len(border) :]).int >> 80 == int(NOW.timestamp() * 1000)


def test_a_name_that_stands_for_a_user_is_theirs_in_one_tenant() -> None:
    secret, other = b"k" * 32, b"o" * 32
    assert token_of(secret, "ada") == "7087f67a89eb111f5a8451cf5bc726fa", "stores are full of them: it may never change"
    assert len({token_of(secret, "ada"), token_of(secret, "ben"), token_of(other, "ada"), token_of(secret, "Ada")}) == 4
    assert token_of(secret, "ädá") == token_of(secret, "ädá")
