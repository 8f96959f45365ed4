"""A GOAL AND MEMORIES IN, AN ANSWER OUT: by a model, or offline by templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mnemic.types import Deadline


class Composer(Protocol):
    """Writes the answer of a turn."""

    async def compose(
        self, goal: str, context: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], *, deadline: Deadline
    ) -> Any:
        """A raw answer `{"answer": str, "used_memory_keys": [ref, ...]}`, unchecked.

        `memories` are `{"ref", "key", "value", "scope", "confidence"}`; a memory is cited by its `ref`. Raises
        ModelFailed.
        """
