"""Reports of how far long work is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many steps are behind, and how many there are."""


def silent(what: str, done: int, total: int) -> None:
    """Says nothing."""
