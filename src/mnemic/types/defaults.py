"""Amount that a model call is shown where nobody says another."""

from __future__ import annotations

DEFAULT_MAX_ENTRIES = 5
DEFAULT_MAX_TOKENS = 1_500
