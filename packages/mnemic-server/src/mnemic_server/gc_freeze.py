"""Exempts long-lived objects of a service from repeated garbage collection.

A full collection over modules, models and the application takes a fifth of a second, in which no request is answered,
and a body of many small values triggers one.
"""

from __future__ import annotations

import gc

SEARCHES = 2
"""Number of further full collections after which the survivors are frozen as well: the first requests load the modules
they need, above all the embedder.
"""


def keep_what_lasts() -> None:
    """Freeze the current objects, and the survivors of the next two full collections."""
    gc.collect()
    gc.freeze()
    _Freezing(SEARCHES).begin()


class _Freezing:
    def __init__(self, left: int) -> None:
        self._left = left

    def begin(self) -> None:
        gc.callbacks.append(self)

    def __call__(self, phase: str, fields: dict[str, int]) -> None:
        if phase != "stop" or fields["generation"] != 2:
            return
        gc.freeze()
        self._left -= 1
        if not self._left:
            gc.callbacks.remove(self)
