"""Conversations in progress, on the server: one list per session, which expires."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from datetime import timedelta

from mnemic.errors import MnemicError, StoreCorrupt
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.stores.redis.connection import RedisLink, Script, check_answer, digest_of, digest_of_tenant
from mnemic.types import ROLES, Level, Message, Origin, Scope


def encode_message(message: Message) -> str:
    """Return a message of a conversation as JSON."""
    names = ("role", "content", "message_id", "session", "speaker", "origin", "author")
    fields = {name: getattr(message, name) for name in names} | {"sent_at": to_micros(message.sent_at)}
    fields["derived_from"] = list(message.derived_from) or None
    return dump({name: value for name, value in fields.items() if value is not None}, "message")


def decode_message(text: str) -> Message:
    """Return the message of `encode_message`. Raises StoreCorrupt if the text is not one."""
    fields = load(text)
    try:
        fields["sent_at"] = from_micros(fields.get("sent_at"))
        fields["origin"] = Origin(fields["origin"])
        fields["derived_from"] = tuple(fields.get("derived_from", ()))
        return Message(**fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreCorrupt("message") from error


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

_NOTE = Script("""
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now)
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[2]), ARGV[1])
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
""")
"""Note a session, until it ends, among those of a speaker or of the tenant."""
_WHOLE = 10_000
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
        lasting = max(1, ttl // timedelta(milliseconds=1))
        # Before the message, so that no message is in a session that an erasure does not find.
        for speaker in {message.author, None}:
            await self._link.run(_NOTE, _index(scope.tenant, speaker), f"{scope.level.value} {scope.owner}", lasting)
        await self._link.run(_APPEND, _key(scope), _encode_message(message), keep, lasting)

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        if limit < 1:
            return []
        answer = check_answer(await self._link.call("LRANGE", _key(scope), -limit, -1), list)
        found = [_message(check_answer(encoded, bytes)) for encoded in answer]
        if None in found:
            _log.warning("a session has %d entries that are no messages", found.count(None))
        return [message for message in found if message is not None]

    async def fold(self, scope: Scope, folded: Sequence[Message], into: Message) -> bool:
        encoded = [encode_message(message) for message in folded]
        return check_answer(await self._link.run(_FOLD, _key(scope), _encode_message(into), *encoded), int) == 1

    async def spoken_in(self, tenant: str, user: str | None) -> list[Scope]:
        noted = check_answer(await self._link.call("ZRANGE", _index(tenant, user), 0, -1), list)
        found = []
        for scope in (_parse_member(tenant, check_answer(one, bytes)) for one in noted):
            messages = await self.tail(scope, limit=_WHOLE)
            if any(user in (None, message.author) for message in messages):
                found.append(scope)
        return found

    async def clear(self, scope: Scope) -> None:
        await self._link.call("UNLINK", _key(scope))

    async def close(self) -> None:
        await self._link.close()


def _parse_member(tenant: str, member: bytes) -> Scope:
    level, _, owner = member.decode().partition(" ")
    return Scope(tenant=tenant, level=Level(level), owner=owner)


def _index(tenant: str, speaker: str | None) -> str:
    digest = (
        digest_of_tenant(tenant)
        if speaker is None
        else digest_of(Scope(tenant=tenant, level=Level.USER, owner=speaker))
    )
    return f"mnemic:sessions:{{{digest}}}"


def _key(scope: Scope) -> str:
    return f"mnemic:session:{{{digest_of(scope)}}}"


def _encode_message(message: Message) -> str:
    """Return the message after a token that distinguishes it from a repetition of the same words."""
    return secrets.token_hex(_TOKEN_BYTES) + encode_message(message)


def _message(text: bytes) -> Message | None:
    try:
        message = decode_message(text[_TOKEN_CHARS:].decode())
    except (MnemicError, UnicodeDecodeError):
        return None
    is_valid = isinstance(message.role, str) and message.role in _KEPT and isinstance(message.content, str)
    return message if is_valid else None
