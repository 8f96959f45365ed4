"""Alias of `mnemic_testing`, of the package mnemic-testing, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_testing", "mnemic-testing")
