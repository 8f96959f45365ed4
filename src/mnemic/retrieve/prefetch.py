"""What a search does ahead: the embedding starts before the store is read, by the result of the last search, and what
the user decided, the speakers, and the lists that need no vector are read before it is there, all as of one moment. A
trip to the store costs a search more than most of its lists.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from mnemic.ports import Embedder, EmbedsQueries, RecordStore, Snapshot
from mnemic.ports.record_store import Marks
from mnemic.retrieve.graph_neighbourhood import Walk
from mnemic.retrieve.search_state import Decisions, Lists, ParsedSearch, SearchRequest
from mnemic.types import Deadline, Scope, Vector, VectorSpace

MOST = 1024
"""Maximum number of sets of scopes with cached speakers."""


async def vectors_of_queries(embedder: Embedder, texts: Sequence[str], deadline: Deadline | None) -> list[Vector]:
    """Return one vector per question, as `embedder` reads questions. Raises EmbedderFailed."""
    # As `isinstance(embedder, EmbedsQueries)`, which takes as long as a list of a small scope.
    embed = cast("EmbedsQueries", embedder).embed_queries if hasattr(embedder, "embed_queries") else embedder.embed
    return await embed(texts, deadline=deadline)


class SpeakerCache:
    """Speakers in the scopes of the latest searches: a guess, which each search checks."""

    def __init__(self) -> None:
        self._speakers: dict[tuple[Scope, ...], frozenset[str]] = {}

    def last(self, scopes: tuple[Scope, ...]) -> frozenset[str] | None:
        """Return the speakers of these scopes at the last search, None if there was none."""
        return self._speakers.get(scopes)

    def forget(self) -> None:
        """Drop the cached speakers."""
        self._speakers.clear()

    def note(self, scopes: tuple[Scope, ...], speakers: frozenset[str]) -> None:
        """Cache the current speakers."""
        # Emptied as a whole: a wrong guess only costs one embedding, so an eviction order is not worth its price.
        if len(self._speakers) >= MOST:
            self.forget()
        self._speakers[scopes] = speakers


class QueryEmbedding:
    """The vectors of one search. Close it however the search ends."""

    def __init__(self, embedder: Embedder, deadline: Deadline | None) -> None:
        self._embedder = embedder
        self._deadline = deadline
        self._texts: list[str] = []
        self._made: asyncio.Future[list[Vector]] | None = None

    @property
    def space(self) -> VectorSpace:
        """The space of its vectors."""
        return self._embedder.space

    def begin(self, texts: Sequence[str]) -> None:
        """Start to embed `texts`, in place of those started before."""
        self.close()
        self._texts = list(texts)
        self._made = asyncio.ensure_future(vectors_of_queries(self._embedder, self._texts, self._deadline))

    async def vectors_of(self, texts: Sequence[str]) -> Sequence[Vector]:
        """Return the vectors of `texts`, from the embedding that was started if the texts are the same. Raises
        EmbedderFailed.
        """
        if self._made is None or self._texts != list(texts):
            self.begin(texts)
        assert self._made is not None
        return await self._made

    def close(self) -> None:
        """Cancel the pending work; failures that no caller awaits are not reported."""
        made, self._made = self._made, None
        # Reading the exception marks it as seen; asyncio would otherwise log it as never retrieved.
        if made is not None and not made.cancel() and not made.cancelled():
            made.exception()


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
