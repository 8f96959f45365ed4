"""Detection of a fork, which copies neither threads nor locks: waiting for them would block forever."""

from __future__ import annotations

import os

from mnemic.errors import StoreUnavailable


class OneProcess:
    """The process in which something was opened."""

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def left(self) -> bool:
        """True in a process that was forked off since."""
        return os.getpid() != self._process

    def check(self) -> None:
        """Raise StoreUnavailable (`store_unavailable:forked`) in a process that was forked off since."""
        if os.getpid() != self._process:
            raise StoreUnavailable(
                "forked", hint="it was opened before the process forked: open a new one in the child"
            )
