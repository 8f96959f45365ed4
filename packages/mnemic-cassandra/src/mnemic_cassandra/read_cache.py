"""Cache of answers: what a write reads of its tenant stays the same until the tenant's marks change."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from mnemic_cassandra.routing import Partition
from mnemic_stores.row_store_adapter.tables import MARK, REQUEST

REPEATED = frozenset({MARK, REQUEST})
"""Tables of which one write reads the same rows more than once."""

KEPT_SECONDS = 10.0
"""Seconds for which an answer is used. It is right for as long as its partition has the same version; the end is for an
answer that lacked a row, as one may for a moment while nodes join or leave.
"""

_MOST = 4096
_MAX_BYTES = 4096
"""Bytes of an answer that is kept: those that a write asks for are short."""

Question = tuple[Partition, int, tuple[Any, ...]]
"""A partition, its version, and what is asked of it."""

Answer = list[tuple[bytes, bytes]]
"""Keys and rows."""


class Answers:
    """LRU cache of short answers, each about one version of a partition. Rows change with the version only, so where
    the version was read again, the answer is what the servers would say.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: OrderedDict[Question, tuple[float, Answer]] = OrderedDict()

    def find(self, question: Question) -> Answer | None:
        """Return the cached answer, if there is one."""
        at, answer = self._known.get(question, (-KEPT_SECONDS, []))
        return answer if self._clock() - at < KEPT_SECONDS else None

    def keep(self, answers: Mapping[Question, Answer]) -> None:
        """Keep answers whose partitions had the same version after they were given: an empty one does not say of which
        version it is. One that is known keeps its time.
        """
        now = self._clock()
        for question, answer in answers.items():
            if self.find(question) is None and sum(len(key) + len(row) for key, row in answer) <= _MAX_BYTES:
                self._known[question] = now, answer
            if question in self._known:
                self._known.move_to_end(question)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
