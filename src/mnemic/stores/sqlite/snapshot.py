"""Reads of the file as of one moment, on one thread: a few statements and searches, none of which blocks."""

from __future__ import annotations

import heapq
import itertools
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.errors import SpaceMismatch, StoreCorrupt
from mnemic.language.text.analyse import parse_query
from mnemic.stores.codec import checked_vector, dump, earlier, to_micros, with_id
from mnemic.stores.encryption import SearchData
from mnemic.stores.in_memory_reads import snapshot_known_at
from mnemic.stores.scope_index import Quoted
from mnemic.stores.sqlite.rows import (
    BY_FINGERPRINT,
    GET_MANY,
    MEMORY,
    SOURCES,
    Rows,
    ScopeState,
    fetch,
    find_place,
    marks,
    present,
    wanted_memories,
)
from mnemic.types import Memory, Scope, Vector, VectorSpace
from mnemic.types.store_reads import ScopeChanges

if TYPE_CHECKING:
    from mnemic.ports import ScopeChanges, Snapshot
    from mnemic.stores.scope_index import ScopeIndex
    from mnemic.stores.sqlite.indexes import ScopeIndexes
    from mnemic.types import Scored, Signals, Where

ACCEPTED = """
    m.scope_id = :scope_id
    AND m.status IN (SELECT value FROM json_each(:statuses))
    AND (:kinds IS NULL OR m.kind IN (SELECT value FROM json_each(:kinds)))
    AND (:categories IS NULL OR m.category IN (SELECT value FROM json_each(:categories)))
    AND (:keys IS NULL OR m.key IN (SELECT value FROM json_each(:keys)))
    AND (m.key IS NULL OR m.key NOT IN (SELECT value FROM json_each(:hidden_keys)))
    AND (:memory_ids IS NULL OR m.memory_id IN (SELECT value FROM json_each(:memory_ids)))
    AND (:happened_from IS NULL OR m.happened_at >= :happened_from)
    AND (:happened_to IS NULL OR m.happened_at < :happened_to)
    AND (:live_at IS NULL OR m.expires_at IS NULL OR m.expires_at > :live_at)
    AND (:as_of IS NULL OR (m.began_at <= :as_of AND (m.ended_at IS NULL OR m.ended_at > :as_of)))
"""
"""`Where.accepts` for one scope, with the parameters of `filter_of`."""

_VERSIONS = """
    SELECT version, CAST(body AS BLOB), checksum FROM memory_version WHERE tenant = ? AND memory_id = ? ORDER BY version
"""
_NEWEST = (
    f"SELECT {MEMORY} FROM {SOURCES} WHERE {ACCEPTED} "  # noqa: S608
    "AND (:before IS NULL OR m.memory_id < :before) ORDER BY m.memory_id DESC LIMIT :limit"
)
# The same if the index by identifier is not in order: read from the rows themselves.
_NEWEST_ROWS = _NEWEST.replace("FROM memory m ", "FROM memory m NOT INDEXED ").replace(
    "WHERE ", "WHERE m.row_id BETWEEN :scope_id << 32 AND (:scope_id + 1 << 32) - 1 AND ", 1
)
_NEWEST_OF = f"""
    SELECT {MEMORY} FROM facet f CROSS JOIN {SOURCES}
    WHERE f.scope_id = :scope_id AND f.facet = :facet AND m.row_id = f.row_id AND {ACCEPTED}
    AND (:before IS NULL OR f.memory_id < :before)
    AND NOT EXISTS (
        SELECT 1 FROM json_each(:others) w WHERE NOT EXISTS (
            SELECT 1 FROM facet o WHERE o.row_id = m.row_id AND o.facet IN (SELECT value FROM json_each(w.value))
        )
    )
    ORDER BY f.memory_id DESC LIMIT :limit
"""  # noqa: S608
_HAVING = "SELECT count(*) FROM (SELECT 1 FROM facet WHERE scope_id = ? AND facet = ? LIMIT 1000)"
_COUNT = f"SELECT count(*) FROM memory m WHERE {ACCEPTED}"  # noqa: S608
_NAMES = "SELECT memory_id FROM memory WHERE row_id IN (SELECT value FROM json_each(?))"

_QUOTED = """
    SELECT m.row_id, m.memory_id, NULL, s.content, s.context, s.speaker, s.cues
    FROM json_each(?) w JOIN memory m ON m.row_id = w.value JOIN memory_search s ON s.row_id = w.value
"""


class SqliteSnapshot:
    """The port's `Snapshot` on a connection with an open read transaction."""

    def __init__(
        self, connection: apsw.Connection, *, indexes: Callable[[], ScopeIndexes], rows: Rows, space: VectorSpace
    ) -> None:
        self._connection = connection
        self._indexes = indexes
        self._rows = rows
        self._terms = rows.terms
        self._space = space
        self._found: dict[Scope, ScopeState | None] = {}
        self._searched: set[ScopeState] = set()

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        searched = [place for scope in scopes if (place := self._found.get(scope)) in self._searched]
        found: dict[str, Memory] = {}
        for place in searched:
            found |= self._indexes().recall_cached(place, memory_ids)
        unknown = [memory_id for memory_id in memory_ids if memory_id not in found] if found else memory_ids
        if unknown:
            rows = fetch(self._connection, GET_MANY, wanted_memories(unknown, scopes))
            read = {memory.memory_id: memory for memory in self._rows.whole(rows)}
            for place in searched:
                own = [one for one in read.values() if len(scopes) == 1 or self._found.get(one.scope) == place]
                self._indexes().keep(place, own)
            found |= read
        return {memory_id: found[memory_id] for memory_id in memory_ids if memory_id in found}

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        return self._rows.same(self._connection, BY_FINGERPRINT, scope, fingerprint)

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        rows = fetch(self._connection, GET_MANY, wanted_memories([memory_id], scopes))
        if not rows:
            return []
        current = with_id(memory_id, self._rows.read_fields(self._connection, rows[0]))
        old = fetch(self._connection, _VERSIONS, (current.scope.tenant, memory_id))
        sealer = self._rows.sealer
        return [*(earlier(sealer, body, checksum, version, current) for version, body, checksum in old), current]

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        wanted = filter_of(where) | {"before": before, "limit": max(0, limit)}
        if facets:
            return self._newest_of(where, wanted, facets, limit)
        pages = [self._newest_in(number, wanted) for number in self._numbers(where)]
        return list(heapq.merge(*pages, key=lambda memory: memory.memory_id, reverse=True))[:limit]

    def _newest_in(self, scope_id: int, wanted: dict[str, Any]) -> list[Memory]:
        """Return the newest memories of one scope: as many as wanted, even if rows between them are damaged."""
        found: list[Memory] = []
        given = wanted = wanted | {"scope_id": scope_id}
        while True:
            rows = fetch(self._connection, _NEWEST, wanted)
            whole = list(self._rows.whole(rows))
            if not _in_order(whole, wanted["before"]):
                return list(self._rows.whole(fetch(self._connection, _NEWEST_ROWS, wanted | given)))
            found += whole
            if len(whole) == len(rows) or not rows:
                return found
            ((last,),) = fetch(self._connection, "SELECT memory_id FROM memory WHERE row_id = ?", (rows[-1][0],))
            if wanted["before"] is not None and last >= wanted["before"]:
                return found  # the identifier itself is damaged: following it would loop forever
            # Damaged rows leave the page short: continue after the last row that was read, intact or not.
            wanted |= {"before": last, "limit": len(rows) - len(whole)}

    def _newest_of(
        self, where: Where, wanted: dict[str, Any], facets: Sequence[frozenset[str]], limit: int
    ) -> list[Memory]:
        """Facet by facet of the set that the fewest memories have, from the index; the others are asked row by row."""
        sets = [self._rows.facets(one) for one in facets]
        found: dict[str, Memory] = {}
        for scope_id in self._numbers(where):
            # The rarest facet drives the query: the others are checked for its rows only.
            first, *others = sorted(sets, key=partial(self._having, scope_id)) if len(sets) > 1 else sets
            wanted |= {"others": dump([sorted(one) for one in others])}
            for facet in first:
                rows = self._connection.execute(_NEWEST_OF, wanted | {"scope_id": scope_id, "facet": facet})
                found |= {memory.memory_id: memory for memory in self._rows.whole(rows)}
        return [found[memory_id] for memory_id in sorted(found, reverse=True)][: max(0, limit)]

    def _having(self, scope_id: int, facets: Iterable[int]) -> int:
        """Return the number of memories of the scope that have one of the facets, as far as it matters."""
        counts = (self._connection.execute(_HAVING, (scope_id, facet)) for facet in facets)
        return sum(count for ((count,),) in counts)

    async def count(self, where: Where) -> int:
        found = self._counted(where)
        if rows := self._rows.noted.rows:
            names = fetch(self._connection, _NAMES, (dump(sorted(rows)),))
            skipped = where.among(name for (name,) in names)
            # Those that were noted for their vector alone, or restored since, are in lists.
            found -= self._counted(skipped) - len(await self.newest(skipped, limit=len(rows)))
        return found

    def _counted(self, where: Where) -> int:
        """Return the number of rows, damaged ones included."""
        wanted = filter_of(where)
        counts = (self._connection.execute(_COUNT, wanted | {"scope_id": number}) for number in self._numbers(where))
        return sum(count for ((count,),) in counts)

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        if not present(self._connection) == self._space == (space or self._space):
            raise SpaceMismatch(hint="the vectors were made by another model; open the file with that one")
        checked_vector(vector, self._space.dimension)
        read = partial(self._indexes().read, self._connection)
        return self._rank_scopes(where, limit, lambda index: index.nearest(where, vector, limit=limit, read=read))

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        words, phrases = parse_query(query)
        wanted = [self._terms.number(word) for word in words]
        quoted = self._quoted_in([[self._terms.number(word) for word in phrase] for phrase in phrases])
        return self._rank_scopes(where, limit, lambda index: index.match(where, wanted, limit=limit, quoted=quoted))

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        return self._rank_scopes(where, limit, lambda index: index.recent(where, limit=limit))

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        found: dict[str, Signals] = {}
        for _, index in self._use_indexes(where):
            found |= index.signals(memory_ids)
        return found

    async def speakers(self, where: Where) -> frozenset[str]:
        return frozenset(name for _, index in self._use_indexes(where) for name in index.speakers())

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        """Return the marks with this prefix, as the store does."""
        return marks(self._connection, tenant, prefix, after, limit)

    async def changes_since(self, scope: Scope, seen: int) -> ScopeChanges:
        """Return the capability `ChangeFeed`: one statement if anything has changed, none otherwise."""
        return changes_since(self._connection, self._rows, scope, seen)

    async def as_known_at(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await snapshot_known_at(self, scopes, known_at, live_at, space=self._space)

    def _numbers(self, where: Where) -> list[int]:
        return [found.scope_id for found in self._places(where)]

    def _places(self, where: Where) -> list[ScopeState]:
        """Find the numbers of the scopes, each looked up once, because nothing changes within a snapshot."""
        for scope in where.scopes:
            if scope not in self._found:
                self._found[scope] = find_place(self._connection, scope)
        found = (self._found[scope] for scope in dict.fromkeys(where.scopes))
        return [one for one in found if one is not None]

    def _use_indexes(self, where: Where) -> Iterator[tuple[int, ScopeIndex]]:
        """Yield the index of each scope, one after the other, each locked while it is used."""
        for found in self._places(where):
            with self._indexes().use(self._connection, found) as index:
                self._searched.add(found)
                yield found.scope_id, index

    def _rank_scopes(self, where: Where, limit: int, search: Callable[[ScopeIndex], Iterable[Scored]]) -> list[Scored]:
        """Return the best of every scope's own list."""
        lists = [list(search(index)) for _, index in self._use_indexes(where)]
        if len(lists) == 1:
            return lists[0]
        found = (entry for entries in lists for entry in entries)
        return heapq.nlargest(limit, found, key=lambda entry: (entry.score, entry.memory_id))

    def _quoted_in(self, phrases: Sequence[Sequence[int]]) -> Quoted | None:
        if not phrases:
            return None

        def keep_rows(row_ids: Sequence[int]) -> list[bool]:
            rows = fetch(self._connection, _QUOTED, (dump(list(row_ids)),))
            found = {row_id for row_id, memory_id, *row in rows if self._contains(memory_id, SearchData(*row), phrases)}
            return [row_id in found for row_id in row_ids]

        return Quoted({term for phrase in phrases for term in phrase}, keep_rows)

    def _contains(self, memory_id: str, row: SearchData, phrases: Sequence[Sequence[int]]) -> bool:
        # Empty cues mark a sealed row.
        opened = row if row.cues else self._rows.sealer.read_search_data(memory_id, row)
        return holds_phrases(opened.content, opened.context, phrases)


def _in_order(memories: Sequence[Memory], before: str | None) -> bool:
    """Check that each entry is older than the one before: otherwise paging could loop forever."""
    said = [before, *(one.memory_id for one in memories)] if before else [one.memory_id for one in memories]
    return all(newer > older for newer, older in itertools.pairwise(said))


def filter_of(where: Where) -> dict[str, Any]:
    """Return the parameters of `ACCEPTED`; `scope_id` is added scope by scope."""
    statuses = where.statuses if where.as_of is None else where.statuses | {"superseded"}
    return {
        "statuses": _names(statuses),
        "kinds": _names(where.kinds),
        "categories": _names(where.categories),
        "keys": _names(where.keys),
        "hidden_keys": _names(where.hidden_keys),
        "memory_ids": _names(where.memory_ids),
        "happened_from": to_micros(where.happened_from),
        "happened_to": to_micros(where.happened_to),
        "live_at": to_micros(where.live_at),
        "as_of": to_micros(where.as_of),
    }


def _names(values: Iterable[str] | None) -> str | None:
    return None if values is None else dump(sorted(values))


def holds_phrases(content: bytes, context: bytes, phrases: Iterable[Sequence[int]]) -> bool:
    """Check whether every phrase occurs, word next to word, in one of the two packed texts."""
    wanted = (array("I", phrase).tobytes() for phrase in phrases)
    return all(_stands(phrase, content) or _stands(phrase, context) for phrase in wanted)


def _stands(phrase: bytes, field: bytes) -> bool:
    at = field.find(phrase)
    while at % array("I").itemsize and at != -1:
        at = field.find(phrase, at + 1)
    return at != -1


_CHANGED = "SELECT row_id, memory_id, CAST(body AS BLOB), checksum FROM memory WHERE scope_id = ? AND changed > ?"
_IDS = "SELECT memory_id FROM memory WHERE scope_id = ?"


def changes_since(connection: apsw.Connection, rows: Rows, scope: Scope, seen: int) -> ScopeChanges:
    """Return the port's `changed`: one statement if the scope has changed, none otherwise."""
    place = find_place(connection, scope)
    if place is None or place.changes <= seen:
        return ScopeChanges(seen=seen)
    data: dict[str, Mapping[str, Any]] = {}
    for row_id, memory_id, body, checksum in connection.execute(_CHANGED, (place.scope_id, seen)):
        try:
            data[memory_id] = rows.sealer.data(body, checksum, scope)
        except StoreCorrupt:
            rows.noted.note(row_id)
    kept = None
    if 0 < seen < place.removed_at:
        kept = frozenset(one for (one,) in connection.execute(_IDS, (place.scope_id,)))
    return ScopeChanges(seen=place.changes, data=data, kept=kept)
