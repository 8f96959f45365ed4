"""One search: lists, fused, boosted by signals, biased by policy, put in order by a reranker if there is one, cut to
the budget, with the reason for each hit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from heapq import nlargest
from typing import TypeGuard, TypeVar

from mnemic.errors import MnemicError
from mnemic.language.questions.small_talk import is_small_talk
from mnemic.language.questions.word_fields import asked_in, is_in_english
from mnemic.language.text.language import is_foreign
from mnemic.ports import Embedder, JudgesAnswers, JudgesChanges, ModelLoading, RecordStore, Reranker, Snapshot
from mnemic.ports.record_store import one_moment
from mnemic.retrieve.answer_judgement import (
    ALIKE_READ,
    JUDGE,
    MAX_QUESTION_CHARS,
    in_judged_order,
    is_question,
    judge_answers,
    judges,
    reads_changes,
    spoken,
)
from mnemic.retrieve.asked_attributes import answering
from mnemic.retrieve.candidate_lists import EARLY_LISTS, LATE_LISTS, PART_LISTS, RankedList
from mnemic.retrieve.category_members import asked_by, with_instances
from mnemic.retrieve.content_judgement import OWN, READ, ContentJudgement, asks_for_questions
from mnemic.retrieve.data_filter import DataIndex, filter_ids
from mnemic.retrieve.fusion import UNREAD, Weights, either, fuse, longer, nearest, shares_of
from mnemic.retrieve.graph_neighbourhood import GRAPH, NEAR, Neighbourhood, visible_neighbours
from mnemic.retrieve.importance import contenders, weigh_importance
from mnemic.retrieve.later_statements import COMPARED, pairs_to_judge
from mnemic.retrieve.learned_ranker import Ranker
from mnemic.retrieve.message_relevance import best_first
from mnemic.retrieve.optional_backends import INDEX, ExternalSearch, keep_accepted
from mnemic.retrieve.policy_candidates import PreferenceBias
from mnemic.retrieve.prefetch import FirstLists, QueryEmbedding, ReadDecisions, SpeakerCache, decisions_now, first_read
from mnemic.retrieve.question import Question
from mnemic.retrieve.ratings import RATED, rated_relevances, weigh_ratings
from mnemic.retrieve.relevance import (
    DEFAULT_MODEL,
    NO_MODEL,
    NOTHING,
    RELATED,
    ReadAnswers,
    RelevanceModel,
    are_complete,
    measured_with,
)
from mnemic.retrieve.result_assembly import (
    NO_MEMORIES,
    NO_SIGNALS,
    POOLED,
    RERANKER,
    RankedMemories,
    may_judge,
    result_of,
    with_anchor,
)
from mnemic.retrieve.search_state import Lists, ParsedSearch, SearchRequest
from mnemic.retrieve.signals import LEARNED, MessageBoosts, ScoreShift, SignalWeights, with_signals
from mnemic.retrieve.time_anchor import ANCHORED, TimeAnchor, anchor_of, raise_anchored
from mnemic.retrieve.time_questions import LIFT, PERIOD, THEN, asks_for_events
from mnemic.types import Deadline, JsonValue, Memory, Scored, SearchResult, Signals, Vector, Where

MAX_TOP_K = 100
MAX_QUERY_CHARS = 8192
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """Ranked memories, the probability that anything relevant is known, and the memory by which the query gives its
    time.
    """

    ranked: RankedMemories
    relevance: float | None
    anchor: TimeAnchor | None


@dataclass(frozen=True, slots=True)
class WeighedMemories:
    """Memories with their scores, the judgement of their contents, and the memory by which the query gives its time."""

    ranked: RankedMemories
    said: ContentJudgement
    anchor: TimeAnchor | None


@dataclass(slots=True)
class Searcher:
    """Searches one record store with one embedder.

    While the query is embedded, the store looks up the speakers and makes the lists that need no vector; if the query
    names entities known to `surroundings`, its graph neighbourhood as well. The rest is one more read of the store. A
    search service (`elsewhere`) is queried with the vector before that read, which returns the current state of its
    hits. A failing list is named in `SearchResult.errors` and the others still answer; if all fail, the first failure
    is raised, so that an outage never looks like "nothing is known". A `reranker` reorders the best hits; if it fails,
    it is named in `errors` and the order stays. `ranker` is the learned order of messages between people. `answers`
    judges answers if the embedder does not.
    """

    store: RecordStore
    embedder: Embedder
    surroundings: Neighbourhood | None = None
    weights: Weights = field(default_factory=Weights)
    signal_weights: SignalWeights = field(default_factory=SignalWeights)
    early_lists: Mapping[str, RankedList] = field(default_factory=lambda: EARLY_LISTS)
    late_lists: Mapping[str, RankedList] = field(default_factory=lambda: LATE_LISTS)
    depth: int = 100
    elsewhere: ExternalSearch | None = None
    reranker: Reranker | None = None
    ranker: Ranker | None = None
    answers: JudgesAnswers | None = None
    spoken: SpeakerCache = field(default_factory=SpeakerCache, init=False, repr=False, compare=False)
    data: DataIndex = field(default_factory=DataIndex, init=False, repr=False, compare=False)

    async def search(
        self,
        query: str,
        where: Where,
        *,
        top_k: int,
        parts: Sequence[str] = (),
        bias: PreferenceBias | None = None,
        min_score: float = 0.0,
        named: bool = False,
        known_at: datetime | None = None,
        asked_at: datetime | None = None,
        deadline: Deadline | None = None,
        decisions: ReadDecisions | None = None,
        data: Mapping[str, JsonValue] | None = None,
    ) -> SearchResult:
        """Return the `top_k` best memories for `query`, preceded by those that `bias` adds; an empty query lists the
        newest. `parts` are the questions that the query consists of, each also searched separately; if empty, rules
        split it. `named` keeps only memories that the query names. With `known_at` memories are searched in their state
        of that time. `asked_at` is the reference for times such as "last week". `decisions` reads the keys of which
        nothing may be found, in place of those of `where`, and the ratings, so that embedding need not wait for them.
        `data` is a filter on the data of memories that applies to every list (`mnemic.types.filter_language`).

        Raises MnemicError if every list fails.
        """
        request = SearchRequest(
            text=query.strip()[:MAX_QUERY_CHARS],
            parts=tuple(parts),
            where=where,
            top_k=top_k,
            bias=bias or PreferenceBias(),
            min_score=min_score,
            named=named,
            known_at=known_at,
            asked_on=None if asked_at is None else asked_at.date(),
            depth=self.depth,
            data=data,
        )
        if not request.text:
            decided = await decisions_now(decisions, self.store)
            return await self._read((await request.read(frozenset())).under(decided), self._list_newest)
        embedding = QueryEmbedding(self.embedder, deadline)
        with one_moment():
            try:
                search, served, early = await self._begin_search(request, embedding, decisions, deadline)
            finally:
                embedding.close()
            return await self._answer_search(search, early, served, deadline)

    async def _begin_search(
        self,
        request: SearchRequest,
        embedding: QueryEmbedding,
        decisions: ReadDecisions | None,
        deadline: Deadline | None,
    ) -> tuple[ParsedSearch, Sequence[Scored], Lists]:
        """Return the search with its vectors, the ranking of a search service, and the lists that need no vector."""
        search, made = await self._heard(request, embedding, decisions)
        (search, served), early = await asyncio.gather(
            self._ask_service(search, embedding, deadline), self._early(search, made, deadline)
        )
        return search, served, early

    async def _answer_search(
        self, search: ParsedSearch, early: Lists, served: Sequence[Scored], deadline: Deadline | None
    ) -> SearchResult:
        """Return the result, in the reranker's order if there is one, before and after which the store is read."""
        reranker, judge, reader = self.reranker, self._judge_of(search), self._reader_of(search)
        if reranker is None and judge is None and reader is None:
            return await self._read(search, partial(self._answer, early, served))
        weighed = await self._read(search, partial(self._weigh, early, served))
        if judge is not None:
            weighed = await self._judge_answers(judge, search, weighed, deadline)
        if reader is not None:
            weighed = await self._judge_changes(reader, search, weighed, deadline)
        found = self._settle(search, weighed)
        if reranker is not None:
            texts = await self._read(search, partial(texts_of, found.ranked.scores))
            found = replace(found, ranked=await rerank(reranker, search, found.ranked, texts, deadline))
        return await self._read(search, partial(self._complete_outcome, found))

    async def _heard(
        self, request: SearchRequest, embedding: QueryEmbedding, decisions: ReadDecisions | None
    ) -> tuple[ParsedSearch, FirstLists | None]:
        """Return the search with the current speakers, under the decisions. Those of the last search are embedded
        during the read; if they still speak, the lists that need no vector are made by the same read, and returned.
        """
        scopes = request.where.scopes
        # Speakers rarely change, so the text is embedded for the last ones while the store reads the current ones.
        guess = self.spoken.last(scopes)
        search = None if guess is None else await request.read(guess)
        if search is not None:
            embedding.begin(search.texts)
        elif _loads(self.embedder):
            self.embedder.begin()  # while the store reads the scope
        found = await first_read(self.store, request, search, guess, decisions, self._narrowed_first)
        if search is None or found.speakers != guess:
            self.spoken.note(scopes, found.speakers)
            search = await request.read(found.speakers)
            return search.under(found.decisions), None
        return found.search or search.under(found.decisions), found.lists

    async def _narrowed_first(self, search: ParsedSearch, snapshot: Snapshot) -> FirstLists:
        return await self._first(await _narrow_by_data(search, snapshot, self.data), snapshot)

    async def _early(self, search: ParsedSearch, made: FirstLists | None, deadline: Deadline | None) -> Lists:
        """Return the lists that need no vector; `made`: those of the first read."""
        lists, walk = await self._read(search, self._first) if made is None else made
        try:
            reached = () if walk is None else await walk(deadline)
            if not reached:
                return lists
            words, depth = lists.get("keyword", ()), self.depth
            near, more = await self._read(
                search, lambda one, then: visible_neighbours(reached, one.where, words, then, depth=depth)
            )
        except MnemicError as failure:
            search.note(GRAPH, failure)
            return lists
        search.reached.extend(near)
        return lists | more

    async def _first(self, search: ParsedSearch, snapshot: Snapshot) -> FirstLists:
        """Return the early lists, and the graph neighbourhood of the entities that the query names."""
        lists = await search.make_lists(self.early_lists, snapshot)
        if "keyword" in lists and (meant := asked_by(search.question)):
            lists = with_instances(lists, await search.make_lists(meant, snapshot))
        if self.surroundings is None or not (self.weights.graph or self.weights.near):
            return lists, None
        try:
            return lists, await self.surroundings.find_named(search.question.text, search.where, snapshot)
        except MnemicError as failure:
            search.note(GRAPH, failure)
            return lists, None

    async def _read(self, search: ParsedSearch, work: Callable[[ParsedSearch, Snapshot], Awaitable[T]]) -> T:
        """Return the result of `work` on the current store, or on its state at the search's point in time. A store may
        retry `work`: notes of an abandoned try are discarded.
        """
        tried, known, where, known_at = search, len(search.failures), search.where, search.request.known_at
        if known_at is not None:
            where = replace(where, live_at=known_at)

        async def once(snapshot: Snapshot) -> T:
            nonlocal tried
            # A new state for each try: failures of a try that the store repeats must not be reported.
            tried = replace(search, where=where, errors=dict(search.errors), failures=search.failures[:known])
            return await work(await _narrow_by_data(tried, snapshot, self.data), snapshot)

        if known_at is None:
            outcome = await self.store.read(once)
        else:
            outcome = await once(await self.store.as_known_at(where.scopes, known_at, live_at=search.where.live_at))
        search.errors.update(tried.errors)
        search.failures.extend(tried.failures[known:])
        return outcome

    async def _vectors(self, search: ParsedSearch, embedding: QueryEmbedding) -> Sequence[Vector | None]:
        """Return the vector of each text, None for a text without one."""
        try:
            return await embedding.vectors_of(search.texts)
        except MnemicError as failure:
            search.note("vector", failure)
            return [None] * len(search.texts)

    async def _ask_service(
        self, search: ParsedSearch, embedding: QueryEmbedding, deadline: Deadline | None
    ) -> tuple[ParsedSearch, Sequence[Scored]]:
        """Return the search with its vectors, and the ranking of a search service, which knows no past states."""
        search = search.with_vectors(await self._vectors(search, embedding), embedding.space)
        if self.elsewhere is None or search.request.known_at is not None:
            return search, ()
        try:
            return search, await self.elsewhere.rank(search.question, search.where, deadline)
        except MnemicError as failure:
            search.note(INDEX, failure)
            return search, ()

    async def _list_newest(self, search: ParsedSearch, snapshot: Snapshot) -> SearchResult:
        """Without a query: the newest."""
        lists: Lists = {"recency": await snapshot.recent(search.where, limit=search.request.top_k)}
        return await self._result(
            search, RankedMemories(lists=lists, scores=fuse(lists, Weights(recency=1.0))), snapshot
        )

    async def _answer(
        self, early: Lists, served: Sequence[Scored], search: ParsedSearch, snapshot: Snapshot
    ) -> SearchResult:
        weighed = await self._weigh(early, served, search, snapshot)
        return await self._complete_outcome(self._settle(search, weighed), search, snapshot)

    async def _complete_outcome(self, found: SearchOutcome, search: ParsedSearch, snapshot: Snapshot) -> SearchResult:
        result = await self._result(search, found.ranked, snapshot)
        return replace(result, relevance=found.relevance, plan=with_anchor(result.plan, found.anchor))

    async def _weigh(
        self, early: Lists, served: Sequence[Scored], search: ParsedSearch, snapshot: Snapshot
    ) -> WeighedMemories:
        """Return the memories with their scores, before their relevance is judged."""
        late = {} if search.question.vector is None else await _late(self.late_lists, search, snapshot)
        lists = (
            early | late | ({INDEX: await keep_accepted(served, search.where, snapshot)} if served else {})
        )  # 1: lists
        # Every list failed: an empty answer would look like "nothing is known".
        if not lists:
            raise search.failures[0]
        scores = self._fuse_lists(lists, search.question)  # 2: one score each
        for part in search.parts:
            found = await replace(search, question=part).make_lists(PART_LISTS, snapshot)
            scores = either(scores, self._fuse_lists(found, part))
            lists = longer(lists, found)
        lists, scores, then = await with_past(search, lists, scores, self.weights, snapshot)  # 3: the past
        signals = await self._signals(search, scores, snapshot)  # 4: boosts
        lifts = MessageBoosts(scores, signals, search.question, self.signal_weights)
        signed = lifts.add_boosts()
        anchor = await self._anchor(search, snapshot) if signals else None  # 5: a dating event
        lifted = by_hand = raise_anchored(signed, signals, anchor, self.signal_weights.anchored)
        if self.ranker is not None:  # 6: learned order of messages
            lifted = self.ranker.reorder(lists, lifted, lifts.signals, search.question, lifts.table)
        read = await self._contenders(search, lifted, snapshot)  # 7: read the memories that can still reach the result
        messages, nearest = lifts.signals, lists.get("vector", ())
        model = measured_with(self.embedder.space, search.question)
        asked = await answering(read, search.question, snapshot, search.where.scopes)  # 8: which texts answer
        said = ContentJudgement.judge(search.question, read, asked, nearest=nearest, messages=messages, model=model)
        weighed = weigh_importance(lifted, read, self.signal_weights.importance)
        rated = weigh_ratings(weighed, read, search.ratings)
        raised, moves = said.apply_moves(rated)
        moves |= {
            RATED: ScoreShift(weighed, rated),
            THEN: ScoreShift(NOTHING, then),
            ANCHORED: ScoreShift(signed, by_hand),
        }
        moves |= {LEARNED: ScoreShift(by_hand, lifted)}
        ranked = RankedMemories(lists=lists, scores=raised, lifts=lifts, moves=moves, signals=signals, read=read)
        return WeighedMemories(ranked, said, anchor)

    def _settle(self, search: ParsedSearch, weighed: WeighedMemories) -> SearchOutcome:
        """Return the outcome with scores from 0 to 1 and the probabilities."""
        ranked, messages = weighed.ranked, NO_SIGNALS if weighed.ranked.lifts is None else weighed.ranked.lifts.signals
        scores = self._scale_scores(ranked.scores)
        best = _read_of(search, self.reranker is not None)
        known, stated = weighed.said.relevances(ranked.lists, scores, messages, best)  # 9: probabilities
        stated = rated_relevances(stated, ranked.read, search.ratings)
        if is_small_talk(search.question.text):  # no memory answers a greeting, however alike
            known, stated = None if known is None else 0.0, dict.fromkeys(stated, 0.0)
        return SearchOutcome(replace(ranked, scores=scores, relevances=stated), known, weighed.anchor)

    def _fuse_lists(self, lists: Lists, question: Question) -> dict[str, float]:
        weights = self.weights
        if measured_with(self.embedder.space, question) == NO_MODEL:
            weights = replace(weights, vector=weights.vector * UNREAD)
        return fuse(lists, weights, words=question.words)

    async def _signals(self, search: ParsedSearch, found: Collection[str], snapshot: Snapshot) -> Mapping[str, Signals]:
        try:
            return await snapshot.signals(search.where, list(found))
        except MnemicError as failure:
            search.note("signals", failure)
            return NO_SIGNALS

    async def _anchor(self, search: ParsedSearch, snapshot: Snapshot) -> TimeAnchor | None:
        """Return the memory of the event by which the query gives its time."""
        if search.clause is None or search.event is None:
            return None
        lists = await replace(search, question=search.event).make_lists(PART_LISTS, snapshot)
        scores = self._fuse_lists(lists, search.event)
        signals = await self._signals(search, scores, snapshot)
        scores = with_signals(scores, signals, search.event, self.signal_weights)
        model = measured_with(self.embedder.space, search.event)
        return await anchor_of(search.clause, search.event, lists, scores, signals, model, search.where, snapshot)

    async def _contenders(
        self, search: ParsedSearch, scores: Mapping[str, float], snapshot: Snapshot
    ) -> Mapping[str, Memory]:
        """Return the memories whose importance can decide, with all their data that the result needs, in one read."""
        if not (weight := self.signal_weights.importance):
            return NO_MEMORIES
        most = len(scores) if search.request.named else search.request.top_k
        order = best_first(scores)
        read = COMPARED if asked_in(search.question.text) is None else READ
        wanted = dict.fromkeys([*contenders(scores, most, weight, order), *order[:read]])
        return await snapshot.get_many(list(wanted), scopes=search.where.scopes)

    def _judge_of(self, search: ParsedSearch) -> JudgesAnswers | None:
        """Return the judge of answers to the query if this is a question in English, its language. What happened in a
        period, and what was true at an earlier time, is told by the times of statements, which the judge does not read;
        neither does it read questions.
        """
        judge, question = self.embedder if judges(self.embedder) else self.answers, search.question
        if judge is None or not is_in_english(question.text):
            return None
        of_a_time = search.past is not None or asks_for_events(question)
        of_statements = not (of_a_time or asks_for_questions(question.text))
        return judge if is_question(question.text) and of_statements else None

    async def _judge_answers(
        self, judge: JudgesAnswers, search: ParsedSearch, weighed: WeighedMemories, deadline: Deadline | None
    ) -> WeighedMemories:
        """Return the memories with the first of them judged, and in the order of the judgement."""
        ranked, said = weighed.ranked, weighed.said
        if not are_complete(ranked.lists) or said.asked.about:
            return weighed  # of attributes whose statements are known, the rules tell which holds
        # What relations lead to answers only with what lies between, which the judge does not read.
        reached = {one for name in (GRAPH, NEAR) for one, _ in ranked.lists.get(name, ())}
        # "I" is the asker in what is read: who writes under a name of their own says it of themselves.
        messages = NO_SIGNALS if ranked.lifts is None else ranked.lifts.signals
        apart = frozenset(one for one, each in messages.items() if each.speaker not in OWN)
        statements = {one: each for one, each in ranked.read.items() if one not in said.asking and one not in apart}
        gauge = RelevanceModel.from_lists(ranked.lists, search.question, said.model)
        alike = dict.fromkeys(statements, RELATED) if gauge is None else gauge.relevances(ranked.lists, statements)
        order = [one for one in best_first(ranked.scores) if one not in reached]
        foreign = {one for one in order[:ALIKE_READ] if one in statements and is_foreign(statements[one].content)}
        if gauge is None and foreign:
            return weighed  # nothing tells how much they resemble the question
        order = [one for one in order if one not in foreign]
        try:
            judged = await judge_answers(judge, search.question.text, order, statements, alike, deadline)
        except MnemicError as failure:
            search.note(JUDGE, failure)
            return weighed
        if not judged:
            return weighed
        answers = ReadAnswers({one: alike[one] for one in (reached | foreign) & alike.keys()} | judged, apart)
        said = replace(said, answers=answers)
        likely = {one: share for one, share in judged.items() if share >= RELATED}
        moves = {**ranked.moves, JUDGE: ScoreShift(dict.fromkeys(likely, 0.0), likely)}
        ordered = in_judged_order(ranked.scores, judged)
        return replace(weighed, said=said, ranked=replace(ranked, scores=ordered, moves=moves))

    def _reader_of(self, search: ParsedSearch) -> JudgesChanges | None:
        """Return the embedder if it reads whether a statement replaces another, and the query lets that be guessed."""
        reader, model = self.embedder, measured_with(self.embedder.space, search.question)
        if self.reranker is not None or model != DEFAULT_MODEL or not reads_changes(reader):
            return None
        return reader if len(search.question.text) <= MAX_QUESTION_CHARS and may_judge(search) else None

    async def _judge_changes(
        self, reader: JudgesChanges, search: ParsedSearch, weighed: WeighedMemories, deadline: Deadline | None
    ) -> WeighedMemories:
        """Return the memories with what the first that are alike tell of each other."""
        ranked = weighed.ranked
        pairs = pairs_to_judge([ranked.read[one] for one in best_first(ranked.scores) if one in ranked.read])
        if not pairs:
            return weighed
        try:
            texts = [(spoken(one), spoken(two)) for one, two in pairs]
            odds = await reader.judge_changes(texts, question=search.question.text, deadline=deadline)
        except MnemicError as failure:
            search.note(JUDGE, failure)
            return weighed
        changes = {(one.memory_id, two.memory_id): odd for (one, two), odd in zip(pairs, odds, strict=True)}
        return replace(weighed, ranked=replace(ranked, changes=changes))

    def _scale_scores(self, scores: Mapping[str, float]) -> dict[str, float]:
        """Scores as parts of the most that lists and signals could give, 0 to 1."""
        return shares_of(scores, self.weights.most + self.signal_weights.most)

    async def _result(self, search: ParsedSearch, ranked: RankedMemories, snapshot: Snapshot) -> SearchResult:
        def score_lists(lists: Lists) -> dict[str, float]:
            return self._scale_scores(self._fuse_lists(lists, search.question))

        result = await result_of(search, ranked, snapshot, scored=score_lists)
        without = dict.fromkeys(sorted(self.store.capabilities.degraded), "store_unavailable")
        return replace(result, errors={**result.errors, **without}) if without else result


def _loads(embedder: Embedder) -> TypeGuard[ModelLoading]:
    """Return True for a `ModelLoading`; `isinstance` would check each name of the protocol, in each search."""
    return hasattr(embedder, "begin")


def _read_of(search: ParsedSearch, any_place: bool) -> int | None:
    """Return the number of best messages that can be among the hits; None if any can."""
    if any_place or search.request.min_score > 0 or search.request.named:
        return None
    return max(POOLED, search.request.top_k + COMPARED)


async def _late(lists: Mapping[str, RankedList], search: ParsedSearch, snapshot: Snapshot) -> Lists:
    """Return the lists that need a vector; a memory is as near as to the nearest of the question and the statements
    that would answer it.
    """
    late = await search.make_lists(lists, snapshot)
    for statement in search.stated:
        found = await replace(search, question=statement).make_lists(lists, snapshot)
        late = {name: nearest(entries, found.get(name, ())) for name, entries in late.items()}
    return late


async def _narrow_by_data(search: ParsedSearch, snapshot: Snapshot, index: DataIndex) -> ParsedSearch:
    """Return the search restricted to memories whose data meets the filter, applied before any list is cut."""
    if search.request.data is None:
        return search
    found = await filter_ids(snapshot, search.where, search.request.data, index=index)
    # The filter of superseded memories too, or it would let through memories that `data` excludes.
    past = None if search.past is None else replace(search.past, memory_ids=found)
    return replace(search, where=replace(search.where, memory_ids=found), past=past)


RERANKED = 50
"""Minimum number of memories given to the reranker; a call that requests more hits gives it that many."""


async def rerank(
    reranker: Reranker,
    search: ParsedSearch,
    ranked: RankedMemories,
    texts: Mapping[str, str],
    deadline: Deadline | None,
) -> RankedMemories:
    """Return `ranked` with the reranker's scores of the memories in `texts`, by id, and without the others; unchanged
    if the reranker fails, which is recorded.
    """
    try:
        scores = await reranker.rerank(search.question.text, list(texts.values()), deadline=deadline)
    except MnemicError as failure:
        search.note(RERANKER, failure)
        return ranked
    entries = [Scored(one, score) for one, score in zip(texts, scores, strict=True)]
    entries.sort(key=lambda entry: -entry.score)
    return replace(ranked, scores=dict(entries), lists=ranked.lists | {RERANKER: entries})


async def texts_of(scores: Mapping[str, float], search: ParsedSearch, snapshot: Snapshot) -> Mapping[str, str]:
    """Return the texts of the best, which a reranker reads, by id."""
    best = nlargest(max(RERANKED, search.request.top_k), scores, key=lambda one: (scores[one], one))
    rows = await snapshot.get_many(best, scopes=search.where.scopes)
    return {one: rows[one].content for one in best if one in rows}


async def with_past(
    search: ParsedSearch, lists: Lists, scores: dict[str, float], weights: Weights, snapshot: Snapshot
) -> tuple[Lists, dict[str, float], dict[str, float]]:
    """Return the lists and scores with the facts true then, for a question about the past, and the raise of each."""
    if search.past is None:
        return lists, scores, {}
    hidden = replace(search.past, hidden_keys=search.where.hidden_keys, live_at=search.where.live_at)
    found = await replace(search, where=hidden).make_lists(PART_LISTS, snapshot)
    then = fuse(found, weights)
    if PERIOD in lists:  # events of the time come before facts only true then
        return longer(lists, found), {**then, **scores}, {}
    scores = either(scores, {one: score + LIFT for one, score in then.items()})
    return longer(lists, found), scores, dict.fromkeys(then, LIFT)
