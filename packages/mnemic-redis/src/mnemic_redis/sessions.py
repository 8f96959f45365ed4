"""Conversations in progress, on the server: one list per session, which expires."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from datetime import timedelta

from mnemic.errors import MnemicError
from mnemic.types import ROLES, Message, Scope
from mnemic_redis.connection import RedisLink, Script, checked, digest_of
from mnemic_redis.messages import decode_message, encode_message

# A user may say "yes" twice: the token distinguishes that from a second delivery of one message.
_TOKEN_BYTES = 8
_TOKEN_CHARS = 2 * _TOKEN_BYTES

# Only the last 64 entries are searched: a redirected call arrives at once, and the list may be long.
_APPEND = Script("""
for _, stored in ipairs(redis.call('LRANGE', KEYS[1], -64, -1)) do
    if stored == ARGV[1] then return 0 end
end
if tonumber(ARGV[2]) < 1 then return redis.call('DEL', KEYS[1]) end
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -tonumber(ARGV[2]), -1)
return redis.call('PEXPIRE', KEYS[1], ARGV[3])
""")
"""Append, trim and expire in one step; done once, should a redirection in a cluster bring it twice."""

# `string.sub(..., 17)` skips the random token of 16 hex digits that makes entries unique.
_FOLD = Script("""
local folded = #ARGV - 1
local stored = redis.call('LRANGE', KEYS[1], 0, folded - 1)
if folded < 1 or #stored ~= folded then return 0 end
for place = 1, folded do
    if string.sub(stored[place], 17) ~= ARGV[place + 1] then return 0 end
end
redis.call('LSET', KEYS[1], folded - 1, ARGV[1])
redis.call('LTRIM', KEYS[1], folded - 1, -1)
return 1
""")
"""The list is never empty in between: the session keeps its end."""

_KEPT = ROLES | {"summary"}
_log = logging.getLogger("mnemic.stores.redis")


class RedisSessions:
    """A `SessionStore` on the server of `link`. Data lost by the server is not restored: sessions are not memories.

    A key is a digest of the scope, and its hash tag: a cluster spreads sessions over its servers, and no name that
    people chose is part of a key. An entry of a list that is no message, or has a role that no conversation has, is
    left out.
    """

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def append(self, scope: Scope, message: Message, *, ttl: timedelta, keep: int) -> None:
        await self._link.run(_APPEND, _key(scope), _encoded(message), keep, max(1, ttl // timedelta(milliseconds=1)))

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        if limit < 1:
            return []
        answer = checked(await self._link.call("LRANGE", _key(scope), -limit, -1), list)
        found = [_message(checked(encoded, bytes)) for encoded in answer]
        if None in found:
            _log.warning("a session has %d entries that are no messages", found.count(None))
        return [message for message in found if message is not None]

    async def fold(self, scope: Scope, folded: Sequence[Message], into: Message) -> bool:
        encoded = [encode_message(message) for message in folded]
        return checked(await self._link.run(_FOLD, _key(scope), _encoded(into), *encoded), int) == 1

    async def clear(self, scope: Scope) -> None:
        await self._link.call("UNLINK", _key(scope))

    async def close(self) -> None:
        await self._link.close()


def _key(scope: Scope) -> str:
    return f"mnemic:session:{{{digest_of(scope)}}}"


def _encoded(message: Message) -> str:
    """Return the message after a token that distinguishes it from a repetition of the same words."""
    return secrets.token_hex(_TOKEN_BYTES) + encode_message(message)


def _message(text: bytes) -> Message | None:
    try:
        message = decode_message(text[_TOKEN_CHARS:].decode())
    except (MnemicError, UnicodeDecodeError):
        return None
    is_valid = isinstance(message.role, str) and message.role in _KEPT and isinstance(message.content, str)
    return message if is_valid else None
