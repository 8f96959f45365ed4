"""`make race`: every contestant in processes of its own, filled in bulk to each size; adds and searches are timed. Then
ten users in one store, the evidence of LoCoMo's questions, and the syncs of an add.

CPU is that of all threads of the contestant's process during a call (`time.process_time`), the vectors at hand: what a
call takes beyond the embedder; so is the clock. A server's own CPU is not in it. Nothing is asserted, and one that is
not installed is named as not run. `--json` prints the figures by contestant: milliseconds, memories a second of CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.race.contestants import TOP_K, Bare, Chroma, Contestant, LanceDb, LangGraph, Mem0, Mnemic, SqliteVec
from bench.race.parts import CHUNK, SEED, WARM, counted, of_evidence, of_syncs, of_users, timed
from bench.race.vectors import Vectors
from mnemic_eval.conditions import conditions, file_system, load
from mnemic_eval.texts import questions, statements

PARTS = ("sizes", "users", "evidence", "fsyncs")
NOT_RACED = {
    "Hindsight": "loads an embedder and a reranker from a model hub when it starts and takes no vectors at hand",
}
SLOWEST_BULK = 20_000
"""Memories beyond which mem0, which has no call for many, is not filled."""

FILES: tuple[Callable[[Path, Vectors], Contestant], ...] = (
    *(Mnemic, Bare, SqliteVec, LangGraph, LanceDb, Chroma, Mem0),
)
NAMES = (*(made.__name__ for made in FILES), "MnemicOnPostgres", "LangGraphOnPostgres")


def contestant(name: str) -> Callable[[Path, Vectors], Contestant]:
    """Return the class of this name; those on a server are loaded when they are asked for."""
    from bench.race import on_servers

    made: Callable[[Path, Vectors], Contestant] = {one.__name__: one for one in FILES}.get(name) or getattr(
        on_servers, name
    )
    return made


def short(size: int) -> str:
    """Return a size as the figures are named by: 1k, 10k."""
    return f"{size // 1000}k" if size >= 1000 else str(size)


def raced(name: str, sizes: Sequence[int], repeats: int, kept: Path) -> dict[str, Any]:
    """Return the figures of one contestant: filled with what is missing to each size, then timed."""
    wanted = sizes[-1] + len(sizes) * (repeats + WARM)
    said, asked = list(islice(statements(SEED), wanted)), list(islice(questions(SEED), repeats + WARM))
    vectors = Vectors(kept)
    vectors.make(asked)
    vectors.make(said)
    with TemporaryDirectory(prefix="mnemic-race-", ignore_cleanup_errors=True) as folder:
        peer = contestant(name)(Path(folder), vectors)
        figures: dict[str, Any] = {"name": peer.name, "version": version(peer.package), "lacks": list(peer.lacks)}
        stored = 0
        for size in sizes:
            if name == "Mem0" and size > SLOWEST_BULK:
                break
            told, stored = _at(size, peer, vectors, said, stored, asked)
            figures |= {key.format(short(size)): value for key, value in told.items()}
        peer.close()
        figures |= {"bytes_a_memory": peer.size(Path(folder)) / stored, "durability": peer.durability}
    first = short(sizes[0])
    return figures | {
        "add_cpu_p50_ms": figures[f"add_{first}_cpu_p50_ms"],
        "bulk_per_s": figures[f"bulk_{first}_per_s"],
    }


def part_of(given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of one part of the race for one contestant, in this process."""
    if given.part == "sizes":
        return raced(given.one, given.sizes, given.repeats, given.vectors)
    vectors = Vectors(given.vectors)
    with TemporaryDirectory(prefix="mnemic-race-", ignore_cleanup_errors=True) as folder:
        peer = contestant(given.one)(Path(folder), vectors)
        if given.part == "users":
            figures = of_users(peer, vectors, given.users_of, given.repeats)
        elif given.part == "evidence":
            figures = of_evidence(peer, vectors, given.locomo, given.conversations)
        else:
            figures = of_syncs(peer, vectors, given.marks)
        peer.close()
    return figures


def _at(
    size: int, peer: Contestant, vectors: Vectors, said: Sequence[str], stored: int, asked: Sequence[str]
) -> tuple[dict[str, float], int]:
    """Return the figures at a size, the size left out of their names, and how many memories are stored then."""
    count = max(2 * WARM, size - stored)
    took, clock = _filled(peer, said[stored : stored + count])
    stored += count
    adds, _ = timed(peer.add, said[stored : stored + len(asked)], vectors)
    stored += len(asked)
    searches, found = timed(peer.search, asked, vectors)
    both = zip(asked, found, strict=True)
    recall = [len(vectors.nearest(said[:stored], one, TOP_K) & set(texts)) for one, texts in both]
    filled = count - WARM
    figures = {"bulk_{}_per_s": filled / took, "bulk_{}_clock_per_s": filled / clock}
    figures |= {f"add_{{}}_{key}": value for key, value in adds.items()}
    figures |= {f"search_{{}}_{key}": value for key, value in searches.items()}
    return figures | {"nearest_ten_{}": sum(recall) / TOP_K / len(recall)}, stored


def _filled(peer: Contestant, texts: Sequence[str]) -> tuple[float, float]:
    """Return CPU and clock, in seconds, of filling in these texts, all but the first few: what a contestant loads with
    its first write is a matter of starting.
    """
    peer.fill(texts[:WARM])
    began, at = time.process_time(), time.perf_counter()
    for first in range(WARM, len(texts), CHUNK):
        peer.fill(texts[first : first + CHUNK])
    return time.process_time() - began, time.perf_counter() - at


def apart(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """Return the figures of one contestant, each part raced in a process of its own with one thread for linear algebra.
    A part that fails or takes too long is named in `not_run`; without sizes a contestant has an `error`.
    """
    asked = [sys.executable, "-m", "bench.race", "--one", name, "--repeats", str(given.repeats)]
    asked += ["--sizes", ",".join(map(str, given.sizes)), "--vectors", str(given.vectors)]
    asked += ["--users-of", str(given.users_of), "--locomo", str(given.locomo)]
    asked += ["--conversations", str(given.conversations)]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    figures: dict[str, Any] = {"name": getattr(contestant(name), "name", name)}
    for part in given.parts:
        try:
            figures |= _run([*asked, "--part", part], part, environment, 60 * given.minutes)
        except (OSError, subprocess.SubprocessError) as failed:
            why = str(getattr(failed, "stderr", None) or failed).strip().splitlines()[-1]
            why = f"took longer than {given.minutes:g} min" if isinstance(failed, subprocess.TimeoutExpired) else why
            if part == "sizes":
                return figures | {"error": why}
            figures.setdefault("not_run", {})[part] = why
    return {key: round(value, 3) if isinstance(value, float) else value for key, value in figures.items()}


def _run(command: Sequence[str], part: str, environment: dict[str, str], timeout: float) -> dict[str, Any]:
    if part == "fsyncs":
        return dict(counted(command, environment, timeout))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True, timeout=timeout)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def lines(results: Sequence[dict[str, Any]], sizes: Sequence[int]) -> Iterator[str]:
    """Yield the results as a Markdown table."""
    columns = [(f"{call} at {short(size)}", f"{call}_{short(size)}") for size in sizes for call in ("add", "search")]
    columns += [(f"{call}, ten users", f"{call}_users") for call in ("add", "search")]
    yield (
        f"| CPU / clock p50, ms | {' | '.join(head for head, _ in columns)} | bulk, a second of CPU / clock "
        "| fsyncs an add | nearest ten | LoCoMo evidence @10 | bytes a memory | lacks |"
    )
    yield "|" + "---|" * (len(columns) + 7)
    for one in results:
        if "error" in one:
            yield f"| {one['name']} | NOT RUN: {one['error']} |"
            continue
        cells = [_cell(one, f"{name}_cpu_p50_ms", f"{name}_clock_p50_ms") for _, name in columns]
        cells.append(_cell(one, f"bulk_{short(sizes[0])}_per_s", f"bulk_{short(sizes[0])}_clock_per_s", form=",.0f"))
        cells.append(_cell(one, "fsyncs_an_add"))
        cells.append(" / ".join(f"{one[key]:.2f}" for key in one if key.startswith("nearest_ten")))
        cells += [_cell(one, "locomo_recall_10"), _cell(one, "bytes_a_memory", form=",.0f")]
        yield f"| {one['name']} {one['version']} | {' | '.join(cells)} | {', '.join(one['lacks']) or '-'} |"
        for part, why in one.get("not_run", {}).items():
            yield f"| {one['name']}: {part} | NOT RUN: {why} |"
    for name, why in NOT_RACED.items():
        yield f"| {name} | NOT RACED: it {why} |"


def _cell(figures: dict[str, Any], *names: str, form: str = ".2f") -> str:
    return " / ".join(format(figures[name], form) for name in names if name in figures) or "-"


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000", help="memories that are there before, by commas")
    parser.add_argument("--repeats", type=int, default=100, help="timed calls of each kind (100)")
    parser.add_argument("--only", nargs="*", default=NAMES, choices=NAMES, help="contestants (all)")
    parser.add_argument("--parts", nargs="*", default=PARTS, choices=PARTS, help="what is measured (all)")
    parser.add_argument("--users-of", type=int, default=1000, help="memories of each of the ten users (1000)")
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo"), help="where LoCoMo is")
    parser.add_argument(
        "--conversations", type=int, default=10, help="conversations of LoCoMo that are asked about (10)"
    )
    parser.add_argument("--minutes", type=float, default=30, help="longest time of one part of one contestant (30)")
    parser.add_argument("--json", type=Path, help="where to leave the figures; - for the output alone")
    parser.add_argument("--vectors", type=Path, default=Path("build/peers/vectors"), help="where vectors are kept")
    parser.add_argument("--one", choices=NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--part", choices=PARTS, default="sizes", help=argparse.SUPPRESS)
    parser.add_argument("--marks", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.sizes = sorted(map(int, given.sizes.split(",")))
    return given


def main() -> int:
    """Run the race and print it; 1 where a contestant did not run."""
    given = _asked()
    if given.one:
        try:
            figures = part_of(given)
        except (ImportError, PackageNotFoundError) as missing:
            sys.exit(f"not installed: {missing}")
        print(json.dumps(figures))
        return 0
    before = conditions(seed=SEED, file_system=file_system(Path.cwd()), rows=given.sizes[-1], repeats=given.repeats)
    results = []
    for name in given.only:
        print(f"{name} ...", file=sys.stderr, flush=True)
        results.append(apart(name, given))
    told = {one["name"]: one for one in results} | {"conditions": before, "not_raced": NOT_RACED}
    if given.json and str(given.json) == "-":
        print(json.dumps(told, indent=2))
    else:
        print(f"{before['measured_at']}, load {before['machine']['load_1min']} to {load()}\n")
        print("\n".join(lines(results, given.sizes)))
        if given.json:
            given.json.write_text(json.dumps(told, indent=2), encoding="utf-8")
    return int(any("error" in one for one in results))


if __name__ == "__main__":
    sys.exit(main())
