"""The engine of the tests of the kinds."""

from __future__ import annotations

from tests.unit.kinds.conftest import house

__all__ = ["house"]
