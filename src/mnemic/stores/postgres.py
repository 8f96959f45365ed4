"""Alias of `mnemic_postgres`, of the package mnemic-postgres, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_postgres", "mnemic-postgres")
