"""One search: lists, fused, lifted by signals, biased by policy, cut to the budget, with the reason for each hit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from types import MappingProxyType
from typing import TypeVar

from mnemic.errors import MnemicError
from mnemic.ports import Embedder, Loading, RecordStore, Snapshot
from mnemic.retrieve.ahead import Embedding, Spoken
from mnemic.retrieve.anchor import Anchor, anchor_of, anchored
from mnemic.retrieve.bias import STANDING, Bias, find_biased, in_order
from mnemic.retrieve.clause import Clause, clause_of
from mnemic.retrieve.diversity import Entry, spread
from mnemic.retrieve.effective import plan_of, with_anchor
from mnemic.retrieve.fuse import Weights, either, fuse, longer, ranks_of
from mnemic.retrieve.importance import IMPORTANCE, contenders, importance_ranks, weighed
from mnemic.retrieve.lists import EARLY_LISTS, LATE_LISTS, PART_LISTS, STANDING_LISTS, RankedList
from mnemic.retrieve.named import Naming
from mnemic.retrieve.parts import parts_of
from mnemic.retrieve.period import READ
from mnemic.retrieve.question import Question, read_question
from mnemic.retrieve.relevance import relevance
from mnemic.retrieve.signals import SignalWeights, with_signals
from mnemic.retrieve.surroundings import GRAPH, Reached, Surroundings, Walk, around
from mnemic.types import Deadline, Hit, Memory, Scored, SearchResult, Signals, Vector, Where

MAX_TOP_K = 100
MAX_QUERY_CHARS = 8192

T = TypeVar("T")
Lists = dict[str, Sequence[Scored]]
_Read = tuple[Question, tuple[Question, ...], Clause | None, Question | None]
Hidden = Callable[[], Awaitable[frozenset[str]]]
NO_SIGNALS: Mapping[str, Signals] = MappingProxyType({})
NO_MEMORIES: Mapping[str, Memory] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """One search on its way. `event`: the words of `clause`. `errors` collects what failed: `name: reason`, `reached`
    what the query names and what is near to it.
    """

    where: Where
    question: Question
    parts: tuple[Question, ...]
    clause: Clause | None
    event: Question | None
    top_k: int
    bias: Bias
    min_score: float
    named: bool
    known_at: datetime | None
    errors: dict[str, str] = field(default_factory=dict)
    failures: list[MnemicError] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)

    @property
    def asked(self) -> tuple[Question, ...]:
        """All that is embedded: the question, its parts, the event."""
        return (self.question, *self.parts, *(() if self.event is None else (self.event,)))

    @property
    def texts(self) -> list[str]:
        """The texts of `asked`."""
        return [one.embedded for one in self.asked]

    def embedded(self, vectors: Sequence[Vector | None]) -> _Search:
        """The same with the vectors of `asked`."""
        asked = [replace(one, vector=vector) for one, vector in zip(self.asked, vectors, strict=True)]
        event = None if self.event is None else asked.pop()
        return replace(self, question=asked[0], parts=tuple(asked[1:]), event=event)

    def note(self, name: str, failure: MnemicError) -> None:
        """Say in the result that `name` failed."""
        self.errors[name] = failure.reason
        self.failures.append(failure)


def _read_of(text: str, parts: Sequence[str], *, speakers: frozenset[str], asked_on: date | None, depth: int) -> _Read:
    """What is asked: the whole, its parts, the clause that tells a time by an event, and the words of that."""
    read = partial(read_question, speakers=speakers, asked_on=asked_on, depth=depth)
    clause = clause_of(text, asked_on)
    event = None if clause is None else read(clause.text)
    return read(text), tuple(read(part) for part in (parts or parts_of(text))), clause, event


async def _asked(
    given: Callable[..., _Search], read: Callable[..., _Read], length: int, speakers: frozenset[str]
) -> _Search:
    """A search with its text, of that `length`, read against those who speak."""
    read = partial(read, speakers=speakers)
    # Of a long text this takes milliseconds, in which nobody else of this process would be answered.
    question, parts, clause, event = read() if length <= READ else await asyncio.to_thread(read)
    return given(question=question, parts=parts, clause=clause, event=event)


@dataclass(slots=True)
class Searcher:
    """Searches one record store with one embedder.

    While the query is embedded, the store says who speaks in it, and the lists that need no vector are made, where the
    query names what `surroundings` knows those of what is near to it, too; the rest is one more read of the store. A
    list that fails is named in `SearchResult.errors` and the rest still answer; if all of them fail, the first failure
    is raised, so that an outage never looks like "nothing is known". `per_session`: at most so many messages of one
    conversation come before the others had theirs; None: however many there are.
    """

    store: RecordStore
    embedder: Embedder
    surroundings: Surroundings | None = None
    weights: Weights = field(default_factory=Weights)
    signal_weights: SignalWeights = field(default_factory=SignalWeights)
    early_lists: Mapping[str, RankedList] = field(default_factory=lambda: EARLY_LISTS)
    late_lists: Mapping[str, RankedList] = field(default_factory=lambda: LATE_LISTS)
    depth: int = 100
    per_session: int | None = None
    _spoken: Spoken = field(default_factory=Spoken, init=False, repr=False, compare=False)

    async def search(
        self,
        query: str,
        where: Where,
        *,
        top_k: int,
        parts: Sequence[str] = (),
        bias: Bias | None = None,
        min_score: float = 0.0,
        named: bool = False,
        known_at: datetime | None = None,
        asked_at: datetime | None = None,
        deadline: Deadline | None = None,
        hidden: Hidden | None = None,
    ) -> SearchResult:
        """The `top_k` best memories for `query`, and before them those that `bias` puts beside them; an empty query
        lists the newest. `parts`: what the query asks about, each looked for by itself, too; empty: found by rules.
        `named`: only those that the query names (`mnemic.retrieve.named`). With `known_at` they are searched as they
        stood then. `asked_at` gives "last week" its meaning. `hidden` reads the keys of which nothing may be found, in
        the place of those of `where`: embedding need not wait for it.

        Raises MnemicError if every list fails.
        """
        text = query.strip()[:MAX_QUERY_CHARS]
        asked_on = None if asked_at is None else asked_at.date()
        given = partial(
            _Search,
            where=where,
            top_k=top_k,
            bias=bias or Bias(),
            min_score=min_score,
            named=named,
            known_at=known_at,
        )
        asked = partial(_asked, given, partial(_read_of, text, parts, asked_on=asked_on, depth=self.depth), len(text))
        if not text:
            return await self._read(await _without(hidden, await asked(frozenset())), self._listed)
        embedding = Embedding(self.embedder, deadline)
        try:
            search = await _without(hidden, await self._heard(asked, where, embedding))
            vectors, early = await asyncio.gather(self._vectors(search, embedding), self._early(search))
        finally:
            embedding.close()
        return await self._read(search.embedded(vectors), partial(self._answer, early))

    async def _heard(
        self, asked: Callable[[frozenset[str]], Awaitable[_Search]], where: Where, embedding: Embedding
    ) -> _Search:
        """The search as it is asked of those who speak in its scopes. What they were at the last search is embedded
        while the store says what they are now.
        """
        guess = self._spoken.last(where.scopes)
        search = None if guess is None else await asked(guess)
        if search is not None:
            embedding.begin(search.texts)
        elif isinstance(self.embedder, Loading):
            self.embedder.begin()  # while the store reads what it needs of the scope
        speakers = await self.store.speakers(where)
        if search is None or speakers != guess:
            self._spoken.note(where.scopes, speakers)
            search = await asked(speakers)
        return search

    async def _early(self, search: _Search) -> Lists:
        """The lists that need no vector."""
        lists, walk = await self._read(search, self._first)
        try:
            reached = () if walk is None else await walk()
            if not reached:
                return lists
            words, depth = lists.get("keyword", ()), self.depth
            near, more = await self._read(
                search, lambda one, then: around(reached, one.where, words, then, depth=depth)
            )
        except MnemicError as failure:
            search.note(GRAPH, failure)
            return lists
        search.reached.extend(near)
        return lists | more

    async def _first(self, search: _Search, moment: Snapshot) -> tuple[Lists, Walk | None]:
        """The early lists, and the walk to what is near to what the query names."""
        lists = await self._made(self.early_lists, search, moment)
        if self.surroundings is None or not (self.weights.graph or self.weights.near):
            return lists, None
        try:
            return lists, await self.surroundings.named(search.question.text, search.where, moment)
        except MnemicError as failure:
            search.note(GRAPH, failure)
            return lists, None

    async def _read(self, search: _Search, work: Callable[[_Search, Snapshot], Awaitable[T]]) -> T:
        """The outcome of `work` on the store as it stands, or as it stood at the moment the search asks for. A
        store may try `work` again: what failed in a try that was given up is not noted.
        """
        tried, known, where = search, len(search.failures), search.where
        if search.known_at is not None:
            where = replace(where, live_at=search.known_at)

        async def once(moment: Snapshot) -> T:
            nonlocal tried
            tried = replace(search, where=where, errors=dict(search.errors), failures=search.failures[:known])
            return await work(tried, moment)

        if search.known_at is None:
            outcome = await self.store.read(once)
        else:
            outcome = await once(await self.store.believed(where.scopes, search.known_at, live_at=search.where.live_at))
        search.errors.update(tried.errors)
        search.failures.extend(tried.failures[known:])
        return outcome

    async def _vectors(self, search: _Search, embedding: Embedding) -> Sequence[Vector | None]:
        """The vector of each text that is asked, None where there is none to be had."""
        try:
            return await embedding.of(search.texts)
        except MnemicError as failure:
            search.note("vector", failure)
            return [None] * len(search.texts)

    async def _made(self, lists: Mapping[str, RankedList], search: _Search, moment: Snapshot) -> Lists:
        made: Lists = {}
        for name, make in lists.items():
            try:
                made[name] = await make(moment, search.where, search.question)
            except MnemicError as failure:
                search.note(name, failure)
        return made

    async def _listed(self, search: _Search, moment: Snapshot) -> SearchResult:
        """Without a query: the newest."""
        lists: Lists = {"recency": await moment.recent(search.where, limit=search.top_k)}
        return await self._result(search, lists, fuse(lists, Weights(recency=1.0)), moment)

    async def _answer(self, early: Lists, search: _Search, moment: Snapshot) -> SearchResult:
        late = {} if search.question.vector is None else await self._made(self.late_lists, search, moment)
        lists = early | late
        if not lists:
            raise search.failures[0]
        scores = fuse(lists, self.weights)
        for part in search.parts:
            found = await self._made(PART_LISTS, replace(search, question=part), moment)
            scores = either(scores, fuse(found, self.weights))
            lists = longer(lists, found)
        signals = await self._signals(search, scores, moment)
        lifted = with_signals(scores, signals, search.question, self.signal_weights)
        anchor = await self._anchor(search, moment) if signals else None
        lifted = anchored(lifted, signals, anchor, self.signal_weights.anchored)
        read = await self._contenders(search, lifted, moment)
        lifted = weighed(lifted, read, self.signal_weights.importance)
        known = relevance(lists, search.question, self.embedder.space.model)
        result = await self._result(search, lists, self._scaled(lifted), moment, signals, read)
        return replace(result, relevance=known, plan=with_anchor(result.plan, anchor))

    async def _signals(self, search: _Search, found: Collection[str], moment: Snapshot) -> Mapping[str, Signals]:
        try:
            return await moment.signals(search.where, list(found))
        except MnemicError as failure:
            search.note("signals", failure)
            return NO_SIGNALS

    async def _anchor(self, search: _Search, moment: Snapshot) -> Anchor | None:
        """The memory that tells of the event by which the query tells its time."""
        if search.clause is None or search.event is None:
            return None
        lists = await self._made(PART_LISTS, replace(search, question=search.event), moment)
        scores = fuse(lists, self.weights)
        signals = await self._signals(search, scores, moment)
        scores = with_signals(scores, signals, search.event, self.signal_weights)
        model = self.embedder.space.model
        return await anchor_of(search.clause, search.event, lists, scores, signals, model, search.where, moment)

    async def _contenders(self, search: _Search, scores: Mapping[str, float], moment: Snapshot) -> Mapping[str, Memory]:
        """The memories whose importance can decide, all that the result needs of them, read at once."""
        weight = self.signal_weights.importance
        if not weight:
            return NO_MEMORIES
        any_place = search.named or self.per_session is not None
        close = contenders(scores, len(scores) if any_place else search.top_k, weight)
        return await moment.get_many(close, scopes=search.where.scopes)

    def _scaled(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Scores as parts of the most that lists and signals could give, 0 to 1."""
        most = self.weights.most + self.signal_weights.most
        return {memory_id: min(1.0, max(0.0, score / most)) for memory_id, score in scores.items()}

    async def _result(
        self,
        search: _Search,
        lists: Lists,
        scores: Mapping[str, float],
        moment: Snapshot,
        signals: Mapping[str, Signals] = NO_SIGNALS,
        read: Mapping[str, Memory] = NO_MEMORIES,
    ) -> SearchResult:
        biased = await find_biased(moment, search.where, search.bias, search.errors)
        beside = await self._beside(search, scores, moment)
        kept = {one: score for one, score in scores.items() if score >= search.min_score}
        if search.named:
            named = await self._named(search, {*kept, *biased, *beside}, moment)
            kept = {one: score for one, score in kept.items() if one in named}
            biased = {one: reason for one, reason in biased.items() if one in named}
            beside = {one: score for one, score in beside.items() if one in named}
        rest = [entry for entry in in_order(kept, biased, search.bias.bonus) if entry[0] not in beside]
        rest = spread(rest, signals, self.per_session)[: search.top_k]
        order = [*((memory_id, score, STANDING) for memory_id, score in beside.items()), *rest]
        hits = await self._hits(search, lists, order, read, moment)
        plan = plan_of(
            search.where,
            search.question,
            search.parts,
            top_k=search.top_k,
            known_at=search.known_at,
            named=search.named,
            reached=search.reached,
            lists=lists,
        )
        without = dict.fromkeys(sorted(self.store.capabilities.degraded), "store_unavailable")
        errors, asked = search.errors | without, search.question.text
        return SearchResult(hits=hits, errors=errors, where=search.where, query=asked, plan=plan)

    async def _hits(
        self, search: _Search, lists: Lists, order: Sequence[Entry], read: Mapping[str, Memory], moment: Snapshot
    ) -> tuple[Hit, ...]:
        """The memories in their order, with what each list said of them; `read` are those at hand."""
        chosen = [memory_id for memory_id, _, _ in order]
        more = [memory_id for memory_id in chosen if memory_id not in read]
        memories = {**read, **(await moment.get_many(more, scopes=search.where.scopes) if more else {})}
        ranks = ranks_of(chosen, lists)
        for memory_id, rank in importance_ranks(chosen, read).items():
            ranks[memory_id][IMPORTANCE] = rank
        return tuple(
            Hit(memory=memories[memory_id], score=round(score, 6), ranks=ranks[memory_id], reason=reason)
            for memory_id, score, reason in order
            if memory_id in memories and search.where.accepts(memories[memory_id])
        )

    async def _named(self, search: _Search, found: Collection[str], moment: Snapshot) -> set[str]:
        """Those of what was found that the query names."""
        naming = Naming(search.question.text)
        rows = await moment.get_many(list(found), scopes=search.where.scopes)
        return {memory_id for memory_id, memory in rows.items() if naming.names(memory)}

    async def _beside(self, search: _Search, scores: Mapping[str, float], moment: Snapshot) -> dict[str, float]:
        """The standing memories that come beside the others, with their scores, best first. Only where more stand than
        may come are lists made of them alone.
        """
        most = search.bias.beside
        if not most:
            return {}
        ways = search.bias.standing(search.where)
        standing = {one: scores.get(one, 0.0) for one in await self._newest(search, ways, most + 1, moment)}
        if len(standing) > most:
            standing = {}
            for where in ways:
                lists = await self._made(STANDING_LISTS, replace(search, where=where), moment)
                standing = either(standing, self._scaled(fuse(lists, self.weights)))
        best = sorted(standing.items(), key=lambda entry: (entry[1], entry[0]), reverse=True)
        return dict(best[:most])

    async def _newest(self, search: _Search, ways: Sequence[Where], limit: int, moment: Snapshot) -> set[str]:
        """The newest `limit` memories of each filter."""
        found: set[str] = set()
        for where in ways:
            try:
                found |= {entry.memory_id for entry in await moment.recent(where, limit=limit)}
            except MnemicError as failure:
                search.note(STANDING, failure)
        return found


async def _without(hidden: Hidden | None, search: _Search) -> _Search:
    """The same without what is `hidden`."""
    return search if hidden is None else replace(search, where=replace(search.where, hidden_keys=await hidden()))
