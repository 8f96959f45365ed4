"""Addresses to stores of conversations in progress."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mnemic.bootstrap.first_use import AtFirstUse
from mnemic.errors import InvalidConfig

if TYPE_CHECKING:
    from mnemic.ports import Clock, SessionStore
    from mnemic.ports.projections import Projection


def build_sessions(location: str, clock: Clock) -> tuple[SessionStore, tuple[Projection, ...]]:
    """Return the session store: in this process (`memory:`), on Redis, or a plug-in's. Raises InvalidConfig."""
    if location == "memory:":
        return cast("SessionStore", AtFirstUse(lambda: _in_process(clock))), ()
    from mnemic.bootstrap.plugin_backends import backend

    build = backend("sessions", location)
    if build is None:
        raise InvalidConfig("redis", hint="an address begins with redis://, rediss://, or a plug-in's scheme")
    sessions, copies = build(location)
    return sessions, tuple(copies)


def _in_process(clock: Clock) -> SessionStore:
    from mnemic_stores.in_process_sessions import InProcessSessions

    return InProcessSessions(clock)
