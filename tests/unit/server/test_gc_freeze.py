"""What lasts is taken out of the search for garbage: now, and twice more."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from mnemic_server.gc_freeze import SEARCHES, keep_what_lasts


@pytest.fixture(autouse=True)
def thawed() -> Iterator[None]:
    before = [*gc.callbacks]
    yield
    gc.callbacks[:] = before
    gc.unfreeze()


def test_what_there_is_is_kept() -> None:
    keep_what_lasts()
    assert gc.get_freeze_count() > 1_000
    assert len(gc.get_objects()) < 1_000


def test_what_is_loaded_later_is_kept_too_but_not_for_ever() -> None:
    keep_what_lasts()
    lasting, kept = [], []
    for _ in range(SEARCHES + 1):
        lasting.append(_Ring())
        gc.collect()
        kept.append(all(one is not lasting[-1] for one in gc.get_objects()))
    assert kept == [True] * SEARCHES + [False], "the last is searched for garbage again"


class _Ring:
    def __init__(self) -> None:
        self.itself = self


def test_what_is_dropped_later_is_still_found() -> None:
    keep_what_lasts()
    ring = weakref.ref(_Ring())
    assert ring() is not None
    gc.collect()
    assert ring() is None
