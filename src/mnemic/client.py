"""Alias of `mnemic_client`, of the package mnemic-client, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_client", "mnemic-client")
