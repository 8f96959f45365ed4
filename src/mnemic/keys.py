"""Alias of `mnemic_keys`, of the package mnemic-keys, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_keys", "mnemic-keys")
