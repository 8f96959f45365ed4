"""Conversations in progress, on the server: one list per session, which expires."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from datetime import timedelta

from mnemic.errors import MnemicError
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.stores.redis.connection import RedisLink, Script, check_answer, digest_of, digest_of_tenant
from mnemic.types import ROLES, Level, Message, Origin, Scope

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

_AT_ONCE = 16
"""Conversations that are read at a time."""
_KEPT = ROLES | {"summary"}
_log = logging.getLogger("mnemic.stores.redis")


class RedisSessions:
    """A `SessionStore` on the server of `link`. Data lost by the server is not restored: sessions are not memories.

    A key has a digest of the tenant and one of the scope, which is its hash tag: a cluster spreads sessions over its
    servers, and no name that people chose is part of a key. Each entry has its scope beside the message, so that the
    sessions themselves say whose they are: a list of them could be lost alone, by an eviction or with a server. An
    entry of a list that is no message, or has a role that no conversation has, is left out.
    """

    def __init__(self, link: RedisLink) -> None:
        self._link = link

    async def append(self, scope: Scope, message: Message, *, ttl: timedelta, keep: int) -> None:
        lasting = max(1, ttl // timedelta(milliseconds=1))
        await self._link.run(_APPEND, _key(scope), encode_entry(scope, message), keep, lasting)

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        if limit < 1:
            return []
        answer = check_answer(await self._link.call("LRANGE", _key(scope), -limit, -1), list)
        found = [read_entry(scope.tenant, check_answer(encoded, bytes)) for encoded in answer]
        if None in found:
            _log.warning("a session has %d entries that are no messages", found.count(None))
        return [message for _, message in filter(None, found)]

    async def fold(self, scope: Scope, folded: Sequence[Message], into: Message) -> bool:
        encoded = [_encode_message(scope, message) for message in folded]
        return check_answer(await self._link.run(_FOLD, _key(scope), encode_entry(scope, into), *encoded), int) == 1

    async def spoken_in(self, tenant: str, user: str | None) -> list[Scope]:
        # All are looked at, on every server of a cluster; one that cannot be reached raises.
        keys = await self._link.keys_of(_prefix(tenant))
        found: list[Scope] = []
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            for entries in await asyncio.gather(*(self._link.call("LRANGE", key, 0, -1) for key in some)):
                known = [read_entry(tenant, check_answer(one, bytes)) for one in check_answer(entries, list)]
                spoken = [scope for scope, message in filter(None, known) if user in (None, message.author)]
                found += spoken[-1:]
        return found

    async def clear(self, scope: Scope) -> None:
        await self._link.call("UNLINK", _key(scope))

    async def close(self) -> None:
        await self._link.close()


def _prefix(tenant: str) -> str:
    return f"mnemic:session:{digest_of_tenant(tenant)}:"


def _key(scope: Scope) -> str:
    return f"{_prefix(scope.tenant)}{{{digest_of(scope)}}}"


def encode_entry(scope: Scope, message: Message) -> str:
    """Return the message after a token that distinguishes it from a repetition of the same words."""
    return secrets.token_hex(_TOKEN_BYTES) + _encode_message(scope, message)


def _encode_message(scope: Scope, message: Message) -> str:
    """Return a message of a conversation as JSON."""
    names = ("role", "content", "message_id", "session", "speaker", "origin", "author")
    fields = {name: getattr(message, name) for name in names} | {"sent_at": to_micros(message.sent_at)}
    fields |= {"derived_from": list(message.derived_from) or None, "level": scope.level.value, "owner": scope.owner}
    return dump({name: value for name, value in fields.items() if value is not None}, "message")


def read_entry(tenant: str, text: bytes) -> tuple[Scope, Message] | None:
    """Return the scope and the message of an entry, None if it is no message."""
    try:
        fields = load(text[_TOKEN_CHARS:].decode())
        scope = Scope(tenant=tenant, level=Level(fields.pop("level")), owner=fields.pop("owner"))
        fields["sent_at"] = from_micros(fields.get("sent_at"))
        fields["origin"] = Origin(fields["origin"])
        fields["derived_from"] = tuple(fields.get("derived_from", ()))
        message = Message(**fields)
    except (MnemicError, KeyError, TypeError, ValueError, AttributeError):
        return None
    is_valid = isinstance(message.role, str) and message.role in _KEPT and isinstance(message.content, str)
    return (scope, message) if is_valid else None
