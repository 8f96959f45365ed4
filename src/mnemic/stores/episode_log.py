"""Episodes as JSON lines in a folder: a log that any program reads, fed from the outbox and rebuilt on request.

Each line is one version of an episodic memory. Lines are appended and reach the disk before the outbox forgets the
work; a file that is full is followed by the next one. Only content that must not be read any more is removed, by
rewriting the files that contain it.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from pathlib import Path
from typing import Any, TypeVar

from mnemic.errors import InvalidConfig, StoreCorrupt, StoreFull, StoreUnavailable
from mnemic.stores.codec import dump, load
from mnemic.types import Change, Kind, Memory

T = TypeVar("T")
_Place = tuple[str, str]
"""Tenant and memory_id."""

MAX_FILE_BYTES = 16 * 1024 * 1024
"""A file that is larger gets no more lines."""

_NAME, _FILES = "episodes-{number:06}.jsonl", "episodes-*.jsonl"


class EpisodeLog:
    """A `Projection` into the folder at `path`, which is created with the first line. Any number of processes may share
    it; a lock file serialises them.

    A version that exists is not written again. A memory that is removed, superseded or expired leaves no trace in any
    file. Raises InvalidConfig for a path that is not a folder.
    """

    name = "episode_log"

    def __init__(self, path: str | Path, *, max_bytes: int = MAX_FILE_BYTES) -> None:
        self._folder = Path(path).absolute()
        if self._folder.exists() and not self._folder.is_dir():
            raise InvalidConfig("copy", hint="jsonl:///path names a folder")
        self._max_bytes = max_bytes
        self._files: dict[Path, _File] = {}
        self._turn = threading.Lock()

    async def apply(self, changes: Sequence[Change]) -> None:
        """Append new episodes, and remove those that may no longer be read. Other kinds than `episodic` are skipped."""
        shown = [change for change in changes if change.memory is None or change.memory.kind is Kind.EPISODIC]
        if shown:
            await asyncio.to_thread(self._run_locked, lambda: self._apply_changes(shown))

    async def clear(self, tenant: str) -> None:
        """Take out every line of the tenant."""
        await asyncio.to_thread(self._run_locked, lambda: self._remove_places(self._places_of_tenant(tenant)))

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        """Return the number of lines that the files have of these memories."""
        wanted = {(tenant, memory_id) for memory_id in memory_ids}
        return await asyncio.to_thread(self._run_locked, lambda: sum(place in wanted for place in self._lines()))

    async def close(self) -> None:
        """Do nothing: no file stays open."""

    # -- under the lock ------------------------------------------------------------------------------------------------

    def _run_locked(self, work: Callable[[], T]) -> T:
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            # `flock` serialises processes but not the threads of one process, so both locks are needed.
            with self._turn, (self._folder / ".lock").open("ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._look()
                return work()
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise (StoreFull if full else StoreUnavailable)(self.name, hint=os.strerror(error.errno or 0)) from error

    def _look(self) -> None:
        """Read the lines that other processes have written since the last call, and drop those that they removed."""
        found = sorted(self._folder.glob(_FILES))
        self._files = {path: self._files.get(path) or _File(path) for path in found}
        for file in self._files.values():
            file.look()

    def _apply_changes(self, changes: Sequence[Change]) -> None:
        gone = {(change.entry.scope.tenant, change.entry.memory_id) for change in changes if change.shown is None}
        self._remove_places(gone)
        shown = [change.shown for change in changes if change.shown is not None]
        # Entries may be delivered twice and out of order: only a newer version is appended.
        new = [memory for memory in shown if self._version(_place(memory)) < memory.version]
        if new:
            self._last().append([_line(memory) for memory in new])

    def _last(self) -> _File:
        """Return the file that new lines go to."""
        files = list(self._files.values())
        if files and files[-1].size < self._max_bytes:
            return files[-1]
        # One more than the last, not the count: files may have been removed.
        number = int(files[-1].path.stem.rpartition("-")[2]) + 1 if files else 1
        path = self._folder / _NAME.format(number=number)
        path.touch(mode=0o600)
        _settle(self._folder)
        return self._files.setdefault(path, _File(path))

    def _version(self, place: _Place) -> int:
        """Return the last version of the memory that was written, 0 for none."""
        return max((file.seen.get(place, 0) for file in self._files.values()), default=0)

    def _places_of_tenant(self, tenant: str) -> set[_Place]:
        return {place for file in self._files.values() for place in file.seen if place[0] == tenant}

    def _remove_places(self, gone: Set[_Place]) -> None:
        for file in self._files.values():
            if not file.seen.keys().isdisjoint(gone):
                file.rewrite(gone)

    def _lines(self) -> Iterator[_Place]:
        return (place for file in self._files.values() for place, _ in _line_places(file.path.read_bytes()))


class _File:
    """One file of the log, and the last version of each memory in its first `size` bytes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.seen: dict[_Place, int] = {}
        self._inode = 0

    def look(self) -> None:
        """Read new lines. A line truncated by a crash is cut off: its entry is delivered again."""
        state = self.path.stat()
        # Rewritten by another process: everything read so far is obsolete.
        if state.st_ino != self._inode or state.st_size < self.size:
            self.size, self.seen, self._inode = 0, {}, state.st_ino
        if state.st_size == self.size:
            return
        with self.path.open("r+b") as file:
            file.seek(self.size)
            text = file.read()
            whole = text[: text.rfind(b"\n") + 1]
            if len(whole) < len(text):
                file.truncate(self.size + len(whole))
        self.seen.update(_line_places(whole))
        self.size += len(whole)

    def append(self, lines: Sequence[bytes]) -> None:
        """Append the lines and sync them to the disk."""
        with self.path.open("ab") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        self.look()

    def rewrite(self, gone: Set[_Place]) -> None:
        """Rewrite the file without the lines of these memories; after a crash the old file or the new one exists. The
        old content is overwritten.
        """
        part = self.path.with_suffix(".part")
        kept = [
            line for line in self.path.read_bytes().splitlines(keepends=True) if next(_line_places(line))[0] not in gone
        ]
        with part.open("wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(b"".join(kept))
            file.flush()
            os.fsync(file.fileno())
        with self.path.open("r+b") as old:
            # The old file is still open, so its bytes can be overwritten after the new one is in place.
            part.replace(self.path)
            _settle(self.path.parent)
            old.write(bytes(self.size))
            old.flush()
            os.fsync(old.fileno())
        self.look()


def _line(memory: Memory) -> bytes:
    scope, source = memory.scope, memory.source
    fields: dict[str, Any] = {
        "memory_id": memory.memory_id,
        "version": memory.version,
        "tenant": scope.tenant,
        "level": scope.level.value,
        "owner": scope.owner,
        "happened_at": memory.happened_at.isoformat(),
        "category": memory.category,
        "content": memory.content,
        "data": memory.data,
        "session": source.session,
        "speaker": source.speaker,
    }
    return dump({name: value for name, value in fields.items() if value is not None}, "memory").encode() + b"\n"


def _place(memory: Memory) -> _Place:
    return memory.scope.tenant, memory.memory_id


def _line_places(text: bytes) -> Iterator[tuple[_Place, int]]:
    """Place and version of every line."""
    for line in text.splitlines():
        try:
            entry: Any = load(line.decode())
            yield (entry["tenant"], entry["memory_id"]), entry["version"]
        except (ValueError, KeyError, TypeError) as error:
            raise StoreCorrupt("episode_log", hint="a line is no episode; rebuild the log in another folder") from error


def _settle(folder: Path) -> None:
    """Sync the folder, so that the names of its files are durable."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
