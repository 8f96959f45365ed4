"""Faults of a cluster, and its figures: `make cluster`. Three real Cassandra nodes, the engine as it is.

    python -m bench.cluster [--only contract,kill:5000,topology,partition,exact,processor,clock,...]

Without `--only` the rows of one cluster run, at sizes for 20 minutes on two processors. The rows with clusters of their
own (clock, repair, hints, datacenters) run by name, and any row at another size (the published ones are in scale.md).

Processes write through the engine, each call under an idempotency key that is used again until it succeeds; everything
acknowledged is looked for afterwards. Rows are printed as JSON, with the load of the machine beside each.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cassandra import ConsistencyLevel, DriverException
from cassandra.query import BatchStatement, BatchType

from bench import cluster_load as loading
from bench import cluster_operations as operations
from bench.cpu_shares import BESIDE, Shares
from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError, StoreBusy, StoreUnavailable
from mnemic.ports import Clock
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Candidate, Kind, Status, VectorSpace
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import HashedEmbedder
from tests.cassandra_nodes import Cluster, Network, Node, at_hand
from tests.servers import PostgresServer

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
PROCESSES, TASKS, TENANTS, USERS = 4, 1, 20, 10
_REST = "MNEMIC_CLUSTER_REST"
"""Variable with the seconds that a writer rests after each call, 0.25 by default. Without a rest four of them keep two
cores busy, and all is written before the second node is killed."""
_LOOKS = 5
"""Times that what was acknowledged is looked for at most."""
_IDLE_SECONDS = 10
"""Seconds for which servers are watched while nobody asks them: what they use then is in every figure."""
_WARM = 12
"""Times the measured calls that are made before: Java compiles what was called some thousand times."""

CONTRACT = (
    "test_store.py::TestCassandraStore",
    "test_machine.py",
    "test_heads.py",
    "test_commit.py",
    "test_questions.py",
)
"""What three nodes may do differently from the one on which all tests of the store run."""


def engine_on(location: str, clock: Clock | None = None) -> MemoryEngine:
    return MemoryEngine(store=build_store(location, durability="durable"), embedder=HashedEmbedder(SPACE), clock=clock)


def user(number: int) -> Actor:
    return Actor(tenant=f"t{number % TENANTS:03d}", user=f"u{number // TENANTS % USERS}")


async def write(location: str, number: int, calls: int, log: Path, rest: float = 0.0) -> None:
    """Make `calls` acknowledged writes; a line of the log for each. After each `rest` seconds pass."""
    said = statements(1000 + number)
    left = iter(range(calls))
    with log.open("w", buffering=1) as out:
        async with engine_on(location) as engine:

            async def task() -> None:
                for call in left:
                    await one(call)
                    await asyncio.sleep(rest)

            async def one(call: int) -> None:
                text, who, key = f"{next(said)} ({number}.{call})", user(number * 7919 + call), f"{number}-{call}"
                began, failed = time.time(), []
                while True:
                    try:
                        told = await engine.add(
                            Candidate(content=text, kind=Kind.EPISODIC), actor=who, idempotency_key=key
                        )
                    except MnemicError as error:
                        failed.append(error.reason)
                        await asyncio.sleep(0.05)
                        continue
                    out.write(
                        json.dumps([began, time.time(), who.tenant, who.user, told.memory_id, text, failed]) + "\n"
                    )
                    return

            print("ready", flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            before = time.process_time()
            await asyncio.gather(*(task() for _ in range(TASKS)))
            print(time.process_time() - before, flush=True)


class Writers:
    """Processes that write, and what they were told."""

    def __init__(self, location: str, writes: int, folder: Path, shares: Shares | None) -> None:
        self.logs = [folder / f"log{number}" for number in range(PROCESSES)]
        self.events: list[tuple[str, float]] = []
        self.spent = 0.0
        """Seconds of processor of the processes, once they have ended."""
        command = [sys.executable, "-m", "bench.cluster", "--write", location, "--calls", str(writes // PROCESSES)]
        command += ["--rest", os.environ.get(_REST, "0.25")]
        self._running = [
            subprocess.Popen([*command, "--number", str(n), "--log", str(log)], stdin=-1, stdout=-1, text=True)
            for n, log in enumerate(self.logs)
        ]
        for each in self._running:
            if shares is not None:
                shares.put("writers", each.pid)
            assert each.stdout is not None
            if each.stdout.readline() != "ready\n":
                self.kill()
                raise RuntimeError(f"a writer did not begin: {each.wait()}")

    def go(self) -> None:
        for each in self._running:
            assert each.stdin is not None
            each.stdin.write("\n")
            each.stdin.flush()

    def note(self, event: str) -> None:
        """Note that this has happened now."""
        self.events.append((event, time.time()))

    def count(self) -> int:
        return sum(log.read_bytes().count(b"\n") for log in self.logs if log.exists())

    def reach(self, count: int) -> None:
        """Wait until so many writes are acknowledged."""
        while self.count() < count:
            if all(each.poll() is not None for each in self._running):
                raise RuntimeError("the writers have ended")
            time.sleep(0.1)

    def kill(self) -> None:
        """End the processes, for a row that has failed."""
        for each in self._running:
            each.kill()
            each.communicate()

    def end(self) -> list[list[Any]]:
        for each in self._running:
            told, _ = each.communicate()
            if each.returncode != 0:
                raise RuntimeError("a writer has failed")
            self.spent += float(told)
        return [json.loads(line) for log in self.logs for line in log.read_text().splitlines()]


async def check(location: str, told: list[list[Any]]) -> dict[str, Any]:
    """Look for everything acknowledged: lost, twice, chains."""
    acked: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for _, _, tenant, owner, memory_id, text, _ in told:
        acked[tenant, owner][memory_id] = text
    lost = doubled = held = lines = 0
    store = build_store(location, durability="durable")
    await store.open(SPACE)
    try:
        for (tenant, owner), mine in acked.items():
            scope = Actor(tenant=tenant, user=owner).scope("user")
            there = await store.scan(tenant, statuses=[Status.ACTIVE], scope=scope, limit=100_000)
            found = {memory.memory_id: memory.content for memory in there}
            held += len(found)
            lost += sum(found.get(memory_id) != text for memory_id, text in mine.items())
            doubled += sum(count > 1 for count in Counter(found.values()).values())
        chains = {tenant: await store.broken_audit(tenant) for tenant in {tenant for tenant, _ in acked}}
        lines = sum(chain[0] for chain in chains.values())
    finally:
        await store.close()
    broken = sum(chain[1] is not None for chain in chains.values())
    return {"held": held, "lost": lost, "duplicated": doubled, "chains": len(chains), "broken": broken, "lines": lines}


def summary(told: list[list[Any]], events: list[tuple[str, float]]) -> dict[str, Any]:
    """Return what the writers saw: how long nobody got through and after what, and how long a call took."""
    ends = sorted(line[1] for line in told)
    pauses = sorted(((b - a, a) for a, b in pairwise(ends)), reverse=True)[:4]
    calls = sorted(line[1] - line[0] for line in told)
    return {
        "acknowledged": len(told),
        "failed_calls": Counter(reason for line in told for reason in line[6]),
        "longest_pause": round(pauses[0][0], 2),
        "pauses": [_placed(long, at, events) for long, at in pauses],
        "events": [f"{name} at {at - ends[0]:.1f} s" for name, at in events],
        "longest_call": round(calls[-1], 2),
        "ms_p50_p95_p99": [round(1000 * calls[int(len(calls) * share)], 1) for share in (0.5, 0.95, 0.99)],
        "per_second": round(len(told) / (ends[-1] - ends[0]), 1),
    }


def _placed(long: float, at: float, events: list[tuple[str, float]]) -> str:
    """Return how long a pause was, and how long after which event it began."""
    before = [(name, then) for name, then in events if then <= at + long]
    name, then = before[-1] if before else ("begin", at)
    return f"{long:.2f} s, {at - then:+.1f} s from {name}"


def run(cluster: Cluster, name: str, writes: int, during: Callable[[Writers], dict[str, Any] | None]) -> None:
    """Let processes write while `during` happens, and print the row."""
    url = cluster.url(name, copies=3)
    asyncio.run(_opened(url))
    with TemporaryDirectory() as folder:
        writers = Writers(url, writes, Path(folder), cluster.shares)
        before = cluster.spent()
        try:
            writers.go()
            beside = during(writers)
            told = writers.end()
        except BaseException:
            writers.kill()
            raise
    cost = {
        "server_ms": round(1000 * (cluster.spent() - before) / len(told), 1),
        "client_ms": round(1000 * writers.spent / len(told), 1),
    }
    found = looked_for(url, told)
    tell(name, **summary(told, writers.events), **cost, **found, **(beside or {}))
    if found["lost"] or found["duplicated"] or found["broken"] or found["lines"] < len(told):
        raise RuntimeError(f"{name}: something acknowledged is lost, there twice, or its line or chain is broken")


def looked_for(location: str, told: list[list[Any]]) -> dict[str, Any]:
    """Look for everything acknowledged, again where a busy cluster does not answer one of the reads."""
    for _ in range(_LOOKS - 1):
        with suppress(StoreUnavailable, StoreBusy):
            return asyncio.run(check(location, told))
    return asyncio.run(check(location, told))


async def _opened(location: str) -> None:
    store = build_store(location, durability="durable")
    await store.open(SPACE)
    await store.close()


def tell(name: str, **found: Any) -> None:
    print(json.dumps({"row": name, **found, "load": round(os.getloadavg()[0], 1)}), flush=True)


def contract(cluster: Cluster) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", *(f"tests/stores/cassandra/{one}" for one in CONTRACT)]
    ran = subprocess.run(
        command,
        env={**os.environ, "MNEMIC_CASSANDRA": cluster.url("contract", copies=3)},
        capture_output=True,
        text=True,
    )
    tell("contract", passed=ran.returncode == 0, said=ran.stdout.strip().splitlines()[-1])
    if ran.returncode:
        print(ran.stdout[-6000:])
        raise RuntimeError("the contract is not kept")


def kill(cluster: Cluster, size: int, keyspace: str = "kill") -> None:
    """Kill each node in turn during the writes, and start it again. The next is killed once that one serves: two of
    three copies are a majority, one and a node that is starting are none.
    """

    def during(writers: Writers) -> None:
        for number, node in enumerate(cluster.nodes, 1):
            writers.reach(writers.count() + size // 10)
            writers.note(f"kill {number}")
            node.kill()
            writers.reach(writers.count() + size // 10)
            writers.note(f"start {number}")
            node.start()
            writers.note(f"up {number}")
            operations.wait_until_serving(cluster, keyspace)
            node.settle()
            writers.note(f"serves {number}")

    run(cluster, keyspace, size, during)


def topology(cluster: Cluster, size: int) -> None:
    """Add a node and take one away during the writes."""

    def during(writers: Writers) -> dict[str, Any]:
        writers.reach(size // 10)
        began = time.time()
        writers.note("add 4")
        node = cluster.add()
        node.start()
        wait_for(cluster.nodes[0], lambda told: told.count("UN ") == 4)
        added = time.time() - began
        at = writers.count()
        writers.note("remove 4")
        node.nodetool("decommission")
        gone = time.time() - began - added
        node.kill()
        cluster.nodes.remove(node)
        return {
            "added_s": round(added, 1),
            "removed_s": round(gone, 1),
            "at_writes": [size // 10, at, writers.count()],
        }

    run(cluster, "topology", size, during)


def wait_for(node: Node, good: Callable[[str], bool]) -> None:
    until = time.monotonic() + 300
    while not good(node.nodetool("status")):
        if time.monotonic() > until:
            raise RuntimeError(node.nodetool("status"))
        time.sleep(1)


def partition(cluster: Cluster, size: int) -> None:
    """Cut one node off for a third of the writes."""
    if cluster.network is None:
        print("NOT RUN: partition. It needs root and the command ip.", file=sys.stderr)
        return
    network = cluster.network

    def during(writers: Writers) -> None:
        writers.reach(size // 3)
        writers.note("cut 2")
        network.cut(2)
        writers.reach(2 * size // 3)
        writers.note("mend 2")
        network.mend(2)

    run(cluster, "partition", size, during)


def exact(cluster: Cluster, size: int) -> None:
    """Fill both with the same memories and ask both the same."""
    asyncio.run(_exact(cluster.url(f"exact_{size}", copies=3), size))


async def _exact(location: str, memories: int) -> None:
    users = 500
    with TemporaryDirectory() as folder:
        # One time for both, for a hit's score falls with its age.
        clock = ManualClock()
        async with engine_on(f"{folder}/memories.db", clock) as near, engine_on(location, clock) as far:
            said, began = statements(20240229), time.time()
            turn = asyncio.Semaphore(4)

            async def fill(number: int, texts: list[str]) -> None:
                async with turn:
                    for engine in (near, far):
                        batch = [Candidate(content=text, kind=Kind.EPISODIC) for text in texts]
                        for first in range(0, len(batch), 25):
                            await engine.add_many(batch[first : first + 25], actor=_of_500(number))

            per = memories // users
            await asyncio.gather(*(fill(number, list(islice(said, per))) for number in range(users)))
            filled, asked = time.time() - began, list(islice(questions(7), 500))
            same = 0
            for number, question in enumerate(asked):
                answers = [
                    [
                        (h.memory.content, round(h.score, 4))
                        for h in (await e.search(question, actor=_of_500(number), top_k=10)).hits
                    ]
                    for e in (near, far)
                ]
                same += sorted(answers[0]) == sorted(answers[1])
            counts = 0
            for number in range(users):
                counts += len(
                    await far.store.scan(
                        _of_500(number).tenant,
                        statuses=[Status.ACTIVE],
                        scope=_of_500(number).scope("user"),
                        limit=10**6,
                    )
                )
    tell("exact", memories=counts, users=users, fill_s=round(filled, 1), searches=len(asked), same=same)
    if (counts, same) != (memories, len(asked)):
        raise RuntimeError("the two stores differ")


def _of_500(number: int) -> Actor:
    return Actor(tenant=f"t{number % 50:03d}", user=f"u{number // 50}")


def processor(size: int = 300) -> None:
    """CPU of a write and a search on the nodes, by question, beside the least that the nodes charge, and on a private
    PostgreSQL.
    """
    with operations.running(operations.nodes(heap=700, tier=4)) as cluster:
        if cluster.shares is not None:
            cluster.shares.put("client", os.getpid())
        meter = Meter(partial(spent_by_node, cluster), cluster.compiled)
        for measured in (of_calls, of_questions):
            tell(
                "processor", on="cassandra", **asyncio.run(measured(cluster.url("processor", timeout=10), size, meter))
            )
    server = PostgresServer()
    server.start()
    try:
        meter = Meter(lambda: [_of_tree(server.pid())], lambda: 0.0)
        tell("processor", on="postgres", **asyncio.run(of_calls(server.dsn(), size, meter)))
    finally:
        server.stop()


def million(size: int = 1_000_000) -> None:
    """Load users with a hundred memories each, beside other work; then what a write and a search of them cost while the
    process knows nothing of them, and what they cost next, and a node killed.
    """
    with operations.running(operations.nodes(heap=700, tier=4)) as cluster:
        location = cluster.url("million", timeout=10)
        asyncio.run(_opened(location))
        weigh(cluster, BESIDE)
        for node in cluster.nodes:
            node.nodetool("disableautocompaction")
        before, users = cluster.spent(), size // loading.EACH
        loaded = asyncio.run(loading.load(location, SPACE, users, one_of_many))
        loaded["server_ms_a_memory"] = round(1000 * (cluster.spent() - before) / size, 3)
        tell("million", **loaded, **loading.stored(cluster))
        tell("million", **loading.compact(cluster), **loading.stored(cluster))
        weigh(cluster)
        meter, calls = Meter(partial(spent_by_node, cluster), cluster.compiled), min(400, users // 10)
        tell("million", **asyncio.run(of_calls(location, calls, meter)))
        kill(cluster, 2400, "million")


def weigh(cluster: Cluster, times: float | None = None) -> None:
    """Give each node so many times the share of other work, or its own again."""
    for node in cluster.nodes:
        if cluster.shares is not None:
            cluster.shares.weigh(f"node{node.number}", times)


def spent_by_node(cluster: Cluster) -> list[float]:
    """Return the seconds of processor of each node so far."""
    return [node.spent for node in cluster.nodes]


def _of_tree(pid: int) -> float:
    """Return the processor time of a server and its children, also of those that have ended."""
    total = 0.0
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for each in (pid, *map(int, children)):
        fields = Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
        total += sum(map(int, fields[11:15] if each == pid else fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


@dataclass
class Meter:
    """What calls cost, each in milliseconds: `server` and `client` of processor, `nodes` the server's by node,
    `compilers` the part of it that Java's compilers took, `clock` by the clock.
    """

    spent: Callable[[], Sequence[float]]
    compiled: Callable[[], float]

    async def of(self, calls: Iterable[Callable[[], Awaitable[object]]]) -> dict[str, Any]:
        """Return the mean of these calls, made one after the other."""
        count, before, compiled, own, began = 0, self.spent(), self.compiled(), time.process_time(), time.time()
        for call in calls:
            await call()
            count += 1
        nodes = [now - then for now, then in zip(self.spent(), before, strict=True)]
        passed = {
            "server": sum(nodes),
            "compilers": self.compiled() - compiled,
            "client": time.process_time() - own,
            "clock": time.time() - began,
        }
        each = {name: round(1000 * seconds / count, 2) for name, seconds in passed.items() if seconds}
        return each | ({"nodes": [round(1000 * seconds / count, 2) for seconds in nodes]} if len(nodes) > 1 else {})

    async def idle(self) -> float:
        """Return what the servers use in a second in which nobody asks them: it is in every figure."""
        before = sum(self.spent())
        await asyncio.sleep(_IDLE_SECONDS)
        return round(1000 * (sum(self.spent()) - before) / _IDLE_SECONDS, 1)


async def of_calls(location: str, calls: int, meter: Meter) -> dict[str, Any]:
    """Return what calls of the engine cost: the first write of each of so many users in this process, a later one, a
    search, and the first search of other users.
    """
    who, said, asked = one_of_many, statements(3), questions(3)
    found: dict[str, Any] = {"calls": calls}
    async with engine_on(location) as engine:

        def write(number: int) -> Callable[[], Awaitable[object]]:
            text = f"{next(said)} ({number})"
            return lambda: engine.add(Candidate(content=text, kind=Kind.EPISODIC), actor=who(number))

        def search(number: int) -> Callable[[], Awaitable[object]]:
            text = next(asked)
            return lambda: engine.search(text, actor=who(number), top_k=10)

        for number in range(calls, calls * (1 + _WARM)):  # plans, caches and the just-in-time compilers
            await asyncio.gather(write(number)(), search(number)())
        found["idle_ms_a_second"] = await meter.idle()
        mine, others = range(calls), range(calls * (1 + _WARM), calls * (2 + _WARM))
        measured = {"first_write": (write, mine), "write": (write, mine), "search": (search, mine)}
        for name, (call, numbers) in (measured | {"first_search": (search, others)}).items():
            with counted(engine) as asks:
                found[name] = await meter.of(map(call, numbers))
            found[name] |= {"asks": {one: round(count / calls, 2) for one, count in asks.items()}} if asks else {}
    return found


def one_of_many(number: int) -> Actor:
    return Actor(tenant=f"t{number % TENANTS:03d}", user=f"u{number // TENANTS}")


@contextmanager
def counted(engine: MemoryEngine) -> Iterator[Counter[str]]:
    """Count the statements that a store on Cassandra sends, by name; one that settles what is pending is `serial`."""
    asks: Counter[str] = Counter()
    link = getattr(getattr(engine.store, "_database", None), "link", None)
    if link is None:
        yield asks
        return
    names = {id(prepared): name for name, prepared in link._prepared.items()}
    answer = link._answer

    async def noted(statement: Any) -> Any:
        if isinstance(statement, BatchStatement):
            asks["commit"] += 1
        else:
            serial = " serial" if statement.consistency_level == ConsistencyLevel.SERIAL else ""
            asks[names[id(statement.prepared_statement)] + serial] += 1
        return await answer(statement)

    link._answer = noted
    try:
        yield asks
    finally:
        link._answer = answer


async def of_questions(location: str, calls: int, meter: Meter) -> dict[str, Any]:
    """Return what the questions of a write cost one by one, and what its bytes cost in other ways: as rows alone, as a
    logged batch, by a lightweight transaction that does nothing else.
    """
    found: dict[str, Any] = {"calls": calls}
    sent: list[tuple[str, Any]] = []
    async with engine_on(location) as engine:
        link = engine.store._database.link  # type: ignore[attr-defined]
        change = link.change

        async def noted(statements: Sequence[tuple[str, Any]], **how: Any) -> bool:
            sent[:] = statements
            return bool(await change(statements, **how))

        link.change = noted
        for text in islice(statements(5), 2):
            await engine.add(Candidate(content=text, kind=Kind.EPISODIC), actor=Actor(tenant="least", user="u"))
        (step, (_, writers, tenant, level, *_)), *rows = sent
        found["rows"] = len(rows)
        found["bytes"] = sum(len(value) for _, values in rows for value in values if isinstance(value, bytes | str))

        def of(number: int) -> list[tuple[str, Any]]:
            return [(name, (*values[:2], f"u{number % 200}", *values[3:])) for name, values in rows]

        async def transaction(number: int, *, bare: bool = False) -> None:
            before = number // 200 or None
            owner = f"{'v' if bare else 'u'}{number % 200}"
            values = ((before or 0) + 1, writers, tenant, level, owner, before, None)
            # What it answers does not matter: after a late answer the same is sent twice, and refused once.
            await change([(step, values), *([] if bare else of(number))], settled=None)

        async def batch(number: int, kind: BatchType, level: int) -> None:
            together = BatchStatement(kind, consistency_level=level)
            for each in of(number):
                together.add(link._bound(*each))
            await link._answer(together)

        async def removed(number: int) -> None:
            """Leave a thousand tombstones in a scope, in one of its tables."""
            together = BatchStatement(BatchType.UNLOGGED, consistency_level=ConsistencyLevel.QUORUM)
            for one in range(100):
                together.add(link._bound("remove", (tenant, level, "u0", "journal", f"{number}.{one}".encode())))
            await link._answer(together)

        levels = ConsistencyLevel
        at = lambda number: (tenant, level, f"u{number % 200}")  # noqa: E731
        questions_of: dict[str, Callable[[int], Awaitable[object]]] = {
            "transaction": transaction,
            "transaction without rows": partial(transaction, bare=True),
            "logged batch": partial(batch, kind=BatchType.LOGGED, level=levels.QUORUM),
            "unlogged batch": partial(batch, kind=BatchType.UNLOGGED, level=levels.QUORUM),
            "unlogged batch, one answer": partial(batch, kind=BatchType.UNLOGGED, level=levels.ONE),
            "announce": lambda number: link.ask("announce", (*at(number), f"{number}")),
            "small": lambda number: link.ask("small", at(number)),
            "small serial": lambda number: link.ask("small", at(number), serial=True),
            "state serial": lambda number: link.ask("state", at(number), serial=True),
            "get": lambda number: link.ask("get", (*at(number), "request", [b"x"])),
        }
        for ask in questions_of.values():  # the just-in-time compilers
            for number in range(calls):
                await ask(number)
        for name, ask in questions_of.items():
            found[name] = await meter.of(partial(ask, number) for number in range(calls, 2 * calls))
        for number in range(10):
            await removed(number)
        ask = lambda: link.ask("small", (tenant, level, "u0"))  # noqa: E731
        found["small beside 1,000 tombstones"] = await meter.of(ask for _ in range(calls))
        ask = lambda: link.ask("get", (tenant, level, "u0", "journal", [b"x"]))  # noqa: E731
        found["get among 1,000 tombstones"] = await meter.of(ask for _ in range(calls))
    return found


SIZES = {
    "contract": 0,
    "kill": 1800,
    "topology": 1000,
    "partition": 600,
    "exact": 2000,
}
"""Rows on one cluster, and their sizes if none is given."""

OPERATIONS: dict[str, Callable[..., None]] = {
    "processor": processor,
    "million": million,
    "clock": partial(operations.clock, tell, rounds=3),
    "repair": partial(operations.repair, tell),
    "hints": partial(operations.hints, tell),
    "datacenters": partial(operations.datacenters, tell),
}
"""Rows on clusters of their own."""


def chosen(only: str) -> Iterator[tuple[str, Callable[[Cluster], None]]]:
    """Return the rows that `only` names, each at the size that follows its name, or at the published one."""
    runs: dict[str, Callable[..., None]] = {
        "kill": kill,
        "topology": topology,
        "partition": partition,
        "exact": exact,
    }
    for word in only.split(","):
        name, _, size = word.partition(":")
        if name == "contract":
            yield name, contract
        elif name in runs:
            yield name, partial(runs[name], size=int(size or SIZES[name]))


def operate(only: str) -> int:
    """Run the rows that have clusters of their own; returns how many have failed."""
    failed = 0
    for word in only.split(","):
        name, _, size = word.partition(":")
        if name in OPERATIONS:
            try:
                OPERATIONS[name](**({"size": int(size)} if size else {}))
            except (RuntimeError, MnemicError, AssertionError, DriverException) as error:
                failed += 1
                tell(name, failed=repr(error)[-2000:])
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join([*SIZES, "processor"]))
    parser.add_argument("--rest", type=float, default=0.0, help=argparse.SUPPRESS)
    for name in ("--write", "--number", "--calls", "--log"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        asyncio.run(write(given.write, int(given.number), int(given.calls), Path(given.log), given.rest))
        return
    if not at_hand():
        sys.exit("NOT RUN: three Cassandra nodes need java (17) and what `make cassandra` fetches.")
    # Without a handler the nodes and their network would outlive this process, and the next run would not start.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    unknown = {word.partition(":")[0] for word in given.only.split(",")} - SIZES.keys() - OPERATIONS.keys()
    if unknown:
        parser.error(f"there is no row {', '.join(sorted(unknown))}")
    rows = list(chosen(given.only))
    failed = (together(rows) if rows else 0) + operate(given.only)
    sys.exit(min(failed, 1))


def together(rows: Sequence[tuple[str, Callable[[Cluster], None]]]) -> int:
    """Run rows on the same three nodes; returns how many have failed."""
    cluster = operations.nodes(heap=700, network=Network() if Network.at_hand() else None)
    failed = 0
    try:
        cluster.start()
        for name, row in rows:
            try:
                row(cluster)
            except (RuntimeError, MnemicError, AssertionError) as error:
                failed += 1
                tell(name, failed=repr(error)[-2000:])
    finally:
        cluster.stop()
    return failed


if __name__ == "__main__":
    main()
