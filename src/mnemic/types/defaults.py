"""Default amount of memories and tokens for a model call."""

from __future__ import annotations

DEFAULT_MAX_ENTRIES = 5
DEFAULT_MAX_TOKENS = 1_500
