"""Connection to the server: every call has a deadline and raises only errors of `mnemic.errors`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster
from redis.asyncio.connection import parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    RedisClusterException,
    RedisError,
)
from redis.exceptions import TimeoutError as RedisTimeout

from mnemic.errors import InvalidConfig, StoreBusy, StoreFailed, StoreFull, StoreUnavailable
from mnemic.runtime.circuit_breaker import CircuitBreaker
from mnemic.types import Scope

T = TypeVar("T")

SCHEMES = ("redis://", "rediss://", "redis+cluster://", "rediss+cluster://")

SECONDS = 0.5
POOL_SIZE = 32
REST = timedelta(seconds=1)
"""Time for which calls are refused, after three failures in a row, before one is let through again."""

_LOOKS = 3
"""Times that the keys of a cluster are looked through whose slots are moving."""

_FAILED = (RedisError, RedisClusterException, OSError, TimeoutError)
_REFUSED = (AuthenticationError, AuthorizationError, NoPermissionError)


class Script:
    """A program that the server runs as one step, on keys of one slot."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


class RedisLink:
    """Connections to the server at `url`: `redis://` or `rediss://` (TLS) for one, `redis+cluster://` or
    `rediss+cluster://` for a cluster; user, password and TLS options as redis-py reads them from a URL.

    Every call ends within `seconds`, whatever the network does, and none is retried except for a redirection in a
    cluster. After three failures in a row calls to a single server are refused at once for a second; in a cluster one
    lost server proves nothing about the others. Raises InvalidConfig (`invalid_config:redis`) for an address that
    cannot be one.
    """

    def __init__(self, url: str, *, seconds: float = SECONDS, pool_size: int = POOL_SIZE) -> None:
        self._seconds = seconds
        self._client = _client(url, seconds, pool_size)
        self._turns = asyncio.Semaphore(pool_size)  # a cluster's client refuses one call more than it has connections
        self._circuit = CircuitBreaker(rest=REST)

    async def call(self, *command: Any) -> Any:
        """Return the server's answer. Raises StoreUnavailable, StoreBusy past the time limit, StoreFull,
        StoreFailed.
        """
        return await self._ask_within(lambda: self._client.execute_command(*command))

    async def run(self, script: Script, key: str, *values: Any) -> Any:
        """Return the answer of a script that works on `key`. Raises like `call`."""

        async def run() -> Any:
            try:
                # By its hash, which saves sending the script; after a restart the server no longer knows it.
                return await self._client.execute_command("EVALSHA", script.sha, 1, key, *values)
            except NoScriptError:
                return await self._client.execute_command("EVAL", script.text, 1, key, *values)

        return await self._ask_within(run)

    async def keys_of(self, prefix: str) -> list[bytes]:
        """Return every key that begins with `prefix`, which contains no wildcard, on every master of a cluster. Raises
        like `call`, also if one of them cannot be reached, and StoreBusy (`store_busy:redis:slots`) while slots move
        from one to another: a key may then be on neither at the moment it is looked at.
        """
        for _ in range(_LOOKS):
            layout = await self._layout()
            found = await self._scanned(f"{prefix}*")
            if layout is not None and layout == await self._layout():
                return list(found)
        raise StoreBusy(
            "redis:slots", hint="slots are moving between servers of the cluster: again once they are there"
        )

    async def _scanned(self, match: str) -> set[bytes]:
        keys: AsyncIterator[bytes] = self._client.scan_iter(match=match, count=1000)
        found: set[bytes] = set()
        while (key := await self._ask_within(lambda: anext(keys, None))) is not None:
            found.add(key)
        return found

    async def _layout(self) -> Mapping[str, Any] | None:
        """Return which master has which slots, since which change; None if some are moving or a master is not known."""
        if not isinstance(self._client, RedisCluster):
            return {}
        client = await self._ask_within(self._client.initialize)
        asked = [partial(client.execute_command, "CLUSTER NODES", target_nodes=one) for one in client.get_primaries()]
        told = await asyncio.gather(*map(self._ask_within, asked))
        nodes = [one for view in told for one in check_answer(view, dict).values()]
        own = {one["node_id"]: (one["slots"], one["epoch"]) for one in nodes if "myself" in one["flags"]}
        if {one["node_id"] for one in nodes if one["slots"]} - own.keys():
            await self._ask_within(client.nodes_manager.initialize)
            return None
        return None if any(one["migrations"] for one in nodes) else own

    async def remove_all(self, prefix: str) -> int:
        """Delete every key that begins with `prefix`, which contains no wildcard; return their number."""
        removed = 0
        for key in await self.keys_of(prefix):
            removed += await self.call("UNLINK", key)
        return removed

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        with suppress(*_FAILED):  # a lost server needs no closing handshake
            async with asyncio.timeout(self._seconds):
                await self._client.aclose()
                if isinstance(self._client, RedisCluster):  # which forgets the servers it could not reach again
                    for known in ("nodes_cache", "startup_nodes"):
                        await self._client.nodes_manager.aclose(known)

    async def _ask_within(self, ask: Callable[[], Awaitable[T]]) -> T:
        if not self._circuit.allows():
            raise StoreUnavailable("redis", hint="it failed a moment ago")
        try:
            # Waiting for a connection counts towards the limit too.
            async with asyncio.timeout(self._seconds), self._turns:
                answer = await ask()
        except Exception as error:  # noqa: BLE001 - redis-py may raise anything for a garbled answer
            failure = _as_store_error(error)
            # In a cluster one lost server proves nothing about the others, so the circuit stays closed.
            if isinstance(failure, StoreUnavailable | StoreBusy) and not isinstance(self._client, RedisCluster):
                self._circuit.count_timeout()
            else:
                self._circuit.close_circuit()
            raise failure from None  # the driver's message may contain the sent data
        self._circuit.close_circuit()
        return answer


def _client(url: str, seconds: float, pool_size: int) -> Any:
    scheme, separator, rest = url.partition("://")
    if f"{scheme}{separator}" not in SCHEMES:
        raise InvalidConfig("redis", hint=f"an address begins with {', '.join(SCHEMES)}")
    plain = f"{scheme.removesuffix('+cluster')}://{rest}"
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "protocol": 2,
        "driver_info": None,  # redis-py would read its own version from disk, on the event loop, to tell the server
    }
    try:
        if scheme.endswith("+cluster"):
            parse_url(plain)
            # Two repetitions for redirections only, which a cluster answers while slots move.
            retry = Retry(NoBackoff(), 2)
            return RedisCluster.from_url(
                plain,
                retry=retry,
                require_full_coverage=False,
                reinitialize_steps=0,
                max_connections=pool_size,
                **options,
            )
        # No repetition: an append that was executed but not answered would be stored twice.
        retry = Retry(NoBackoff(), 0)
        pool = BlockingConnectionPool.from_url(
            plain, max_connections=pool_size, timeout=seconds, retry=retry, **options
        )
        return Redis.from_pool(pool)
    except (ValueError, TypeError, RedisError, RedisClusterException):
        raise InvalidConfig("redis", hint="it is not an address of a Redis server") from None


def _as_store_error(error: BaseException) -> StoreFailed:
    if isinstance(error, TimeoutError | RedisTimeout):
        return StoreBusy("redis", hint="the server did not answer in time")
    if isinstance(error, OutOfMemoryError):
        return StoreFull("redis", hint="the server has reached its maxmemory")
    if isinstance(error, _REFUSED):
        return StoreUnavailable("redis:refused", hint="check user, password and what they may do")
    if isinstance(error, MovedError):
        return StoreUnavailable("redis:cluster", hint="the server is one of a cluster: use redis+cluster://")
    return StoreUnavailable("redis:loading" if isinstance(error, BusyLoadingError) else "redis")


def check_answer(answer: Any, wanted: type[T]) -> T:
    """Return the answer if it matches the request. Raises StoreUnavailable if it was garbled in transit."""
    if not isinstance(answer, wanted):
        raise StoreUnavailable("redis:answer")
    return answer


def digest_of(scope: Scope) -> str:
    """32 hexadecimal digits that identify a scope and reveal nothing about it."""
    return _digest(scope.tenant, scope.level.value, scope.owner)


def digest_of_tenant(tenant: str) -> str:
    """32 hexadecimal digits that identify a tenant and reveal nothing about it."""
    return _digest(tenant)


def _digest(*names: str) -> str:
    encoded = b"".join(len(data).to_bytes(4) + data for data in (name.encode() for name in names))
    return hashlib.blake2b(encoded, digest_size=16).hexdigest()
