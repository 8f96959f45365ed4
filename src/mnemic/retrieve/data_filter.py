"""Memories whose data meets a filter, found before anything is ranked, so that no list is filled by others.

The filter is judged by the process, for every memory of the scopes that are asked, and not by the database: data may be
sealed, and a value never becomes query text.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

from mnemic.ports import Snapshot
from mnemic.retrieve.data_index import DataIndex
from mnemic.types import Memory, Status, Where
from mnemic.types.filter_language import checked_filter, meets

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
