"""Alias of `mnemic_agents`, of the package mnemic-agents, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_agents", "mnemic-agents")
