"""Alias of `mnemic_travel`, of the package mnemic-travel, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_travel", "mnemic-travel")
