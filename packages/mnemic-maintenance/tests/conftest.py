"""The engine and the users of the tests of maintenance, those in tests/unit/maintain too."""

from __future__ import annotations

from tests.unit.maintain.conftest import ana, ben, clock, engine

__all__ = ["ana", "ben", "clock", "engine"]
