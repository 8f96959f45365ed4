"""Exempts what a service keeps as long as it runs from repeated garbage collection.

A search of everything (modules, models, the parts of the application) takes a fifth of a second, in which nobody is
answered; and whoever sends a body of many small values brings one about.
"""

from __future__ import annotations

import gc

SEARCHES = 2
"""Further searches, among everything, that end so: the first ones load what they need, above all the embedder."""


def keep_what_lasts() -> None:
    """Take what there is now, and what is left by the next two searches of everything, out of those that follow."""
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
