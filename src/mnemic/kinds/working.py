"""Working memory: scratch values of one task, in this process, gone when the task ends."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mnemic.errors import InvalidInput

MAX_ENTRIES = 1024


class WorkingMemory:
    """Values by key for the current task.

    Thread-safe. Values are copied on the way in and out, so that they cannot be changed from outside. At most 1,024
    entries; one more raises InvalidInput (`invalid_input:working:full`).
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._lock = threading.Lock()

    def set(self, key: str, value: Any) -> None:
        """Store `value` under `key`, replacing the previous one."""
        if not isinstance(key, str) or not key.strip():
            raise InvalidInput("working:key")
        kept = copy.deepcopy(value)
        with self._lock:
            if key not in self._values and len(self._values) >= MAX_ENTRIES:
                raise InvalidInput("working:full", hint=f"at most {MAX_ENTRIES} entries")
            self._values[key] = kept

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value under `key`, or `default` if there is none; `key in memory` distinguishes a stored None."""
        with self._lock:
            return copy.deepcopy(self._values.get(key, default))

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._values

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of everything, oldest first."""
        with self._lock:
            return copy.deepcopy(self._values)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()

    def __len__(self) -> int:
        return len(self._values)

    @contextmanager
    def task(self) -> Iterator[WorkingMemory]:
        """Yield the memory of one task: empty at its start and, however the task ends, empty again."""
        self.clear()
        try:
            yield self
        finally:
            self.clear()
