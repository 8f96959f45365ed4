"""How much is tried: little by default, the published sizes with MNEMIC_FAULT_SCALE=full."""

from __future__ import annotations

import os

FULL = os.environ.get("MNEMIC_FAULT_SCALE") == "full"


def size(small: int, full: int) -> int:
    return full if FULL else small
