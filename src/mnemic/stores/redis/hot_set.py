"""The hot set: identifiers of the newest memories of a scope, in one sorted set. It contains no content."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mnemic.errors import StoreFull
from mnemic.stores.codec import to_micros
from mnemic.stores.redis.connection import RedisLink, Script, check_answer, digest_of, digest_of_tenant
from mnemic.types import Change, HotSetContents, Memory, Scope, Scored

SIZE = 200
"""Maximum memories stored of one scope."""

_IDLE = 24 * 60 * 60 * 1000
"""Milliseconds (a day) after which an unused set is dropped."""

_EDGE = ""
"""A member that is no memory: below it others may be missing. At -inf none is, at +inf the set is not usable yet."""

_EPOCH = """
local epoch = '#' .. string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local function ours()
    if redis.call('ZSCORE', KEYS[1], epoch) then return true end
    redis.call('DEL', KEYS[1])
    return false
end
"""
"""A set belongs to one run of one server, whose name is a member of it above all others. A set that a server has loaded
from a snapshot, or taken over from a lost primary, may lack acknowledged changes, and is dropped.
"""

_TRIM = """
local over = redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[1]) - 2
if over > 0 then
    local last = redis.call('ZRANGE', KEYS[1], over - 1, over - 1, 'WITHSCORES')
    redis.call('ZREMRANGEBYRANK', KEYS[1], 0, over - 1)
    redis.call('ZADD', KEYS[1], 'GT', last[2], '')
end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
"""
_APPLY = Script(f"""
{_EPOCH}
if not ours() then return 0 end
local edge = redis.call('ZSCORE', KEYS[1], '')
if not edge then return 0 end
if edge == 'inf' and redis.call('ZCARD', KEYS[1]) > tonumber(ARGV[1]) + 1 then return redis.call('DEL', KEYS[1]) end
for place = 3, #ARGV, 2 do
    if ARGV[place + 1] == '' then
        redis.call('ZREM', KEYS[1], ARGV[place])
    else
        redis.call('ZADD', KEYS[1], ARGV[place + 1], ARGV[place])
    end
end
{_TRIM}
return 1
""")
"""A set that was never requested stays absent: begun with one change, it would lack all earlier memories."""

_BEGIN = Script(f"""
{_EPOCH}
ours()
redis.call('ZADD', KEYS[1], '+inf', epoch)
redis.call('ZADD', KEYS[1], '+inf', '')
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
""")
_FILL = Script(f"""
{_EPOCH}
if not ours() then return 0 end
if redis.call('ZSCORE', KEYS[1], '') ~= 'inf' then return 0 end
for place = 4, #ARGV, 2 do redis.call('ZADD', KEYS[1], 'NX', ARGV[place + 1], ARGV[place]) end
redis.call('ZADD', KEYS[1], ARGV[3], '')
{_TRIM}
return 1
""")
_NEWEST = Script(f"""
{_EPOCH}
if not ours() then return {{}} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
local found = redis.call('ZREVRANGE', KEYS[1], 0, ARGV[1] + 1)
local added = {{redis.call('ZSCORE', KEYS[1], '')}}
for _, name in ipairs(found) do
    if name ~= epoch then table.insert(added, name) end
end
return added
""")


class RedisHotSet:
    """A `HotSet` behind `link`: a sorted set for each requested scope, ranked by `happened_at`."""

    name = "hot_set"

    def __init__(self, link: RedisLink, *, size: int = SIZE) -> None:
        self._link = link
        self._size = size

    @property
    def size(self) -> int:
        return self._size

    async def apply(self, changes: Sequence[Change]) -> None:
        def scope_of(change: Change) -> Scope:
            return change.entry.scope

        for scope, inside in groupby(sorted(changes, key=scope_of), key=scope_of):
            arguments = [
                part
                for change in inside
                for part in (change.entry.memory_id, "" if change.shown is None else _rank(change.shown))
            ]
            try:
                await self._link.run(_APPLY, _key(scope), self._size, _IDLE, *arguments)
            except StoreFull:
                # A set that cannot apply a change must not be read any more; removing it needs no free memory.
                await self._link.call("UNLINK", _key(scope))
                raise

    async def newest(self, scope: Scope, *, limit: int) -> HotSetContents | None:
        limit = max(0, limit)
        edge, *found = check_answer(await self._link.run(_NEWEST, _key(scope), limit, _IDLE), list) or [None]
        if edge is None or edge == b"inf":
            return None
        known = tuple(check_answer(name, bytes).decode("ascii", "replace") for name in found)
        reached = _EDGE in known
        known = (known[: known.index(_EDGE)] if reached else known)[:limit]
        return HotSetContents(memory_ids=known, complete=reached and edge == b"-inf")

    async def begin(self, scope: Scope) -> None:
        await self._link.run(_BEGIN, _key(scope), _IDLE)

    async def fill(self, scope: Scope, newest: Sequence[Scored], *, complete: bool) -> None:
        edge = "-inf" if complete else repr(min(entry.score for entry in newest))
        arguments = [part for entry in newest for part in (entry.memory_id, repr(entry.score))]
        await self._link.run(_FILL, _key(scope), self._size, _IDLE, edge, *arguments)

    async def clear(self, tenant: str) -> None:
        await self._link.remove_all(_prefix(tenant))

    async def close(self) -> None:
        await self._link.close()


def _rank(memory: Memory) -> str:
    return repr((to_micros(memory.happened_at) or 0) / 1e6)


def _prefix(tenant: str) -> str:
    return f"mnemic:hot:{digest_of_tenant(tenant)}:"


def _key(scope: Scope) -> str:
    return f"{_prefix(scope.tenant)}{{{digest_of(scope)}}}"
