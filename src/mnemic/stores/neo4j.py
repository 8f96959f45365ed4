"""Alias of `mnemic_neo4j`, of the package mnemic-neo4j, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_neo4j", "mnemic-neo4j")
