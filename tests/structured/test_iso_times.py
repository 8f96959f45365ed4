"""Times as they are compared."""

from __future__ import annotations

import pytest

from mnemic.structured.shape import comparable


def test_offsets_are_compared_as_moments() -> None:
    assert comparable("2026-03-04T01:00:00+02:00") == ("2026-03-03T23:00:00", False)
    assert comparable("2026-03-04t01:00:00+02:00", local=True) == ("2026-03-04T01:00:00", True)


@pytest.mark.parametrize("told", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
def test_what_utc_has_no_year_for_is_compared_as_it_stands(told: str) -> None:
    assert comparable(told) == (told, True)
