"""Cut what is injected to a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mnemic.inject.references import memory_item
from mnemic.inject.tokens import estimated_tokens
from mnemic.types import Hit

__all__ = ["ENTRY_OVERHEAD_TOKENS", "estimated_tokens", "within_tokens"]

ENTRY_OVERHEAD_TOKENS = 12
"""Source, sign of the list and line break around one entry of a block."""


def within_tokens(hits: Sequence[Hit], max_tokens: int) -> tuple[Hit, ...]:
    """The longest run of best hits that fit `max_tokens` as a model is shown them, in JSON; a hit too long for what is
    left is passed over.
    """
    kept: list[Hit] = []
    left = max_tokens
    for number, hit in enumerate(hits, start=1):
        shown = memory_item(hit.memory.key or f"m{number}", hit)
        cost = estimated_tokens(json.dumps(shown, ensure_ascii=False)) + 1
        if cost <= left:
            kept.append(hit)
            left -= cost
    return tuple(kept)
