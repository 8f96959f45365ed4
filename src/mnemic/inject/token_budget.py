"""Cut the hits of a recall to a token budget; `render` cuts the block, and `memory_source` the pinned entries."""

from __future__ import annotations

import json
from collections.abc import Sequence

from mnemic.inject.citation_names import memory_item
from mnemic.inject.token_count import TokenCount, estimated_tokens
from mnemic.types import Hit

__all__ = ["ENTRY_OVERHEAD_TOKENS", "estimated_tokens", "within_tokens"]

ENTRY_OVERHEAD_TOKENS = 12
"""Source, sign of the list and line break around one entry of a block."""


def within_tokens(
    hits: Sequence[Hit], max_tokens: int, *, as_json: bool = False, count: TokenCount = estimated_tokens
) -> tuple[Hit, ...]:
    """Return the longest run of best hits that fit `max_tokens`, each as a line of a block or, with `as_json`, as the
    object that `run` shows; a hit that is too long for the rest of the budget is skipped.
    """
    kept: list[Hit] = []
    left = max_tokens
    for number, hit in enumerate(hits, start=1):
        cost = _json_cost(number, hit, count) if as_json else _line_cost(hit, count)
        if cost <= left:
            kept.append(hit)
            left -= cost
    return tuple(kept)


def _line_cost(hit: Hit, count: TokenCount) -> int:
    return ENTRY_OVERHEAD_TOKENS + count(hit.memory.content) + count(hit.memory.key or "")


def _json_cost(number: int, hit: Hit, count: TokenCount) -> int:
    shown = memory_item(hit.memory.key or f"m{number}", hit)
    return count(json.dumps(shown, ensure_ascii=False)) + 1
