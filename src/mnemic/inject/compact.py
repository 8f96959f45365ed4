"""Cut what is injected to a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.types import Hit

CHARS_PER_TOKEN = 4
"""English prose has about four characters a token in the common byte-pair vocabularies; scripts without spaces have
fewer, so that characters outside ASCII count as one token each here. An estimate on the safe side, not a tokenizer."""

ENTRY_OVERHEAD_TOKENS = 12
"""Key, scope, quotes and braces around one serialised memory."""


def estimated_tokens(text: str) -> int:
    """About how many tokens `text` costs in a prompt, rounded up."""
    ascii_chars = sum(character.isascii() for character in text)
    return -(-ascii_chars // CHARS_PER_TOKEN) + len(text) - ascii_chars


def within_tokens(hits: Sequence[Hit], max_tokens: int) -> tuple[Hit, ...]:
    """The longest run of best hits whose serialised form fits `max_tokens`; a hit too long for what is left is passed
    over.
    """
    kept: list[Hit] = []
    left = max_tokens
    for hit in hits:
        cost = ENTRY_OVERHEAD_TOKENS + estimated_tokens(hit.memory.content) + estimated_tokens(hit.memory.key or "")
        if cost <= left:
            kept.append(hit)
            left -= cost
    return tuple(kept)
