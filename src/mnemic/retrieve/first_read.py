"""First read of a search: the keys of which nothing may be found, the speakers, and the lists that need no vector, all
as of one moment.

A trip to the store costs a search more than most of its lists, so there is one before the vectors of the query arrive,
and one after that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import cast

from mnemic.ports import RecordStore, Snapshot
from mnemic.ports.optional_capabilities import Marks
from mnemic.retrieve.graph_neighbourhood import Walk
from mnemic.retrieve.search_state import Lists, ParsedSearch, SearchRequest

FirstLists = tuple[Lists, Walk | None]
"""The lists that need no vector, and the graph neighbourhood of entities in the query."""


Hidden = Callable[[Marks], Awaitable[frozenset[str]]]
"""Reader of the keys that no search may find; it may await only the marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRead:
    """Result of the first read. `search` with its `lists` is None unless these are the speakers for whom it was
    parsed.
    """

    hidden: frozenset[str] | None
    speakers: frozenset[str]
    search: ParsedSearch | None = None
    lists: FirstLists | None = None


async def hidden_now(hidden: Hidden | None, marks: Marks) -> frozenset[str] | None:
    """Return the keys of which nothing may be found; None without a reader of them."""
    return None if hidden is None else await hidden(marks)


async def first_read(
    store: RecordStore,
    request: SearchRequest,
    search: ParsedSearch | None,
    guess: frozenset[str] | None,
    hidden: Hidden | None,
    lists: Callable[[ParsedSearch, Snapshot], Awaitable[FirstLists]],
) -> FirstRead:
    """Return the fields of `FirstRead`. `search` is the request, parsed for the speakers `guess`. Past states
    (`request.known_at`) are another read. Raises MnemicError.
    """
    within = store.capabilities.reads_marks
    before = None if within else await hidden_now(hidden, store)

    async def once(snapshot: Snapshot) -> FirstRead:
        # Speakers first: a store may know from the scopes that the marks have not changed.
        speakers = await snapshot.speakers(request.where)
        keys = await hidden_now(hidden, cast("Marks", snapshot)) if within else before
        if search is None or speakers != guess or request.known_at is not None:
            return FirstRead(hidden=keys, speakers=speakers)
        # A store may run this again: failures of an abandoned try are not noted.
        tried = replace(search.without_keys(keys), errors={}, failures=[])
        return FirstRead(hidden=keys, speakers=speakers, search=tried, lists=await lists(tried, snapshot))

    return await store.read(once)
