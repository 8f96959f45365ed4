"""Connection to the cluster: calls from event loops to the driver's threads."""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

from cassandra import (
    AuthenticationFailed,
    ConsistencyLevel,
    CoordinationFailure,
    DriverException,
    OperationTimedOut,
    Timeout,
    Unauthorized,
    Unavailable,
    WriteFailure,
    WriteTimeout,
)
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, NoHostAvailable
from cassandra.connection import ConnectionException
from cassandra.policies import (
    ConstantReconnectionPolicy,
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    FallthroughRetryPolicy,
    LoadBalancingPolicy,
    RoundRobinPolicy,
    TokenAwarePolicy,
)
from cassandra.protocol import ErrorMessage, OverloadedErrorMessage, ServerError
from cassandra.query import BatchStatement, BatchType, tuple_factory

from mnemic.errors import (
    CommitUnknown,
    InvalidConfig,
    MnemicError,
    StoreBusy,
    StoreFailed,
    StoreNewer,
    StoreOlder,
    StoreUnavailable,
)

# ruff: noqa: S608 - the statements are put together of constants


VERSION = 100
"""That of the first release. Smaller numbers belong to states of the program that were never released."""

KEYSPACE = """CREATE KEYSPACE IF NOT EXISTS {keyspace}
    WITH replication = {{'class': 'NetworkTopologyStrategy', 'replication_factor': {copies}}}"""

_SOON = "speculative_retry = '50ms'"
"""A third copy is asked after 50 ms. Whatever looks at past times waits 2.5 s in a node that has passed on no read
since it started, and as long as it is new it is asked last.
"""

TABLES = (
    # Everything that a transaction changes. `version` counts its commits, `writers` names the last of them, `pending`
    # the change over several partitions that locks it.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.rows (
        tenant text, level text, owner text, name text, key blob, value blob,
        version bigint static, writers text static, pending text static,
        PRIMARY KEY ((tenant, level, owner), name, key)) WITH {_SOON}""",
    # The partitions of each tenant.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.directory (
        shard int, tenant text, level text, owner text, PRIMARY KEY (shard, tenant, level, owner)) WITH {_SOON}""",
    # The partitions whose journals have lines to be collected. A row is written once and deleted once. A row that
    # reappears does no harm, so its tombstone expires soon: every query for the usage of a tenant reads over them.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.uncollected (
        shard int, tenant text, level text, owner text, id text, PRIMARY KEY (shard, tenant, level, owner, id))
        WITH gc_grace_seconds = 300 AND {_SOON}""",
    # The partitions being written to by transactions that have read the tenant's rows outside its scopes.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.writing (
        tenant text, level text, owner text, id text, PRIMARY KEY (tenant, level, owner, id))
        WITH default_time_to_live = 240 AND gc_grace_seconds = 3600 AND {_SOON}""",
    # Changes over several partitions: the decision about each, and its rows.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.change (
        id text, part text, redo blob, state text static, PRIMARY KEY (id, part)) WITH {_SOON}""",
    f"CREATE TABLE IF NOT EXISTS {{keyspace}}.about (name text PRIMARY KEY, value text) WITH {_SOON}",
    # The identifiers that archives are assigning to memories now, with their scopes.
    f"""CREATE TABLE IF NOT EXISTS {{keyspace}}.claim (
        tenant text, memory text, level text, owner text, PRIMARY KEY ((tenant, memory)))
        WITH default_time_to_live = 600 AND gc_grace_seconds = 3600 AND {_SOON}""",
)

LAST_TABLE = "claim"
"""The last of the tables: if it exists, all of them do."""

_HERE = "WHERE tenant = ? AND level = ? AND owner = ?"
_LISTED = "WHERE shard = ? AND tenant = ? AND level = ? AND owner = ?"
_SCAN = f"SELECT key, value, version, pending FROM rows {_HERE} AND name = ? AND key >= ? AND key < ?"

STATEMENTS = {
    "small": f"SELECT name, key, value, version, writers, pending FROM rows {_HERE} AND name < 'b'",
    "state": f"SELECT version, writers, pending FROM rows {_HERE} LIMIT 1",
    "get": f"SELECT key, value, version, pending FROM rows {_HERE} AND name = ? AND key IN ?",
    "scan": f"{_SCAN} LIMIT ?",
    # The version is selected so that a read that repairs rows repairs it too.
    "whole": f"SELECT key, value, version FROM rows {_HERE} AND name = ?",
    "scan_back": f"{_SCAN} ORDER BY name DESC, key DESC LIMIT ?",
    "put": "INSERT INTO rows (tenant, level, owner, name, key, value) VALUES (?, ?, ?, ?, ?, ?)",
    "remove": f"DELETE FROM rows {_HERE} AND name = ? AND key = ?",
    "step": f"UPDATE rows SET version = ?, writers = ? {_HERE} IF version = ? AND pending = ?",
    "hold": f"UPDATE rows SET pending = ? {_HERE} IF version = ? AND pending = ?",
    "while_locked": f"UPDATE rows SET pending = ? {_HERE} IF pending = ?",
    "release": f"UPDATE rows SET pending = null {_HERE} IF pending = ?",
    "finish": f"UPDATE rows SET version = ?, writers = ?, pending = null {_HERE} IF pending = ?",
    "list": "INSERT INTO directory (shard, tenant, level, owner) VALUES (?, ?, ?, ?)",
    "listed": "SELECT level, owner FROM directory WHERE shard = ? AND tenant = ?",
    "tenants": "SELECT tenant FROM directory WHERE shard = ?",
    "note": "INSERT INTO uncollected (shard, tenant, level, owner, id) VALUES (?, ?, ?, ?, ?)",
    "noted": "SELECT tenant, level, owner, id FROM uncollected WHERE shard = ?",
    "noted_of": "SELECT tenant, level, owner, id FROM uncollected WHERE shard = ? AND tenant = ?",
    "unnote": f"DELETE FROM uncollected USING TIMESTAMP ? {_LISTED} AND id = ?",
    "announce": "INSERT INTO writing (tenant, level, owner, id) VALUES (?, ?, ?, ?)",
    "announced": "SELECT level, owner FROM writing WHERE tenant = ?",
    "redo": "INSERT INTO change (id, part, redo) VALUES (?, ?, ?)",
    "begin": "INSERT INTO change (id, part, state) VALUES (?, '', 'open') IF NOT EXISTS",
    "refuse": "INSERT INTO change (id, part, state) VALUES (?, '', 'aborted') IF NOT EXISTS",
    "decide": "UPDATE change SET state = ? WHERE id = ? IF state = 'open'",
    "decided": "SELECT state FROM change WHERE id = ? LIMIT 1",
    "redone": "SELECT redo FROM change WHERE id = ? AND part = ?",
    "forget": "DELETE FROM change USING TIMESTAMP ? WHERE id = ?",
    "left": "SELECT id, part, WRITETIME(redo) FROM change",
    "claim": "INSERT INTO claim (tenant, memory, level, owner) VALUES (?, ?, ?, ?) IF NOT EXISTS",
    "claimed": "SELECT level, owner FROM claim WHERE tenant = ? AND memory = ?",
    "know": "INSERT INTO about (name, value) VALUES (?, ?) IF NOT EXISTS",
    "passed": "INSERT INTO about (name, value) VALUES (?, ?)",
    "known": "SELECT value FROM about WHERE name = ?",
    "now": "SELECT toTimestamp(now()) FROM system.local",
    "graces": "SELECT table_name, gc_grace_seconds FROM system_schema.tables WHERE keyspace_name = ?",
    "settings": "SELECT value FROM system_views.settings WHERE name = 'commitlog_sync'",
}


_OPTIONS = frozenset({"ca", "consistency", "copies", "datacenter", "prefix", "protocol", "timeout"})
_LEVELS = frozenset({"quorum", "local_quorum"})


@dataclass(frozen=True, slots=True)
class Address:
    """Hosts of a cluster, keyspace and connection settings. `prefix` separates one installation from others in the
    keyspace.
    """

    hosts: tuple[str, ...]
    port: int
    keyspace: str
    user: str | None
    password: str | None = field(repr=False)
    datacenter: str | None = None
    copies: int = 3
    local: bool = False
    prefix: str = ""
    ca: Path | None = None
    timeout: float = 1.0
    protocol: int = 5

    @classmethod
    def from_url(cls, url: str) -> Address:
        """Return the address in `url`. Raises InvalidConfig (`invalid_config:cassandra`)."""
        try:
            return _read(url)
        except (KeyError, ValueError) as error:
            hint = "cassandra://host1,host2:9042/keyspace, with the options " + ", ".join(sorted(_OPTIONS))
            raise InvalidConfig("cassandra", hint=hint) from error


def _read(url: str) -> Address:
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
    name, _, places = parts.netloc.rpartition("@")
    user, _, password = name.partition(":")
    hosts, _, port = places.partition(":")
    keyspace = parts.path.strip("/") or "mnemic"
    level = options.get("consistency", "quorum")
    if parts.scheme != "cassandra" or not hosts or not options.keys() <= _OPTIONS or level not in _LEVELS:
        raise ValueError("address")
    if not (keyspace.isidentifier() and keyspace.isascii() and keyspace == keyspace.lower()):
        raise ValueError("keyspace")
    return Address(
        hosts=tuple(host for host in hosts.split(",") if host),
        port=int(port or 9042),
        keyspace=keyspace,
        user=unquote(user) or None,
        password=unquote(password) or None,
        datacenter=options.get("datacenter"),
        copies=int(options.get("copies", 3)),
        local=level == "local_quorum",
        prefix=options.get("prefix", ""),
        ca=Path(options["ca"]) if "ca" in options else None,
        timeout=float(options.get("timeout", 1.0)),
        protocol=int(options.get("protocol", 5)),
    )


_RESTS = 5.0
"""Seconds for which a node that did not answer is asked last."""

_WARMING = 30.0
"""Seconds for which a node that came back is asked after the others: its caches are empty, its code is not compiled."""


class RestingNodes(LoadBalancingPolicy):  # type: ignore[misc]  # the driver has no types
    """Asks first the nodes that answer soon, then those that another has just overtaken, then those that came back a
    moment ago, and last those that did not answer: the driver notices a silent one only by its heartbeat, and takes one
    that has just started for as fast as the others. In a busy cluster each is overtaken now and then, and still faster
    than one that has just started.
    """

    def __init__(self, child: LoadBalancingPolicy, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._child = child
        self._clock = clock
        self._slow: dict[Any, float] = {}
        self._silent: dict[Any, float] = {}
        self._warming: dict[Any, float] = {}

    def rest(self, host: Any) -> None:
        """Record that the node has not answered."""
        self._silent[host] = self._clock() + _RESTS

    def pass_over(self, host: Any) -> None:
        """Record that another node that was asked later has answered before it."""
        self._slow[host] = self._clock() + _RESTS

    def make_query_plan(self, working_keyspace: Any = None, query: Any = None) -> Iterator[Any]:
        """Yield the nodes in the order in which they are asked."""
        now = self._clock()
        slow: list[Any] = []
        warming: list[Any] = []
        silent: list[Any] = []
        later = ((self._silent, silent), (self._warming, warming), (self._slow, slow))
        for host in self._child.make_query_plan(working_keyspace, query):
            put_off = next((hosts for until, hosts in later if until.get(host, now) > now), None)
            if put_off is None:
                yield host
            else:
                put_off.append(host)
        yield from (*slow, *warming, *silent)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._child, name)

    def populate(self, cluster: Any, hosts: Any) -> None:
        """Pass the cluster to the wrapped policy."""
        self._child.populate(cluster, hosts)

    def distance(self, host: Any) -> Any:
        """Return the distance of the node."""
        return self._child.distance(host)

    def check_supported(self) -> None:
        """Check that the driver meets the needs of the wrapped policy."""
        self._child.check_supported()

    def on_up(self, host: Any) -> None:
        """Add a node that came back."""
        self._silent.pop(host, None)
        self._slow.pop(host, None)
        self._warming[host] = self._clock() + _WARMING
        self._child.on_up(host)

    def on_down(self, host: Any) -> None:
        """Drop a node that went down."""
        self._child.on_down(host)

    def on_add(self, host: Any) -> None:
        """Add a new node."""
        self._child.on_add(host)

    def on_remove(self, host: Any) -> None:
        """Drop a node that was removed."""
        self._child.on_remove(host)


DRIVER_ERRORS = (DriverException, NoHostAvailable, ConnectionException, ErrorMessage, OSError)
"""Everything the driver raises."""

PASSING = (
    ConnectionException,
    CoordinationFailure,
    NoHostAvailable,
    OperationTimedOut,
    OSError,
    OverloadedErrorMessage,
    ServerError,
    Timeout,
    Unavailable,
)
"""Errors after which the same may succeed on another node."""

_REFUSED = (Unavailable, OverloadedErrorMessage)


def unknown(error: BaseException) -> bool:
    """Check whether a change may have been made although the call failed."""
    if isinstance(error, NoHostAvailable):
        return any(unknown(each) for each in error.errors.values() if isinstance(each, BaseException))
    return isinstance(error, PASSING) and not isinstance(error, _REFUSED)


def as_mnemic_error(error: BaseException) -> MnemicError:
    """Return mnemic's error for the driver's `error`."""
    if isinstance(error, AuthenticationFailed | Unauthorized):
        return StoreUnavailable(hint="the cluster refused the name or the password, or the role lacks a privilege")
    if isinstance(error, NoHostAvailable):
        return StoreUnavailable(hint="no node of the cluster could be reached")
    if isinstance(error, Unavailable | WriteFailure):
        return StoreUnavailable(hint="too few copies are alive for a majority")
    if isinstance(error, Timeout | OperationTimedOut | WriteTimeout):
        return StoreBusy(hint="the cluster did not answer in time")
    if isinstance(error, PASSING):
        return StoreUnavailable(hint="the connection to the cluster was lost")
    return StoreFailed(type(error).__name__)


T = TypeVar("T")
Found = list[tuple[Any, ...]]

_TRIES = 6
_SECOND_ASK = 0.25
"""Fraction of the time for an answer after which a read is sent to a second node too."""

_OPENING_SECONDS = 10.0
"""Least seconds for an answer while a store is opened: nobody waits for a memory yet, and a starting node is slow."""

_SCHEMA_SECONDS = 60.0


class Connection:
    """An open connection. Reads, and plain writes that may be repeated, are retried on other nodes."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._policy = RestingNodes(TokenAwarePolicy(DCAwareRoundRobinPolicy(address.datacenter or "")))
        self._cluster: Any = None
        self._session: Any = None
        self._prepared: dict[str, Any] = {}
        self.durable = True
        self.keyspace = address.keyspace
        levels = ConsistencyLevel
        self._majority = levels.LOCAL_QUORUM if address.local else levels.QUORUM
        self._serial = levels.LOCAL_SERIAL if address.local else levels.SERIAL

    async def open(self) -> None:
        """Connect, and create missing tables. Raises StoreNewer, StoreOlder, StoreUnavailable."""
        if self._session is None:
            try:
                profile = await asyncio.to_thread(self._connect)
                await self._check_version()
                profile.request_timeout = self._address.timeout
            except DRIVER_ERRORS as error:
                await self.close()
                raise as_mnemic_error(error) from error
            except BaseException:
                await self.close()
                raise

    async def close(self) -> None:
        """Disconnect. May be called twice."""
        cluster, self._cluster, self._session = self._cluster, None, None
        if cluster is not None:
            await asyncio.to_thread(cluster.shutdown)

    def _connect(self) -> ExecutionProfile:
        address = self._address
        profile = ExecutionProfile(
            load_balancing_policy=self._policy,
            consistency_level=self._majority,
            serial_consistency_level=self._serial,
            request_timeout=max(address.timeout, _OPENING_SECONDS),
            row_factory=tuple_factory,
            speculative_execution_policy=ConstantSpeculativeExecutionPolicy(address.timeout * _SECOND_ASK, 1),
        )
        self._cluster = self._to_nodes(profile)
        session = self._cluster.connect()
        self._make(session)
        session.set_keyspace(address.keyspace)
        self._prepared = {name: session.prepare(text) for name, text in STATEMENTS.items()}
        kept = session.execute(self._prepared["settings"]).one()
        self.durable = address.copies > 1 or (kept is not None and kept[0] in ("batch", "group"))
        self._session = session
        return profile

    def _to_nodes(self, profile: ExecutionProfile) -> Any:
        address = self._address
        return Cluster(
            list(address.hosts),
            port=address.port,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            auth_provider=PlainTextAuthProvider(address.user, address.password) if address.user else None,
            ssl_context=ssl.create_default_context(cafile=str(address.ca)) if address.ca else None,
            reconnection_policy=ConstantReconnectionPolicy(1.0, None),
            protocol_version=address.protocol,
            idle_heartbeat_interval=2,
            idle_heartbeat_timeout=2,
            connect_timeout=10,
            control_connection_timeout=10,
            # A restarted node knows statements from the table in which Cassandra stores them; it has least time for all
            # callers preparing all of them at once.
            reprepare_on_up=False,
            monitor_reporting_enabled=False,  # the driver would send the server data about this machine
        )

    def _make(self, session: Any) -> None:
        """Create keyspace and tables if they are missing."""
        keyspace = self._address.keyspace
        there = self._cluster.metadata.keyspaces.get(keyspace)
        texts = () if there is not None and LAST_TABLE in there.tables else TABLES
        if there is None:
            texts = (KEYSPACE, *texts)
        for text in texts:
            session.execute(text.format(keyspace=keyspace, copies=self._address.copies), timeout=_SCHEMA_SECONDS)

    async def _check_version(self) -> None:
        name = "schema_version"
        found = await self.ask("known", (name,))
        if not found:
            await self.change([("know", (name, str(VERSION)))], settled=lambda: self._is_known(name))
            found = await self.ask("known", (name,), serial=True)
        if int(found[0][0]) > VERSION:
            raise StoreNewer(hint="a newer version of mnemic has opened this keyspace")
        if int(found[0][0]) < VERSION:
            raise StoreOlder

    async def _is_known(self, name: str) -> bool:
        return bool(await self.ask("known", (name,), serial=True))

    async def ask(self, name: str, values: Sequence[Any], *, serial: bool = False, of_all: bool = False) -> Found:
        """Return the rows of a statement. With `serial` pending commits are settled first; with `of_all` every replica
        answers, and gets its missing rows.
        """
        bound = self._bound(name, values)
        bound.is_idempotent = True
        if serial:
            bound.consistency_level = self._serial
        if of_all:
            bound.consistency_level = ConsistencyLevel.ALL
        return await self._try_answer(lambda: self._answer(bound))

    async def of_each_node(self, texts: Sequence[str]) -> list[list[Found]]:
        """Return the rows of these statements on each node of every datacenter, about that node alone. Raises
        StoreUnavailable if one is away.
        """
        try:
            return await asyncio.to_thread(self._of_each_node, texts)
        except DRIVER_ERRORS as error:
            raise as_mnemic_error(error) from error

    def _of_each_node(self, texts: Sequence[str]) -> list[list[Found]]:
        # A separate connection, because the main one knows only the nodes of the local datacenter.
        everywhere = ExecutionProfile(
            load_balancing_policy=RoundRobinPolicy(),
            consistency_level=ConsistencyLevel.ONE,
            request_timeout=_SCHEMA_SECONDS,
            row_factory=tuple_factory,
        )
        with self._to_nodes(everywhere) as cluster:
            session, nodes = cluster.connect(), cluster.metadata.all_hosts()
            if not all(node.is_up for node in nodes):
                raise StoreUnavailable(hint="a node is away")
            return [[list(session.execute(text, host=node)) for text in texts] for node in nodes]

    async def write(self, statements: Iterable[tuple[str, Sequence[Any]]]) -> None:
        """Execute plain writes, each of which may be repeated."""
        await asyncio.gather(*(self.ask(name, values) for name, values in statements))

    async def change(
        self,
        statements: Sequence[tuple[str, Sequence[Any]]],
        *,
        settled: Callable[[], Awaitable[bool]] | None,
        refused: Callable[[Sequence[Any]], None] | None = None,
    ) -> bool:
        """Run these statements as one lightweight transaction on one partition; return True if its condition was met.
        If it was not, `refused` gets the answer, which ends with the values of the columns that the condition names.

        If no answer came, `settled` returns whether it was made; with None it may be made twice, and is tried again.
        Raises CommitUnknown if the outcome cannot be determined.
        """
        bound = [self._bound(*each) for each in statements]
        statement = bound[0]
        if len(bound) > 1:
            statement = BatchStatement(
                BatchType.UNLOGGED, consistency_level=self._majority, serial_consistency_level=self._serial
            )
            for each in bound:
                statement.add(each)
        # After losing the first node the driver would send it to a second one, where the change made by the first would
        # look like a lost race.
        statement.retry_policy = FallthroughRetryPolicy()
        for tried in range(_TRIES):
            try:
                answer = (await self._answer(statement))[0]
                if not answer[0] and refused is not None:
                    refused(answer)
                return bool(answer[0])
            except DRIVER_ERRORS as error:
                if unknown(error) and settled is not None:
                    return await self._settle_commit(settled)
                if not isinstance(error, PASSING) or tried == _TRIES - 1:
                    raise as_mnemic_error(error) from error
                await _rest(tried)
        raise AssertionError("unreachable")

    async def _settle_commit(self, settled: Callable[[], Awaitable[bool]]) -> bool:
        try:
            return await settled()
        except (StoreBusy, StoreUnavailable) as error:
            raise CommitUnknown(hint="the cluster was lost during the commit") from error

    async def _try_answer(self, answer: Callable[[], Awaitable[Found]]) -> Found:
        for tried in range(_TRIES):
            try:
                return await answer()
            except DRIVER_ERRORS as error:
                if not isinstance(error, PASSING) or tried == _TRIES - 1:
                    raise as_mnemic_error(error) from error
                await _rest(tried)
        raise AssertionError("unreachable")

    def _bound(self, name: str, values: Sequence[Any]) -> Any:
        if self._session is None:
            raise StoreUnavailable("closed")
        return self._prepared[name].bind(values)

    async def _answer(self, statement: Any) -> Found:
        session, loop = self._session, asyncio.get_running_loop()
        if session is None:
            raise StoreUnavailable("closed")
        answer: asyncio.Future[Found] = loop.create_future()
        rows: Found = []
        response = session.execute_async(statement)

        def on_page(page: Any) -> None:
            self._note_overtaken(response)
            rows.extend(page or ())
            if response.has_more_pages:
                response.start_fetching_next_page()
            else:
                _tell(loop, partial(_settle, answer, rows))

        def on_error(error: BaseException) -> None:
            if isinstance(error, OperationTimedOut) and error.last_host is not None:
                self._policy.rest(error.last_host)
            _tell(loop, partial(_settle, answer, error))

        response.add_callbacks(on_page, on_error)
        return await answer

    def _note_overtaken(self, response: Any) -> None:
        """Record the nodes asked before the one that answered."""
        for host in response.attempted_hosts:
            if host == response.coordinator_host:
                return
            self._policy.pass_over(host)


def _settle(answer: asyncio.Future[Found], fields: Found | BaseException) -> None:
    if answer.done():
        return
    if isinstance(fields, BaseException):
        answer.set_exception(fields)
    else:
        answer.set_result(fields)


def _tell(loop: asyncio.AbstractEventLoop, what: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # the loop is closed: no caller waits any more
        loop.call_soon_threadsafe(what)


async def some_at_once(asks: Iterable[Callable[[], Awaitable[T]]], *, most: int) -> list[T]:
    """Return the results of these calls in order, running `most` of them at a time."""
    turn = asyncio.Semaphore(most)

    # A call is only created in its turn: if the caller is cancelled, the waiting ones were never begun.
    async def ask_one(ask: Callable[[], Awaitable[T]]) -> T:
        async with turn:
            return await ask()

    return await asyncio.gather(*map(ask_one, asks))


async def pause(least: float, most: float) -> None:
    """Wait for a random time, so that competing processes do not retry together."""
    await asyncio.sleep(random.uniform(least, most))  # noqa: S311 - no secret


async def _rest(tried: int) -> None:
    await pause(0.015 * 2**tried, 0.05 * 2**tried)
