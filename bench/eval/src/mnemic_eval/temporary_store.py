"""Temporary store of a measurement: a new file, or a new database on a server, removed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mnemic.bootstrap.stores import postgres_dsn
from mnemic.errors import InvalidConfig
from mnemic.plugins.extras import brought_by
from mnemic_eval.commit_floor import bare_commits

Commits = Callable[[Sequence[tuple[str, bytes]]], list[float]]


@dataclass(frozen=True, slots=True)
class Place:
    """Address of a store, its size in bytes, and the seconds of a bare row and commit there."""

    location: str
    size: Callable[[], int]
    commits: Commits


@contextmanager
def place(folder: Path, server: str | None, durability: str) -> Iterator[Place]:
    """Yield a file in `folder`, or with `server` (a `postgresql://` address) a database there.

    Raises InvalidConfig for another address, StoreUnavailable.
    """
    if server is None:
        file = folder / "bench.db"
        commits = partial(bare_commits, folder / "floor.db", durability=durability)
        yield Place(str(file), partial(_size, file), commits)
        return
    dsn = postgres_dsn(server)
    if dsn is None:
        raise InvalidConfig("store", hint="a file is measured without an address; a server by postgresql://...")
    with brought_by("postgres"):
        from mnemic_eval.temporary_database import ScratchDatabase

    with ScratchDatabase(dsn) as scratch:
        yield Place(scratch.location, scratch.size, partial(scratch.bare_commits, durability=durability))


def _size(file: Path) -> int:
    return sum(each.stat().st_size for each in file.parent.glob(f"{file.name}*"))
