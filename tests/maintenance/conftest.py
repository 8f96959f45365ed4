"""The engine and the users of the tests of maintenance; nothing of the repository around the package."""

from __future__ import annotations

from tests.engine_fixtures import ana, ben, clock, engine

__all__ = ["ana", "ben", "clock", "engine"]
