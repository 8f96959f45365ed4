"""Alias of `mnemic_azure`, of the package mnemic-azure, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_azure", "mnemic-azure")
