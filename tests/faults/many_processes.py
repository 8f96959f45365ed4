"""Many processes that use one store at the same moment.

A run forks, so it needs a process without threads: use `run_crowd`, which starts one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

from mnemic.bootstrap import build_sessions, build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError, VersionConflict
from mnemic.policy.limits import Limits, Quota
from mnemic.runtime.clock import SystemClock
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.faults.oracle import ADA, statement

Seen = Counter[str]
"""Counts of each outcome, and of the reason of each error."""


async def each_its_own(engine: MemoryEngine, number: int, turns: int) -> Seen:
    """Add statements of one user, each compared with the others."""
    choice = random.Random(number)
    return Counter([await _add_statement(engine, statement(choice)) for _ in range(turns)])


async def all_the_same(engine: MemoryEngine, _: int, turns: int) -> Seen:
    """Add the statements that everybody else adds."""
    choice = random.Random(0)
    return Counter([await _add_statement(engine, statement(choice)) for _ in range(turns)])


async def one_only(engine: MemoryEngine, number: int, _: int) -> Seen:
    """Add one statement, in a separate scope."""
    return Counter([await _add_statement(engine, statement(random.Random(number)), Actor(user=f"user{number}"))])


async def editors(engine: MemoryEngine, number: int, turns: int) -> Seen:
    """Run `turns` concurrent editors of one memory: all start from version 1, then continue from the version that they
    read next.
    """
    (memory,) = await engine.list(actor=ADA)
    seen: Seen = Counter()

    async def edit(turn: int) -> None:
        version, first = 1, True
        while True:
            try:
                await engine.update(
                    memory.memory_id, f"Edited by {number} as {turn}", actor=ADA, expected_version=version
                )
            except VersionConflict as conflict:
                seen[conflict.reason] += 1
                first = False
                version = (await engine.get(memory.memory_id, actor=ADA)).version
            else:
                seen["at_once" if first else "later"] += 1
                return

    await asyncio.gather(*(edit(turn) for turn in range(turns)))
    return seen


async def within_quota(engine: MemoryEngine, number: int, turns: int) -> Seen:
    """Add different statements, each for a separate user and for a shared one, up to a common quota."""
    seen: Seen = Counter()
    for turn in range(turns):
        for actor in (ADA, Actor(user=f"user{number}")):
            receipt = await engine.add(f"Note {turn} of writer {number}", actor=actor)
            seen[receipt.reason or receipt.outcome.value] += 1
    return seen


async def _add_statement(engine: MemoryEngine, content: str, actor: Actor = ADA) -> str:
    try:
        return (await engine.add(content, actor=actor)).outcome.value
    except MnemicError as error:
        return error.reason


TASKS: dict[str, Callable[[MemoryEngine, int, int], Awaitable[Seen]]] = {
    task.__name__: task for task in (each_its_own, all_the_same, one_only, editors, within_quota)
}


USER_ROWS, TENANT_ROWS = 10, 25
LIMITS = {
    within_quota.__name__: Limits(quotas=(Quota(per="user", rows=USER_ROWS), Quota(per="tenant", rows=TENANT_ROWS)))
}
"""The limits that a task runs under."""


def run_crowd(location: Path | str, task: str, *, processes: int, turns: int = 1, sessions: str = "memory:") -> Seen:
    """Return the outcomes of `processes` processes that opened the store at the same moment and did `task`: a file, or
    an address such as `postgresql://...`, with the hot set of an address in `sessions`.

    A process that ends otherwise than with its answer counts as `died`.
    """
    command = [sys.executable, "-m", __spec__.name, str(location), task, str(processes), str(turns), sessions]
    # A pool of BLAS threads must not exist before the forks.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return Counter(json.loads(run.stdout))


def crowded_engine(location: str, sessions: str = "memory:", task: str = "") -> MemoryEngine:
    """Return the engine of a process of a crowd."""
    store = build_store(location, durability="durable") if "://" in location else SqliteStore(Path(location))
    conversations, projections = build_sessions(sessions, SystemClock())
    return MemoryEngine(
        store=store,
        embedder=WordEmbedder(),
        sessions=conversations,
        projections=projections,
        limits=LIMITS.get(task),
    )


def _one_of_many(engine: MemoryEngine, task: str, number: int, turns: int, gate: int, answers: int) -> None:
    async def work() -> Seen:
        os.read(gate, 1)
        try:
            async with engine:
                return await TASKS[task](engine, number, turns)
        except MnemicError as error:
            return Counter([error.reason])

    os.write(answers, json.dumps(asyncio.run(work())).encode() + b"\n")


def main(location: str, task: str, processes: str, turns: str, sessions: str) -> None:
    """Write the sum of the outcomes as JSON to standard output; `run_crowd` starts this."""
    gate, opens = os.pipe()
    hears, answers = os.pipe()
    children = []
    for number in range(int(processes)):
        child = os.fork()
        if child == 0:
            os.close(opens)
            try:
                engine = crowded_engine(location, sessions, task)
                _one_of_many(engine, task, number, int(turns), gate, answers)
            finally:
                os._exit(0)
        children.append(child)
    for end in (opens, answers):
        os.close(end)
    with os.fdopen(hears) as lines:
        data = [Counter(json.loads(line)) for line in lines]
    for child in children:
        os.waitpid(child, 0)
    seen = sum(data, Counter({"died": len(children) - len(data)}))
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
