"""Progress reports of long runs."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Callback with the name of the work, the number of steps done, and the total."""


def silent(what: str, done: int, total: int) -> None:
    """Ignore all reports."""
