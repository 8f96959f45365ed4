"""Simulation of a service past one machine: load, growth, a hot tenant, nodes that fail. A model, no measurement.

    python -m bench.capacity [--seed 1 --seed 2] [--tenants 1000000 --memories 1000000000 ...]

What a memory and a call cost is what was measured (`COSTS`; docs/scale.md says where); what the load is and what
machines cost is assumed and can be given. Tenants are of very different sizes (a Pareto distribution) and lie on shards
by the hash of their names; in Cassandra the users of each are spread over all nodes. Each minute of a day every shard
has so much to do; what does not fit into the minute waits.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of one memory, in bytes, and of one call, in milliseconds of processor."""

    memory_bytes: float
    server_write: float
    server_search: float
    process_write: float
    process_search: float
    copies: int
    failover_seconds: float
    compaction: float = 0.0
    """Of a written memory: what its rows cost until they are in a large file, on all nodes together."""
    spare: float = 1.1
    """Disk over the data: old and new files are there at once while a compaction runs."""


COSTS = {
    # A primary and a synchronous standby; the time of a failover is assumed (Patroni: lease 30 s, loop 10 s).
    "postgres": Costs(4_300, 2.4, 2.2, 9.2, 8.5, 2, 40.0),
    # No failover: a majority of the copies goes on. A call costs the sum over the nodes, which were minutes old.
    # A write is the mean of first and later ones. Compaction is half of what a load in bulk cost the nodes.
    "cassandra": Costs(2_300, 33.0, 5.0, 12.3, 10.1, 3, 1.1, compaction=0.3, spare=1.5),
}
_LARGEST = 0.01
"""Part of all memories that the largest tenant has at most: 10^7 of 10^9."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Assumptions about the load, and the machines bought for it."""

    engine: str = "postgres"
    tenants: int = 1_000_000
    memories: float = 1e9
    writes_a_day: float = 1e7
    searches_a_write: float = 20.0
    peak: float = 4.0
    growth_a_month: float = 0.05
    months: int = 12
    hot_factor: float = 200.0
    shards: int = 16
    shard_bytes: float = 1.5e12
    shard_cores: int = 8
    processes: int = 190
    failures_a_node_a_year: float = 2.0
    rebuild_mb_a_second: float = 100.0
    repair_mb_a_second: float = 60.0
    replicas: int = 0
    """Copies of each PostgreSQL beside primary and standby, for searches."""
    node_dollars: float = 365.0
    """A month of a node with 8 cores, 64 GB and 1.9 TB; larger ones cost as much more as they have cores."""
    process_dollars: float = 250.0
    """A month of 8 cores and 16 GB, for 8 processes."""
    beside_dollars: float = 1300.0
    """A month of balancer and backup."""


def simulate(plan: Plan, seed: int) -> dict[str, float]:
    """Return what happens after the plan's growth: in a day, in a day with a hot tenant, in a year of failing nodes."""
    random, costs = np.random.default_rng(seed), COSTS[plan.engine]
    grown = (1 + plan.growth_a_month) ** plan.months
    weight = random.pareto(1.5, plan.tenants) + 0.05
    weight = np.minimum(weight / weight.sum(), _LARGEST)
    weight /= weight.sum()
    shard = random.integers(0, plan.shards, plan.tenants)
    share = np.bincount(shard, weight, plan.shards)
    hot = int(np.argsort(weight)[-max(1, plan.tenants // 1000)])  # the smallest of the largest thousandth
    more = weight[hot] * (plan.hot_factor - 1)
    heat = np.where(np.arange(plan.shards) == shard[hot], more, 0.0)
    spread = costs.copies == 3
    if spread:
        share, heat = np.full(plan.shards, 1 / plan.shards), np.full(plan.shards, more / plan.shards)
    size = share * plan.memories * grown * costs.memory_bytes * (costs.copies if spread else 1)
    normal, heated = _day(plan, share, grown, costs), _day(plan, share + heat, grown, costs)
    return {
        "seed": seed,
        "node_mean_gb": size.mean() / 1e9,
        "node_max_gb": size.max() / 1e9,
        "nodes_too_small": float((size * costs.spare > plan.shard_bytes).sum()),
        "largest_tenant_gb": weight.max() * plan.memories * grown * costs.memory_bytes / 1e9,
        "busiest_minute": float(normal.max()),
        "wait_seconds": _longest_wait(normal),
        "busiest_minute_hot": float(heated.max()),
        "wait_seconds_hot": _longest_wait(heated),
        "busiest_minute_without_a_node": float(normal.max()) * (plan.shards / (plan.shards - 1) if spread else 1),
        "dollars_a_month": _dollars(plan, costs),
        "processes_busy": _processes_busy(plan, grown, costs),
        "repair_hours_a_node": size.mean() / 1e6 / plan.repair_mb_a_second / 3600 if spread else 0.0,
        "rebuild_minutes": size.mean() / 1e6 / plan.rebuild_mb_a_second / 60,
        **_failures(plan, costs, random, share, size.mean() / 1e6 / plan.rebuild_mb_a_second / 60),
    }


def _dollars(plan: Plan, costs: Costs) -> float:
    nodes = plan.shards * (1 if costs.copies == 3 else costs.copies + plan.replicas)
    return (
        nodes * plan.shard_cores / 8 * plan.node_dollars
        + plan.processes / 8 * plan.process_dollars
        + plan.beside_dollars
    )


def _day(plan: Plan, share: Numbers, grown: float, costs: Costs) -> Numbers:
    """Return how busy each shard is in each minute of a day, 1 being all of its cores."""
    course = np.maximum(0, np.sin(np.arange(MINUTES) / MINUTES * 2 * math.pi)) ** 4
    slope = (plan.peak - 1) / (1 - course.mean())
    course = np.maximum(0, 1 + slope * (course - course.mean()))
    writes = plan.writes_a_day * grown / 86_400
    each = costs.server_write + costs.compaction + plan.searches_a_write * costs.server_search
    cores = writes * each / 1000
    return np.outer(share * cores / plan.shard_cores, course)


def _longest_wait(busy: Numbers) -> float:
    """Return how long work waits at worst, in seconds: what does not fit into a minute is left for the next."""
    waiting = longest = np.zeros(busy.shape[0])
    for minute in busy.T:
        waiting = np.maximum(0, waiting + minute - 1)
        longest = np.maximum(longest, waiting)
    return float(longest.max() * 60) if busy.size else 0.0


def _processes_busy(plan: Plan, grown: float, costs: Costs) -> float:
    writes = plan.writes_a_day * grown / 86_400 * plan.peak
    return writes * (costs.process_write + plan.searches_a_write * costs.process_search) / 1000 / plan.processes


def _failures(
    plan: Plan, costs: Costs, random: np.random.Generator, share: Numbers, rebuild: float
) -> dict[str, float]:
    """Return what a year of failing nodes costs: seconds without an answer for the mean user, and the meetings of two
    failures in one shard, after which the shard stands still.
    """
    own = costs.copies == 2
    nodes = plan.shards * (costs.copies if own else 1)
    count = int(random.poisson(plan.failures_a_node_a_year * nodes))
    at = np.sort(random.random(count) * 365 * MINUTES)
    failing = random.integers(0, nodes, count)
    place = failing // costs.copies if own else failing
    # Of a primary and its standby the failure of the first is felt; of a majority, each one for the time of an answer.
    felt = failing % costs.copies == 0 if own else np.ones(count, dtype=bool)
    part = share[place] if own else np.full(count, costs.copies / nodes)
    met = sum(_meets(at, place, index, rebuild, costs, nodes) for index in range(count))
    down = float((felt * part).sum() * costs.failover_seconds)
    return {"node_failures": float(count), "seconds_down_a_year": down, "two_at_once": float(met)}


def _meets(at: Numbers, place: NDArray[np.int64], index: int, rebuild: float, costs: Costs, nodes: int) -> bool:
    """Check whether another node with the same data fails before this one is rebuilt, in so many minutes."""
    soon = at[index + 1 :] - at[index] < rebuild
    apart = (place[index + 1 :] - place[index]) % nodes
    near = apart == 0 if costs.copies == 2 else (apart < costs.copies) | (apart > nodes - costs.copies)
    return bool((soon & near).any())


def rounded(found: dict[str, float]) -> dict[str, float]:
    """Return figures with three digits that count."""
    return {name: float(f"{value:.3g}") for name, value in found.items()}


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, action="append")
    for name, value in asdict(Plan()).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    given = vars(parser.parse_args(words))
    seeds = given.pop("seed") or [1, 2, 3]
    plan = replace(Plan(), **given)
    for seed in seeds:
        print(json.dumps({"engine": plan.engine} | rounded(simulate(plan, seed))))


if __name__ == "__main__":
    main()
