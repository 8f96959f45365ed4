"""Cache of answers: the rows of its tenant that a write reads stay the same until the tenant's marks change."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from mnemic.stores.cassandra.routing import Partition
from mnemic.stores.row_store_adapter.tables import MARK, REQUEST

REPEATED = frozenset({MARK, REQUEST})
"""Tables from which one write reads the same rows more than once."""

KEPT_SECONDS = 10.0
"""Seconds for which an answer is used. It is correct while its partition has the same version; the limit is for an
answer that lacked a row, as may happen for a moment while nodes join or leave.
"""

_MOST = 4096
_MOST_SINGLES = 2
_MAX_BYTES = 4096
"""Maximum bytes of a cached answer: those that a write needs are short."""

Question = tuple[Partition, int, tuple[Any, ...]]
"""A partition, its version, and the query."""

Answer = list[tuple[bytes, bytes]]
"""Keys and rows."""


class Answers:
    """LRU cache of short answers, each about one version of a partition. Rows change with the version only, so if the
    version was read again, the cached answer equals that of the servers.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._singles: OrderedDict[Partition, dict[bytes, None]] = OrderedDict()
        self._known: OrderedDict[Question, tuple[float, Answer]] = OrderedDict()

    def note_single(self, home: Partition, key: bytes) -> None:
        """Note that a write asks for this one row."""
        asked = self._singles.setdefault(home, {})
        asked[key] = None
        while len(asked) > _MOST_SINGLES:
            del asked[next(iter(asked))]
        self._singles.move_to_end(home)
        while len(self._singles) > _MOST:
            self._singles.popitem(last=False)

    def singles(self, home: Partition) -> list[bytes]:
        """Return the keys of rows that writes have asked for one by one: the next one asks for them, too."""
        return list(self._singles.get(home, ()))

    def find(self, question: Question) -> Answer | None:
        """Return the cached answer, if there is one."""
        at, answer = self._known.get(question, (-KEPT_SECONDS, []))
        return answer if self._clock() - at < KEPT_SECONDS else None

    def keep(self, answers: Mapping[Question, Answer]) -> None:
        """Cache answers if their partitions had the same version afterwards: an empty answer does not name its version.
        A cached one retains its time.
        """
        now = self._clock()
        for question, answer in answers.items():
            if self.find(question) is None and sum(len(key) + len(row) for key, row in answer) <= _MAX_BYTES:
                self._known[question] = now, answer
            if question in self._known:
                self._known.move_to_end(question)
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
