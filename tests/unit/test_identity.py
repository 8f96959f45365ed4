"""UUID version 7."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from mnemic.identity import new_id

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


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
