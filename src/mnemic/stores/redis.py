"""Alias of `mnemic_redis`, of the package mnemic-redis, for one release."""

from __future__ import annotations

from mnemic.moved import alias

alias(__name__, "mnemic_redis", "mnemic-redis")
