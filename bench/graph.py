"""`entity.relate` and `neighbours` with the graph on a private Neo4j beside a memory file, against 200 ms.

Each relation names somebody new, so that a call writes two memories, each durable and in the graph before it returns.
The same calls on a file alone tell what the server adds. CPU a call, of this process and of the server, depends little
on who else uses the machine; its load is printed beside the times.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.runtime.sync_facade import async_mode
from mnemic.types import Actor
from mnemic_eval.metrics import percentiles
from tests.bolt_servers import Neo4jServer, has_neo4j
from tests.processes import running

WARM = 20


async def measured(graph: str | None, *, held: int, calls: int, server: int | None = None) -> dict[str, Any]:
    """Percentiles of each verb, CPU of one `relate` here and in the process `server`, and how many receipts said that
    the graph was behind.
    """
    with TemporaryDirectory() as folder:
        settings = Settings(store=str(Path(folder) / "m.db"), graph=graph)
        async with build_engine(settings) as engine:
            entity = SevenKinds(engine, Actor(user="measured"), async_mode()).entity
            for number in range(held):
                await entity.relate(f"Person {number}", "knows", f"Person {number // 2}")
            behind = 0

            async def relate(number: int) -> None:
                nonlocal behind
                receipt = await entity.relate(f"Person {held + number}", "knows", "Person 1")
                behind += bool(receipt.degraded)

            here, there = time.process_time(), cpu_of(server)
            told = await timed(relate, calls)
            cpu = {"here_ms": time.process_time() - here, "server_ms": cpu_of(server) - there}
            told |= {f"cpu_{name}": round(1000 * seconds / (WARM + calls), 1) for name, seconds in cpu.items()}
            asked = await timed(lambda number: entity.neighbours(f"Person {number % held}", hops=2), calls)
            return {"relate": told, "behind": behind, "neighbours": asked}


def cpu_of(process: int | None) -> float:
    """Seconds of CPU that a process has had, by Linux; 0 for none."""
    if process is None:
        return 0.0
    told = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


async def timed(call: Callable[[int], Awaitable[object]], calls: int) -> dict[str, float]:
    """Percentiles in milliseconds, after some calls that are not counted."""
    times = []
    for number in range(WARM + calls):
        began = time.perf_counter()
        await call(number)
        times.append(1000 * (time.perf_counter() - began))
    return percentiles(times[WARM:])


def main() -> int:
    """The command's exit code: 0 where `relate` kept its budget."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--held", type=int, default=200, help="relations that are there before anything is timed")
    options.add_argument("--calls", type=int, default=200)
    options.add_argument("--budget-ms", type=float, default=200.0)
    chosen = options.parse_args()
    if not has_neo4j():
        sys.stderr.write("no Neo4j here: `make neo4j` fetches one where there is a Java\n")
        return 2
    sizes = {"held": chosen.held, "calls": chosen.calls}
    figures: dict[str, Any] = {"file": asyncio.run(measured(None, **sizes))}
    with running(Neo4jServer()) as server:
        figures["neo4j"] = asyncio.run(measured(server.url, server=server.pid, **sizes))
    figures |= {"load": os.getloadavg(), "cpus": os.cpu_count()}
    sys.stdout.write(json.dumps(figures, indent=1) + "\n")
    return 0 if figures["neo4j"]["relate"]["p95_ms"] <= chosen.budget_ms else 1


if __name__ == "__main__":
    sys.exit(main())
