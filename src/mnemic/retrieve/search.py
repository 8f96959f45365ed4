"""One search: the lists side by side, fused, biased, cut to the budget, with the reason for each hit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from mnemic.errors import MnemicError
from mnemic.ports import Embedder, RecordStore
from mnemic.retrieve.fuse import Fused, Weights, fuse
from mnemic.retrieve.lists import LISTS, RankedList
from mnemic.retrieve.question import Question, read_question
from mnemic.retrieve.signals import SignalWeights, with_signals
from mnemic.types import Deadline, Hit, Kind, Memory, Scored, SearchResult, Where

T = TypeVar("T")

MAX_TOP_K = 100
MAX_QUERY_CHARS = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """Preference bias: memories under `keys` join the candidates and gain `bonus`, whatever the query says.

    It is a run-time switch, not "always include": they still compete for the places. Standing keys, kinds and
    categories need no competition: they are included by policy, first, and counted against `top_k`.
    """

    keys: frozenset[str] = frozenset()
    bonus: float = 0.4
    standing_keys: frozenset[str] = frozenset()
    standing_kinds: frozenset[Kind] = frozenset()
    standing_categories: frozenset[str] = frozenset()


@dataclass(slots=True)
class Searcher:
    """Searches one record store with one embedder.

    A list that fails is named in `SearchResult.errors` and the rest still answer; if all of them fail, the first
    failure is raised, so that an outage never looks like "nothing is known".
    """

    store: RecordStore
    embedder: Embedder
    weights: Weights = field(default_factory=Weights)
    signal_weights: SignalWeights = field(default_factory=SignalWeights)
    lists: Mapping[str, RankedList] = field(default_factory=lambda: LISTS)
    depth: int = 200

    async def search(
        self,
        query: str,
        where: Where,
        *,
        top_k: int,
        bias: Bias | None = None,
        min_score: float = 0.0,
        deadline: Deadline | None = None,
    ) -> SearchResult:
        """The `top_k` best memories for `query`; an empty query lists the newest. Raises MnemicError if every list
        fails.
        """
        text = query.strip()[:MAX_QUERY_CHARS]
        errors: dict[str, str] = {}
        if not text:
            fused = fuse({"recency": await self.store.recent(where, limit=top_k)}, Weights(recency=1.0))
        else:
            fused = await self._ranked(text, where, errors, deadline)
        biased = await self._biased(where, bias, errors) if bias else {}
        kept = {memory_id: one for memory_id, one in fused.items() if one.score >= min_score}
        order = _ordered(kept, biased, bias)
        hits = await self._hits(order[:top_k], where)
        return SearchResult(hits=hits, errors=errors, where=where, query=text)

    async def _ranked(
        self, text: str, where: Where, errors: dict[str, str], deadline: Deadline | None
    ) -> dict[str, Fused]:
        question = await self._question(text, where, errors, deadline)
        fused = fuse(await self._lists(where, question, errors), self.weights)
        try:
            signals = await self.store.signals(where, list(fused))
        except MnemicError as failure:
            errors["signals"] = failure.reason
            signals = {}
        lifted = with_signals(
            {one.memory_id: one.score for one in fused.values()}, signals, question, self.signal_weights
        )
        most = (
            self.weights.vector
            + self.weights.keyword
            + self.weights.key
            + self.weights.recency
            + self.signal_weights.most
        )
        for memory_id, score in lifted.items():
            fused[memory_id].score = min(1.0, max(0.0, score / most))
        return fused

    async def _question(self, text: str, where: Where, errors: dict[str, str], deadline: Deadline | None) -> Question:
        try:
            speakers = await self.store.speakers(where)
        except MnemicError as failure:
            errors["speakers"] = failure.reason
            speakers = frozenset()
        question = read_question(text, speakers=speakers, depth=self.depth)
        try:
            return replace(question, vector=(await self.embedder.embed([question.embedded], deadline=deadline))[0])
        except MnemicError as failure:
            errors["vector"] = failure.reason
            return question

    async def _lists(self, where: Where, question: Question, errors: dict[str, str]) -> dict[str, Sequence[Scored]]:
        names = [name for name in self.lists if not (name == "vector" and question.vector is None)]
        answers = await asyncio.gather(
            *(self.lists[name](self.store, where, question) for name in names), return_exceptions=True
        )
        ranked: dict[str, Sequence[Scored]] = {}
        failures: list[MnemicError] = []
        for name, answer in zip(names, answers, strict=True):
            if isinstance(answer, MnemicError):
                errors[name] = answer.reason
                failures.append(answer)
            elif isinstance(answer, BaseException):
                raise answer
            else:
                ranked[name] = answer
        if not ranked:
            raise failures[0]
        return ranked

    async def _biased(self, where: Where, bias: Bias, errors: dict[str, str]) -> dict[str, str]:
        """Memory ids that the bias brings in, each with its reason."""
        found: dict[str, str] = {}
        for reason, narrowed in _bias_filters(where, bias):
            try:
                memories = await self.store.newest(narrowed, limit=MAX_TOP_K)
            except MnemicError as failure:
                errors[reason] = failure.reason
                continue
            for memory in memories:
                found.setdefault(memory.memory_id, reason)
        return found

    async def _hits(self, order: Sequence[tuple[Fused, str]], where: Where) -> tuple[Hit, ...]:
        memories = await self.store.get_many([one.memory_id for one, _ in order], scopes=where.scopes)
        return tuple(
            _hit(memories[one.memory_id], one, reason)
            for one, reason in order
            if one.memory_id in memories and where.accepts(memories[one.memory_id])
        )


def _bias_filters(where: Where, bias: Bias) -> list[tuple[str, Where]]:
    filters = []
    if bias.standing_keys:
        filters.append(("standing", replace(where, keys=_within(bias.standing_keys, where.keys))))
    if bias.standing_kinds:
        filters.append(("standing", replace(where, kinds=_within(bias.standing_kinds, where.kinds))))
    if bias.standing_categories:
        filters.append(("standing", replace(where, categories=_within(bias.standing_categories, where.categories))))
    if bias.keys:
        filters.append(("preference_bias", replace(where, keys=_within(bias.keys, where.keys))))
    return filters


def _within(wanted: frozenset[T], allowed: frozenset[T] | None) -> frozenset[T]:
    return wanted if allowed is None else wanted & allowed


def _ordered(fused: Mapping[str, Fused], biased: Mapping[str, str], bias: Bias | None) -> list[tuple[Fused, str]]:
    """Best first, standing ones before all; equal scores by memory_id, newest first."""
    known = dict(fused)
    for memory_id, reason in biased.items():
        one = known.setdefault(memory_id, Fused(memory_id))
        if reason == "preference_bias" and bias is not None:
            one.score = min(1.0, one.score + bias.bonus)
    order = [(one, biased.get(one.memory_id, "relevance")) for one in known.values()]
    return sorted(order, key=lambda pair: (pair[1] == "standing", pair[0].score, pair[0].memory_id), reverse=True)


def _hit(memory: Memory, one: Fused, reason: str) -> Hit:
    return Hit(memory=memory, score=round(one.score, 6), ranks=one.ranks, reason=reason)
