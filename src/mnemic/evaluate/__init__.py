"""Alias of `mnemic_eval`, of the package mnemic-eval, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_eval", "mnemic-eval")
