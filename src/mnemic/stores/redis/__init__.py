"""Conversations in progress and the hot set, on a Redis or Valkey server or cluster."""

from __future__ import annotations

from mnemic.stores.redis.connection import RedisLink
from mnemic.stores.redis.hot_set import RedisHotSet
from mnemic.stores.redis.sessions import RedisSessions

__all__ = ["RedisHotSet", "RedisLink", "RedisSessions"]
