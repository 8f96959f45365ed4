"""Cold start: new processes, timed from outside."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from mnemic_eval.progress import Progress

TIMEOUT_SECONDS = 120

_IMPORT = "import time; began = time.perf_counter(); import mnemic; print((time.perf_counter() - began) * 1000)"
_SEARCH = """
import sys, time
began = time.perf_counter()
from mnemic import MemoryManager
imported = time.perf_counter()
memory = MemoryManager(sys.argv[2], store=sys.argv[1])
opened = time.perf_counter()
hits = memory.search(sys.argv[3]).hits
found = time.perf_counter()
print(len(hits), *(1000 * (b - a) for a, b in ((began, imported), (imported, opened), (opened, found))), flush=True)
memory.close()
from pathlib import Path
status = Path("/proc/self/status")
lines = status.read_text().splitlines() if status.exists() else []
print(next((line.split()[1] for line in lines if line.startswith("VmHWM:")), 0))
"""
"""Source of the peak: the process's memory map, because a child's resource usage starts with that of its parent."""


def cold_starts(store: str, user: str, question: str, *, starts: int, progress: Progress) -> dict[str, Any]:
    """Milliseconds from the start of a process: `help_ms` (best of `starts`), `help_p50_ms`, `first_search_ms` and
    its parts.

    The first search is a program that imports the package, opens `store`, loads the model and prints what it found;
    `python_ms` is the bare interpreter, which is inside all of these. Files are warm in the page cache.
    """
    jobs: dict[str, Callable[[], list[float]]] = {
        "python": lambda: [_time_process([sys.executable, "-c", "pass"])[0]],
        "import": lambda: [float(_time_process([sys.executable, "-c", _IMPORT])[1])],
        "help": lambda: [_time_process([*_command(), "--help"])[0]],
        "search": lambda: _first_search(store, user, question),
    }
    measured: dict[str, list[list[float]]] = {name: [] for name in jobs}
    for turn in range(starts):
        for name, job in jobs.items():
            measured[name].append(job())
        progress("cold starts", turn + 1, starts)
    columns = list(zip(*measured["search"], strict=True))
    return {
        "help_ms": _best(measured["help"]),
        "help_p50_ms": _middle(measured["help"]),
        "python_ms": _middle(measured["python"]),
        "import_ms": _middle(measured["import"]),
        "first_search_ms": round(min(columns[0]), 1),
        "first_search_p50_ms": round(median(columns[0]), 1),
        "first_search_parts_ms": dict(
            zip(("import", "open", "search"), (round(median(column), 1) for column in columns[1:4]), strict=True)
        ),
        "first_search_peak_mb": round(max(columns[-1]) * 1024 / 1e6, 1),
        "starts": starts,
    }


def peak_mb() -> float:
    """Return the peak resident memory of this process in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6, 1)


def _best(rows: Sequence[Sequence[float]]) -> float:
    return round(min(row[0] for row in rows), 1)


def _middle(rows: Sequence[Sequence[float]]) -> float:
    return round(median(row[0] for row in rows), 1)


def _command() -> list[str]:
    installed = Path(sys.executable).parent / "mnemic"
    return [str(installed)] if installed.exists() else [sys.executable, "-m", "mnemic"]


def _time_process(command: Sequence[str]) -> tuple[float, str]:
    """Return the milliseconds until the process ended, and its output. Raises RuntimeError if it fails."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)  # noqa: S603
    took = 1000 * (time.perf_counter() - began)
    if done.returncode:
        raise RuntimeError(f"a measured process ended with code {done.returncode}")
    return took, done.stdout


def _first_search(store: str, user: str, question: str) -> list[float]:
    """Return the milliseconds until the first hit is printed, those of import, open and search in it, and the peak in
    KiB.
    """
    command = [sys.executable, "-c", _SEARCH, store, user, question]
    began = time.perf_counter()
    with subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=_quiet()
    ) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        took = 1000 * (time.perf_counter() - began)
        peak = child.stdout.readline()
    if child.returncode or not line:
        raise RuntimeError(f"the first search ended with code {child.returncode}")
    hits, *parts = map(float, line.split())
    if not hits:
        raise RuntimeError("the first search found nothing")
    return [took, *parts, float(peak)]


def _quiet() -> dict[str, str]:
    """Return the environment without mnemic's settings, so that no configured policy or store is measured."""
    return {name: value for name, value in os.environ.items() if not name.startswith("MNEMIC_")}
