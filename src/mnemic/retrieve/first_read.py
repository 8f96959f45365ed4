"""First read of a search: what its user decided, the speakers, and the lists that need no vector, all as of one moment.

A trip to the store costs a search more than most of its lists, so there is one before the vectors of the query arrive,
and one after that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import cast

from mnemic.ports import RecordStore, Snapshot
from mnemic.ports.record_store import Marks
from mnemic.retrieve.graph_neighbourhood import Walk
from mnemic.retrieve.search_state import Decisions, Lists, ParsedSearch, SearchRequest

FirstLists = tuple[Lists, Walk | None]
"""The lists that need no vector, and the graph neighbourhood of entities in the query."""


ReadDecisions = Callable[[Marks], Awaitable[Decisions]]
"""Reader of the decisions; it may await only the marks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstRead:
    """Result of the first read. `search` with its `lists` is None unless these are the speakers for whom it was
    parsed.
    """

    decisions: Decisions
    speakers: frozenset[str]
    search: ParsedSearch | None = None
    lists: FirstLists | None = None


async def decisions_now(read: ReadDecisions | None, marks: Marks) -> Decisions:
    """Return the decisions as of the marks; none without a reader of them."""
    return Decisions() if read is None else await read(marks)


async def first_read(
    store: RecordStore,
    request: SearchRequest,
    search: ParsedSearch | None,
    guess: frozenset[str] | None,
    decisions: ReadDecisions | None,
    lists: Callable[[ParsedSearch, Snapshot], Awaitable[FirstLists]],
) -> FirstRead:
    """Return the fields of `FirstRead`. `search` is the request, parsed for the speakers `guess`. Past states
    (`request.known_at`) are another read. Raises MnemicError.
    """
    within = store.capabilities.reads_marks
    before = Decisions() if within else await decisions_now(decisions, store)

    async def once(snapshot: Snapshot) -> FirstRead:
        # Speakers first: a store may know from the scopes that the marks have not changed.
        speakers = await snapshot.speakers(request.where)
        decided = await decisions_now(decisions, cast("Marks", snapshot)) if within else before
        if search is None or speakers != guess or request.known_at is not None:
            return FirstRead(decisions=decided, speakers=speakers)
        # A store may run this again: failures of an abandoned try are not noted.
        tried = replace(search.under(decided), errors={}, failures=[])
        return FirstRead(decisions=decided, speakers=speakers, search=tried, lists=await lists(tried, snapshot))

    return await store.read(once)
