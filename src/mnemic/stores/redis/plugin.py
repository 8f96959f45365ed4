"""Entry point of `mnemic.sessions`: the object for `MNEMIC_SESSIONS=redis://...`."""

from __future__ import annotations

from mnemic.ports import SessionStore
from mnemic.ports.projections import Projection
from mnemic.stores.redis.connection import RedisLink
from mnemic.stores.redis.hot_set import RedisHotSet
from mnemic.stores.redis.sessions import RedisSessions


def build(location: str) -> tuple[SessionStore, tuple[Projection, ...]]:
    """Build the conversations in progress on the server at `location`, and the hot set that the outbox feeds there.

    Raises InvalidConfig (`invalid_config:redis`).
    """
    link = RedisLink(location)
    return RedisSessions(link), (RedisHotSet(link),)
