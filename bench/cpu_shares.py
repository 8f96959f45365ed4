"""Shares of the processors for the nodes of a cluster that run on one machine, by control groups of Linux."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_TIMES = 8
"""The share of a group over that of other work on the machine."""
STARTING = 2.0
"""The same of a group that starts: Java needs some 20 seconds of processor, of which other machines see nothing."""
BESIDE = 1.0
"""The same of a group that is to leave the others as much as it takes."""


class Shares:
    """Equal shares for groups of processes: nodes that have a machine each cannot take each other's processors, as the
    compiler of a starting one does where they share them. `close` removes the groups. Needs root.
    """

    def __init__(self) -> None:
        self._made: list[Path] = []

    @staticmethod
    def at_hand() -> bool:
        """Check whether this machine lets us make such groups."""
        return os.geteuid() == 0 and _controller() is not None

    def put(self, name: str, process: int) -> None:
        """Put a process into the group of this name, which is made where it is missing."""
        group = _group(name)
        if group not in self._made:
            group.mkdir()
            self._made.append(group)
            _weigh(group, _TIMES)
        (group / "cgroup.procs").write_text(str(process))

    def weigh(self, name: str, times: float | None = None) -> None:
        """Give a group so many times the share of other work, or again that of its like."""
        _weigh(_group(name), _TIMES if times is None else times)

    def close(self) -> None:
        """Remove the groups, whose processes have ended."""
        for group in self._made:
            with suppress(OSError):  # a process that is still ending keeps its group, which does no harm
                group.rmdir()
        self._made.clear()


def _group(name: str) -> Path:
    controller = _controller()
    assert controller is not None
    return controller / f"mnemic-{os.getpid()}-{name}"


def _weigh(group: Path, times: float) -> None:
    """Set the share of a group. The default of version 1 is 1024, that of version 2 is 100."""
    weight = group / "cpu.weight"
    if weight.exists():
        weight.write_text(str(int(100 * times)))
    else:
        (group / "cpu.shares").write_text(str(int(1024 * times)))


def _controller() -> Path | None:
    """Return where groups with shares of the processors are made; None where they cannot be."""
    if (_ROOT / "cpu" / "cpu.shares").exists() or (_ROOT / "cpu" / "cgroup.procs").exists():
        return _ROOT / "cpu"
    enabled = _ROOT / "cgroup.subtree_control"
    return _ROOT if enabled.exists() and "cpu" in enabled.read_text().split() else None
