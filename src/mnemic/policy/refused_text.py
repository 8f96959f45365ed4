"""Text of a refused proposal, for the report of the run that it stopped: short, shallow, and redacted."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence

from mnemic.types import JsonValue

MAX_CHARS = 240
MAX_ITEMS = 20
MAX_DEPTH = 3


async def echo_input(raw: object, redact: Callable[[str], Awaitable[str]], *, depth: int = MAX_DEPTH) -> JsonValue:
    """`raw` as JSON data of bounded size, each text and each name through `redact`; anything else by its type's
    name.
    """
    if raw is None or isinstance(raw, bool | int) or (isinstance(raw, float) and math.isfinite(raw)):
        return raw
    if isinstance(raw, str):
        return await redact(raw[:MAX_CHARS])
    if depth == 0 or not isinstance(raw, Mapping | Sequence):
        return f"<{type(raw).__name__}>"
    if isinstance(raw, Mapping):
        pairs = list(raw.items())[:MAX_ITEMS]
        return {
            await redact(str(name)[:MAX_CHARS]): await echo_input(value, redact, depth=depth - 1)
            for name, value in pairs
        }
    return [await echo_input(value, redact, depth=depth - 1) for value in raw[:MAX_ITEMS]]
