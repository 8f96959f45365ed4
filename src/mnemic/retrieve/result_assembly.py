"""From scores to the result: pinned memories, memories that the query names, the cut to the requested number, reasons,
and the plan of the search.

Similarity always finds something; a name is present or not, so a search by name can answer that nothing is known. Keys
and aliases are found by their words in a scope of any size. Among the memories found by other words or by similarity,
the name may be misspelt by one letter (left out, inserted, changed, or swapped with its neighbour) if it has five or
more letters and its first two are right: Lucene calls this fuzziness 1 with a prefix of 2.

No hit is more relevant than one before it. The order by score knows more than the relevance of a single memory, so it
stays, and the relevances follow it by isotonic regression (Barlow et al., "Statistical Inference under Order
Restrictions", 1972): neighbours that contradict the order get their mean. On LoCoMo this also makes the relevances
better (bench/retrieval.md). Only between messages and statements, whose scores are hard to compare, do the relevances
decide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from heapq import merge
from itertools import chain, islice, pairwise, repeat
from types import MappingProxyType
from typing import TypeGuard, cast

from mnemic.errors import MnemicError, StoreCorrupt
from mnemic.language.text.analyse import analyse
from mnemic.language.text.names import further_names
from mnemic.ports import Snapshot
from mnemic.ports.record_store import KnownDamage
from mnemic.retrieve.asked_attributes import HOME, WORK
from mnemic.retrieve.candidate_lists import PINNED_LISTS
from mnemic.retrieve.diversity import Entry, repetitions, without_repetitions
from mnemic.retrieve.explanation import why, with_disagreement
from mnemic.retrieve.fusion import either, ranks_of
from mnemic.retrieve.importance import IMPORTANCE, importance_ranks
from mnemic.retrieve.later_statements import (
    COMPARED,
    GENERATIONS,
    NONE_JUDGED,
    Changes,
    disagreeing,
    later_relevances,
    latest_first,
    newest_of,
    put_later_first,
)
from mnemic.retrieve.policy_candidates import PINNED, RELEVANCE, find_biased, in_order
from mnemic.retrieve.question import Question
from mnemic.retrieve.ratings import shift_of
from mnemic.retrieve.search_state import Lists, ParsedSearch
from mnemic.retrieve.signals import UNMOVED, MessageBoosts, ScoreShift, sign_ranks
from mnemic.retrieve.time_anchor import TimeAnchor
from mnemic.retrieve.time_questions import asks_for_events, asks_past, restore_superseded, value_at
from mnemic.types import Hit, Kind, Memory, Rank, SearchPlan, SearchResult, Signals, Status, Where
from mnemic.types.search import LazyText

# Shorter names are one letter away from too many other words.
SHORTEST_MISSPELT = 5
PREFIX = 2
_WORD = re.compile(r"[^\W_]+")


def names_of(memory: Memory) -> list[str]:
    """Return the key of `memory`, spelled as words, and its further names."""
    return [*([memory.key.replace("_", " ")] if memory.key else []), *further_names(memory.data)]


class NameLookup:
    """One query, read for names."""

    def __init__(self, query: str) -> None:
        self._terms = analyse(query).sequence
        self._words = _WORD.findall(query.casefold())

    def names(self, memory: Memory) -> bool:
        """Return True if the query contains one of the memory's names, its words next to each other."""
        return any(self._holds(name) for name in names_of(memory) if name.strip())

    def _holds(self, name: str) -> bool:
        spelled, words = analyse(name).sequence, _WORD.findall(name.casefold())
        return _contains_name(spelled, self._terms) or (
            bool(words) and any(all(map(_alike, words, part)) for part in _parts(self._words, len(words)))
        )


def _contains_name(name: Sequence[str], terms: Sequence[str]) -> bool:
    return bool(name) and any(list(part) == list(name) for part in _parts(terms, len(name)))


def _parts(words: Sequence[str], length: int) -> list[Sequence[str]]:
    return [words[start : start + length] for start in range(len(words) - length + 1)]


def _alike(word: str, said: str) -> bool:
    if word == said:
        return True
    return len(word) >= SHORTEST_MISSPELT and word[:PREFIX] == said[:PREFIX] and one_slip(word, said)


def one_slip(word: str, said: str) -> bool:
    """Return True if one deletion, insertion, substitution or swap of neighbouring letters turns `word` into `said`."""
    if abs(len(word) - len(said)) > 1:
        return False
    start = next((at for at, (one, other) in enumerate(zip(word, said, strict=False)) if one != other), None)
    if start is None:
        return True
    rest, other = word[start:], said[start:]
    if len(word) != len(said):
        return rest[1:] == other if len(word) > len(said) else rest == other[1:]
    swapped = rest[:2] == other[1::-1] and rest[2:] == other[2:]
    return rest[1:] == other[1:] or swapped


RERANKER = "reranker"
"""Name of the reranker among the lists."""
DAMAGED_ROWS = "memory"
"""Name, among the errors of a result, of memories that were found and whose rows are damaged."""
NO_SIGNALS: Mapping[str, Signals] = MappingProxyType({})
NO_RELEVANCES: Mapping[str, float] = MappingProxyType({})
NO_MEMORIES: Mapping[str, Memory] = MappingProxyType({})
NOTHING_PASSED: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMemories:
    """Result of ranking: the lists, each memory's score (0 to 1), the probability that it concerns the query (empty if
    it cannot be judged), its signals and boosts, the shift by the learned order and by other rules, and the memories
    read so far.
    """

    lists: Lists
    scores: Mapping[str, float]
    relevances: Mapping[str, float] = field(default_factory=lambda: NO_RELEVANCES)
    lifts: MessageBoosts | None = None
    moves: Mapping[str, ScoreShift] = field(default_factory=lambda: UNMOVED)
    signals: Mapping[str, Signals] = field(default_factory=lambda: NO_SIGNALS)
    read: Mapping[str, Memory] = field(default_factory=lambda: NO_MEMORIES)
    changes: Changes = field(default_factory=lambda: NONE_JUDGED)


async def result_of(
    search: ParsedSearch,
    ranked: RankedMemories,
    snapshot: Snapshot,
    *,
    scored: Callable[[Lists], Mapping[str, float]],
) -> SearchResult:
    """Return the best memories, preceded by the pinned ones. `scored` are the scores (0 to 1) by lists alone."""
    request, where = search.request, search.where
    biased = await find_biased(snapshot, where, request.bias, search.errors)
    beside = await _add_pinned(search, ranked.scores, snapshot, scored)
    kept = ranked.scores
    if request.named:
        named = await _find_named(search, {*kept, *biased, *beside}, snapshot)
        kept = {one: score for one, score in kept.items() if one in named}
        biased = {one: reason for one, reason in biased.items() if one in named}
        beside = {one: score for one, score in beside.items() if one in named}
    rest = in_order(kept, biased, request.bias.bonus, _enough(search, ranked, beside))
    # Only the best are compared with each other: the cost grows with their square, but for a question about the past.
    known = await _best(search, ranked, rest[: COMPARED if search.past is None else 2 * COMPARED], snapshot)
    rest = await _readable(search, rest, known, snapshot)
    closed = {} if asks_past(search.question) else await _closed_values(search, known, snapshot)
    guesses = RERANKER not in ranked.lists and may_guess(search)
    rest, passed, newer = await _latest(search, rest, known, closed, snapshot, ranked.changes, guesses=guesses)
    rest, relevances = _explain_statements(search, ranked, rest, known, (passed, newer))
    # Only now: the relevance of a hit may not depend on whether others are pinned.
    rest = [entry for entry in rest if entry[0] not in beside]
    if request.min_score > 0:  # only now: the later of two statements is as relevant as the one that it outdates
        reached = {**ranked.scores, **relevances}
        rest = [entry for entry in rest if entry[0] in biased or reached.get(entry[0], 0.0) >= request.min_score]
    ranked = replace(ranked, relevances=relevances)
    rest = rest[: request.top_k]  # cut last: duplicates and outdated hits must not take places from others
    order = [*((memory_id, score, PINNED) for memory_id, score in beside.items()), *rest]
    hits = await _hits(search, ranked, order, snapshot, known, passed)
    plan = plan_of(search, ranked.lists)
    if where.memory_ids is not None:
        where = replace(where, memory_ids=None)  # as requested: a filter on data is in the plan
    return SearchResult(hits=hits, errors=dict(search.errors), where=where, query=search.question.text, plan=plan)


def _enough(search: ParsedSearch, ranked: RankedMemories, beside: Collection[str]) -> int | None:
    """Return the number of best memories that contain all possible hits; None if any place can. Later rules change the
    places of those that are read alone, unless messages and statements are merged.
    """
    request, messages = search.request, () if ranked.lifts is None else ranked.lifts.signals
    if request.min_score > 0 or request.named or RERANKER in ranked.lists:
        return None
    if len(messages) not in (0, len(ranked.scores)) or asks_past(search.question):
        return None
    return max(POOLED, request.top_k + len(ranked.read) + COMPARED) + len(beside)


def may_judge(search: ParsedSearch) -> bool:
    """Return True if a judge may decide which of two statements is the newer form of the other: not for a question
    about a time or what happened in a period, which asks for many, nor by a model whose cosines are on another scale.
    """
    question = search.question
    scaled = question.space is not None and bool(question.space.scale)
    past = search.clause is not None or asks_past(question) or asks_for_events(question)
    return not scaled and not past


def may_guess(search: ParsedSearch) -> bool:
    """Return True if likeness may decide it, too: not for a question about home or work, or another attribute whose
    statements are known.
    """
    return may_judge(search) and not search.stated and search.question.keys.isdisjoint(HOME | WORK)


async def _latest(
    search: ParsedSearch,
    entries: Sequence[Entry],
    known: Mapping[str, Memory],
    closed: Mapping[str, Memory],
    snapshot: Snapshot,
    changes: Changes,
    *,
    guesses: bool,
) -> tuple[list[Entry], Mapping[str, str], Mapping[str, str]]:
    """Return the entries with outdated ones after those that outdate them, which outdates which, and the newest that
    disagrees with each, or with `guesses` may be its newer form.
    """
    # A question about the past wants the state of that time, so a later statement must not move in front.
    if asks_past(search.question):
        held = None if search.past is None else value_at(entries, known, search.past)
        before = {} if held is None else await snapshot.get_many(held.supersedes, scopes=search.where.scopes)
        return restore_superseded(entries, known, search.past, list(before.values())), NOTHING_PASSED, NOTHING_PASSED
    # The user's own rating of a statement counts for more than a guess at which of two is the newer form.
    best = (
        known[one]
        for one, _, reason in entries[:COMPARED]
        if reason != PINNED and one in known and not shift_of(known[one], search.ratings)
    )
    newer = newest_of(best, search.question if guesses else None, changes)
    return *latest_first(entries, known, closed, search.question.space, newer), newer


def _explain_statements(
    search: ParsedSearch,
    ranked: RankedMemories,
    entries: Sequence[Entry],
    known: Mapping[str, Memory],
    later: tuple[Mapping[str, str], Mapping[str, str]],
) -> tuple[list[Entry], Mapping[str, float]]:
    """Return each statement once, in an order that the relevances explain, and the relevances. `later` are the
    statements that outdate others, and the newest that disagree with them.
    """
    # The order of a reranker, and of a question about the past, is final: relevances may not change it.
    fixed = RERANKER in ranked.lists or asks_past(search.question)
    messages = () if fixed or ranked.lifts is None else ranked.lifts.signals
    relevances = later_relevances(ranked.relevances, *later)
    repeated = repetitions([known[one] for one, _, _ in entries if one in known])
    if said_too := {made: relevances[one] for one, made in repeated.items() if one in relevances}:
        relevances = {one: max(share, said_too.get(one, 0.0)) for one, share in relevances.items()}
    explained, relevances = explain_order(without_repetitions(entries, repeated), relevances, messages)
    passed, newer = later
    return put_later_first(explained, relevances, {**newer, **passed})


async def _best(
    search: ParsedSearch, ranked: RankedMemories, entries: Sequence[Entry], snapshot: Snapshot
) -> Mapping[str, Memory]:
    """Return the memories of the best entries."""
    more = [memory_id for memory_id, _, _ in entries if memory_id not in ranked.read]
    return {**ranked.read, **(await snapshot.get_many(more, scopes=search.where.scopes) if more else {})}


async def _readable(
    search: ParsedSearch, entries: list[Entry], known: Mapping[str, Memory], snapshot: Snapshot
) -> list[Entry]:
    """Return the entries without those among the best whose memory cannot be read; the result says if that is because
    their rows are damaged.
    """
    unread = frozenset(memory_id for memory_id, _, _ in entries[:COMPARED] if memory_id not in known)
    damaged = _knows_damage(snapshot) and await snapshot.known_damage(search.where)
    if unread and not damaged:  # one that was forgotten after the lists were made is not there at all
        still = replace(search.where, statuses=frozenset(Status)).among(unread)
        damaged = bool(await snapshot.recent(still, limit=1))
    if damaged:
        search.note(DAMAGED_ROWS, StoreCorrupt("memory"))
    return [entry for entry in entries if entry[0] not in unread] if unread else entries


def _knows_damage(snapshot: Snapshot) -> TypeGuard[KnownDamage]:
    """Return True for a `KnownDamage`; `isinstance` would check each name of the protocol, in each search."""
    return hasattr(snapshot, "known_damage")


async def _closed_values(search: ParsedSearch, known: Mapping[str, Memory], snapshot: Snapshot) -> Mapping[str, Memory]:
    """Return the memories that the best ones superseded, directly or indirectly, if messages that may have stated them
    are among them.
    """
    if not any(memory.kind is Kind.EPISODIC for memory in known.values()):
        return NO_MEMORIES
    found: dict[str, Memory] = {}
    later = list(known.values())
    for _ in range(GENERATIONS):
        ids = [one for one in dict.fromkeys(one for memory in later for one in memory.supersedes) if one not in found]
        if not ids:
            break
        read = await snapshot.get_many(ids, scopes=search.where.scopes)
        found |= read
        later = list(read.values())
    return found


async def _hits(
    search: ParsedSearch,
    ranked: RankedMemories,
    order: Sequence[Entry],
    snapshot: Snapshot,
    known: Mapping[str, Memory],
    passed: Mapping[str, str],
) -> tuple[Hit, ...]:
    """Return the memories in order, with the score of each list, and the memory that superseded each. `known` memories
    have been read already.
    """
    chosen = [memory_id for memory_id, _, _ in order]
    more = [memory_id for memory_id in chosen if memory_id not in known]
    memories = {**known, **(await snapshot.get_many(more, scopes=search.where.scopes) if more else {})}
    ranks = ranks_of(chosen, ranked.lists)
    for memory_id, rank in importance_ranks(chosen, ranked.read).items():
        ranks[memory_id][IMPORTANCE] = rank
    if ranked.lifts is not None:
        for memory_id, lifts in sign_ranks(chosen, ranked.lifts, ranked.moves).items():
            ranks[memory_id].update(lifts)
    shown = (memories[one] for one in chosen if one in memories and one not in passed)
    differing = disagreeing(islice(shown, COMPARED))
    return tuple(
        Hit(
            memory=memories[memory_id],
            score=round(score, 6),
            ranks=ranks[memory_id],
            reason=reason,
            outdated_by=passed.get(memory_id),
            disagrees_with=differing.get(memory_id, ()),
            relevance=ranked.relevances.get(memory_id),
            why=_sentence(
                memories[memory_id],
                ranks[memory_id],
                reason,
                search.question,
                [memories[one] for one in differing.get(memory_id, ())] if differing else (),
            ),
        )
        for memory_id, score, reason in order
        # Read again under the filter: a list may come from a search service that lags.
        if memory_id in memories and _accepts(search, memories[memory_id])
    )


def _sentence(
    memory: Memory, ranks: Mapping[str, Rank], reason: str, question: Question, others: Sequence[Memory]
) -> str:
    """Return the reason for a hit, which is put into words when it is read: ten of them take as long as a list."""
    lazy = LazyText(lambda: with_disagreement(why(memory, ranks, reason, question), memory, others))
    return cast("str", lazy)


def _accepts(search: ParsedSearch, memory: Memory) -> bool:
    return search.where.accepts(memory) or (search.past is not None and search.past.accepts(memory))


async def _find_named(search: ParsedSearch, found: Collection[str], snapshot: Snapshot) -> set[str]:
    """Return the hits that the query names."""
    naming = NameLookup(search.question.text)
    rows = await snapshot.get_many(list(found), scopes=search.where.scopes)
    return {memory_id for memory_id, memory in rows.items() if naming.names(memory)}


async def _add_pinned(
    search: ParsedSearch,
    scores: Mapping[str, float],
    snapshot: Snapshot,
    scored: Callable[[Lists], Mapping[str, float]],
) -> dict[str, float]:
    """Return the pinned memories in addition to the others, with their scores, best first. Lists are made of them only
    if there are more than may be returned.
    """
    most = search.request.bias.beside
    if not most:
        return {}
    ways = search.request.bias.pinned_filters(search.where)
    # One more than may be returned, to learn whether a ranking is needed at all.
    pinned = {one: scores.get(one, 0.0) for one in await _newest(search, ways, most + 1, snapshot)}
    if len(pinned) > most:
        pinned = {}
        for where in ways:
            lists = await replace(search, where=where).make_lists(PINNED_LISTS, snapshot)
            pinned = either(pinned, scored(lists))
    best = sorted(pinned.items(), key=lambda entry: (entry[1], entry[0]), reverse=True)
    return dict(best[:most])


async def _newest(search: ParsedSearch, ways: Sequence[Where], limit: int, snapshot: Snapshot) -> set[str]:
    """Return the newest `limit` memories of each filter."""
    found: set[str] = set()
    for where in ways:
        try:
            found |= {entry.memory_id for entry in await snapshot.recent(where, limit=limit)}
        except MnemicError as failure:
            search.note(PINNED, failure)
    return found


POOLED = 34
"""Messages whose relevances are fitted to their order together, the same number however many hits are requested; a
later one is at most as relevant as the last of them.
"""


def explain_order(
    entries: Sequence[Entry], relevances: Mapping[str, float], messages: Collection[str]
) -> tuple[list[Entry], Mapping[str, float]]:
    """Return the entries with their scores, best first, and the relevances that explain their order. `messages` and the
    others each stay in order and are merged by relevance. Pinned memories among them stay in place; a hit without
    relevance comes last.
    """
    if not relevances:
        return list(entries), relevances
    judged = [one for one, _, reason in entries if reason == RELEVANCE and one in relevances]
    said = [one for one in judged if one in messages]
    stated = [one for one in judged if one not in messages]
    found = {**_fit_relevances(said, relevances), **_fit_relevances(stated, relevances)}
    order = merge(stated, said, key=lambda one: -found[one]) if said and stated else said or stated
    return _dealt(entries, iter(order), relevances), {**relevances, **found}


def _dealt(entries: Sequence[Entry], order: Iterator[str], relevances: Mapping[str, float]) -> list[Entry]:
    """Return the entries with the judged ones in this order and the scores of the unpinned dealt out, best first."""
    moving = [entry for entry in entries if entry[2] == RELEVANCE]
    if len(moving) == len(entries) and all(before[1] >= after[1] for before, after in pairwise(entries)):
        unjudged = [one for one, _, _ in entries if one not in relevances]
        return [(one, score, RELEVANCE) for one, (_, score, _) in zip(chain(order, unjudged), entries, strict=True)]
    moved = chain(order, [one for one, _, _ in moving if one not in relevances])
    scores = iter(sorted((score for _, score, _ in moving), reverse=True))
    return [entry if entry[2] != RELEVANCE else (next(moved), next(scores), RELEVANCE) for entry in entries]


def _fit_relevances(order: Sequence[str], relevances: Mapping[str, float]) -> dict[str, float]:
    """Return the relevances of the first `POOLED` fitted to the order, and the rest bounded by the preceding ones."""
    found = _isotonic(order[:POOLED], relevances)
    least = min(found.values(), default=1.0)
    for one in order[POOLED:]:
        found[one] = least = min(least, relevances[one])
    return found


def _isotonic(order: Sequence[str], relevances: Mapping[str, float]) -> dict[str, float]:
    """Return the relevances that fall along `order` and differ least from the given ones (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for one in order:
        total, many = relevances[one], 1
        while pools and pools[-1][0] * many < total * pools[-1][1]:
            before, more = pools.pop()
            total, many = total + before, many + more
        pools.append((total, many))
    means = chain.from_iterable(repeat(round(total / many, 4), many) for total, many in pools)
    return dict(zip(order, means, strict=True))


def plan_of(search: ParsedSearch, lists: Iterable[str]) -> SearchPlan:
    """Return the plan of a search that is done, by the names of its lists."""
    request, where, question = search.request, search.where, search.question
    told_from, told_to = _days_meant(question)
    meant = dict.fromkeys(one.node for one in search.reached if one.named)
    return SearchPlan(
        queries=(question.text, *(part.text for part in search.parts)) if question.text else (),
        top_k=request.top_k,
        levels=tuple(scope.level for scope in where.scopes),
        kinds=_as_tuple(where.kinds),
        categories=_as_tuple(where.categories),
        keys=_as_tuple(where.keys),
        happened_from=where.happened_from,
        happened_to=where.happened_to,
        as_of=where.as_of,
        known_at=request.known_at,
        named=request.named,
        told_from=told_from,
        told_to=told_to,
        speakers=tuple(sorted(question.speakers)),
        nodes=tuple(meant),
        reached=len({one.node for one in search.reached} - meant.keys()),
        lists=tuple(lists),
        where=request.data,
    )


def with_anchor(plan: SearchPlan, anchor: TimeAnchor | None) -> SearchPlan:
    """Return the plan with the memory of the event by which the query gives its time."""
    if anchor is None:
        return plan
    return replace(plan, anchor=anchor.memory_id, anchor_at=anchor.moment, anchor_side=anchor.clause.side.value)


def _as_tuple(words: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if words is None else tuple(sorted(map(str, words)))


def _days_meant(question: Question) -> tuple[date | None, date | None]:
    """Return the days that the query means: relative to the day it is asked on, or else those of the date that it
    names.
    """
    if question.period is not None:
        return question.period.begin, question.period.end
    return (None, None) if question.names_date is None else question.names_date.days
