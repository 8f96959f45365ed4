"""Conversations in progress and the hot set, on a Redis or Valkey server or cluster."""

from __future__ import annotations

from mnemic_redis.connection import RedisLink
from mnemic_redis.hot_set import RedisHotSet
from mnemic_redis.sessions import RedisSessions

__all__ = ["RedisHotSet", "RedisLink", "RedisSessions"]
