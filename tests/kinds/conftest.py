"""The engine and the users of the tests of the kinds, those in tests/unit/kinds too."""

from __future__ import annotations

from tests.unit.kinds.conftest import house

__all__ = ["house"]
