"""A remark on a name that nothing knows, for the hint of a refusal: the names that it may be meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_NEAR, _SHOWN, _LONGEST = 3, 12, 64


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the names in `known` that are like `name` as a question; the first of all if none is."""
    names = sorted(known)
    near = get_close_matches(name[:_LONGEST], names, n=_NEAR)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if not names:
        return "there are none"
    return f"known: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
