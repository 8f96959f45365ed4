"""Facades with the signatures of other memories: `mnemic_agents.compat`, of the package mnemic-agents."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_agents.compat", "mnemic-agents", for_good=True)
