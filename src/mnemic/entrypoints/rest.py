"""Alias of `mnemic_server`, of the package mnemic-server, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_server", "mnemic-server")
