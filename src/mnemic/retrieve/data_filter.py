"""Memories whose data meets a filter, found before anything is ranked, so that no list is filled by others.

The filter is judged by the process, for every memory of the scopes that are asked, and not by the database: data may be
sealed, and a value never becomes query text. A store that reports the changes of a scope (`mnemic.ports.ChangeFeed`) is
asked for those only: memories are read once, and a repeated filter is evaluated for the changes only. With any other
store every filter reads every memory.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.ports import ChangeFeed, ScopeChanges, Snapshot
from mnemic.types import Memory, Scope, Status, Where
from mnemic.types.filter_language import checked_filter, meets

MAX_INDEXED = 1_000_000
"""Maximum number of memories, over all scopes, with cached data; the least recently used scope is evicted."""
MAX_FILTERS = 16
"""Maximum number of filters per scope with cached results."""
_NOTHING: Mapping[str, Any] = {}


@dataclass(slots=True)
class ScopeData:
    """Data of the memories of one scope, of any status, as of the change `seen`."""

    seen: int = 0
    data: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    answers: OrderedDict[str, tuple[Mapping[str, Any], set[str]]] = field(default_factory=OrderedDict)

    def take(self, changed: ScopeChanges) -> None:
        """Apply the changes of the scope."""
        if changed.kept is not None:
            for gone in self.data.keys() - changed.kept:
                del self.data[gone]
                for _, found in self.answers.values():
                    found.discard(gone)
        for memory_id, data in changed.data.items():
            self.data[memory_id] = data or _NOTHING
            for wanted, found in self.answers.values():
                (found.add if meets(data, wanted) else found.discard)(memory_id)
        self.seen = changed.seen

    def meeting(self, name: str, wanted: Mapping[str, Any]) -> frozenset[str]:
        """Return the ids of the memories that meet the filter; `name` is its cache key."""
        if name not in self.answers:
            # Most memories have no data: the filter is evaluated once for all of them.
            bare = meets(_NOTHING, wanted)
            found = {one for one, data in self.data.items() if (meets(data, wanted) if data else bare)}
            self.answers[name] = (wanted, found)
            while len(self.answers) > MAX_FILTERS:
                self.answers.popitem(last=False)
        self.answers.move_to_end(name)
        return frozenset(self.answers[name][1])


class DataIndex:
    """The data of every scope that was filtered. Used from any thread."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[Scope, ScopeData] = OrderedDict()
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Drop everything cached."""
        with self._lock:
            self._scopes.clear()

    async def filter_ids(self, snapshot: Snapshot, where: Where, data: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the ids of the memories of the scopes with data that meets the filter, of any status; None if the
        store does not report changes.
        """
        if not isinstance(snapshot, ChangeFeed):
            return None
        name, found = _filter_name(data), frozenset[str]()
        for scope in dict.fromkeys(where.scopes):
            found |= await self._meeting(snapshot, scope, name, data)
        return found

    async def _meeting(self, moment: ChangeFeed, scope: Scope, name: str, data: Mapping[str, Any]) -> frozenset[str]:
        # Optimistic: changes are read without the lock, and again if another thread applied some meanwhile.
        while True:
            with self._lock:
                known = self._scopes.setdefault(scope, ScopeData())
                self._scopes.move_to_end(scope)
                seen = known.seen
            changed = await moment.changes_since(scope, seen)
            with self._lock:
                if known.seen == seen:
                    if changed.seen > seen:
                        known.take(changed)
                        self._drop()
                    return known.meeting(name, data)

    def _drop(self) -> None:
        while len(self._scopes) > 1 and sum(len(one.data) for one in self._scopes.values()) > MAX_INDEXED:
            self._scopes.popitem(last=False)


def _filter_name(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, default=dict)


PAGE = 500
"""Memories that are read at a time."""


async def meeting(
    snapshot: Snapshot, where: Where, data: Mapping[str, Any], *, before: str | None = None
) -> AsyncIterator[Memory]:
    """Yield the memories that `where` accepts and the filter on data, too, newest first, from after the memory_id
    `before`.
    """
    while page := await snapshot.newest(where, limit=PAGE, before=before):
        for memory in page:
            if meets(memory.data, data):
                yield memory
        before = page[-1].memory_id


async def filter_ids(
    snapshot: Snapshot, where: Where, data: Mapping[str, Any], *, index: DataIndex | None = None
) -> frozenset[str]:
    """Return the ids of the memories that meet the filter, current or superseded: `where` selects among them for each
    list. Memories that `index` knows are not read.
    """
    narrowed = None if index is None else await index.filter_ids(snapshot, where, data)
    if narrowed is not None:
        return narrowed
    any_time = replace(where, statuses=frozenset(Status), as_of=None)
    return frozenset([memory.memory_id async for memory in meeting(snapshot, any_time, data)])


async def first_meeting(
    snapshot: Snapshot,
    where: Where,
    data: Mapping[str, Any],
    *,
    limit: int,
    before: str | None = None,
    index: DataIndex | None = None,
) -> list[Memory]:
    """Return the first `limit` of `meeting`. Raises InvalidInput (`where`, `operator`) for an invalid filter."""
    found: list[Memory] = []
    data = checked_filter(data) or {}
    within = None if limit <= 0 else await _indexed_filter(snapshot, where, data, index)
    if within is not None:
        return await snapshot.newest(within, limit=limit, before=before)
    if limit > 0:
        async for memory in meeting(snapshot, where, data, before=before):
            found.append(memory)
            if len(found) == limit:
                break
    return found


async def count_meeting(
    snapshot: Snapshot, where: Where, data: Mapping[str, Any], *, index: DataIndex | None = None
) -> int:
    """Return the number of memories that `meeting` would yield. Raises InvalidInput (`where`, `operator`) for an
    invalid filter.
    """
    data = checked_filter(data) or {}
    within = await _indexed_filter(snapshot, where, data, index)
    if within is not None:
        return await snapshot.count(within)
    return len([True async for _ in meeting(snapshot, where, data)])


async def _indexed_filter(
    snapshot: Snapshot, where: Where, data: Mapping[str, Any], index: DataIndex | None
) -> Where | None:
    """Return the filter for the memories among `where` whose data meets `data`, by the index; None if the index cannot
    decide.
    """
    narrowed = None if index is None else await index.filter_ids(snapshot, where, data)
    if narrowed is None:
        return None
    return where.among(narrowed)
