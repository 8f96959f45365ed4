"""One search: the lists side by side, fused, biased, cut to the budget, with the reason for each hit."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from mnemic.errors import MnemicError
from mnemic.ports import Embedder, RecordStore
from mnemic.retrieve.fuse import Fused, Weights, fuse
from mnemic.retrieve.lists import LISTS, Question, RankedList
from mnemic.types import Deadline, Hit, Kind, Memory, Scored, SearchResult, Vector, Where

T = TypeVar("T")

MAX_TOP_K = 100
MAX_QUERY_CHARS = 8192
_KEY_WORDS = 4
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bias:
    """Preference bias: memories under `keys` join the candidates and gain `bonus`, whatever the query says.

    It is a run-time switch, not "always include": they still compete for the places. Standing keys, kinds and categories need no
    competition: they are included by policy, first, and counted against `top_k`.
    """

    keys: frozenset[str] = frozenset()
    bonus: float = 0.4
    standing_keys: frozenset[str] = frozenset()
    standing_kinds: frozenset[Kind] = frozenset()
    standing_categories: frozenset[str] = frozenset()


def spelled_keys(query: str) -> frozenset[str]:
    """Every key that some neighbouring words of `query` could spell: "update channel" spells `update_channel`."""
    words = _WORD.findall(query.lower())
    return frozenset(
        "_".join(words[start : start + length])
        for length in range(1, _KEY_WORDS + 1)
        for start in range(len(words) - length + 1)
    )


@dataclass(slots=True)
class Searcher:
    """Searches one record store with one embedder.

    A list that fails is named in `SearchResult.errors` and the rest still answer; if all of them fail, the first failure is
    raised, so that an outage never looks like "nothing is known".
    """

    store: RecordStore
    embedder: Embedder
    weights: Weights = field(default_factory=Weights)
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
        """The `top_k` best memories for `query`; an empty query lists the newest. Raises MnemicError if every list fails."""
        text = query.strip()[:MAX_QUERY_CHARS]
        errors: dict[str, str] = {}
        if not text:
            ranked = {"recency": await self.store.recent(where, limit=top_k)}
        else:
            ranked = await self._ranked(text, where, errors, deadline)
        biased = await self._biased(where, bias, errors) if bias else {}
        fused = [one for one in fuse(ranked, self.weights) if one.score >= min_score]
        order = _ordered(fused, biased, bias)
        hits = await self._hits(order[:top_k], where)
        return SearchResult(hits=hits, errors=errors, where=where, query=text)

    async def _ranked(
        self, text: str, where: Where, errors: dict[str, str], deadline: Deadline | None
    ) -> dict[str, Sequence[Scored]]:
        vector = await self._vector(text, errors, deadline)
        question = Question(text=text, vector=vector, keys=spelled_keys(text), depth=self.depth)
        names = [name for name in self.lists if not (name == "vector" and vector is None)]
        answers = await asyncio.gather(
            *(self.lists[name](self.store, where, question) for name in names), return_exceptions=True
        )
        ranked: dict[str, Sequence[Scored]] = {}
        failures = [_failure(name, answer, errors) for name, answer in zip(names, answers, strict=True)]
        for name, answer in zip(names, answers, strict=True):
            if not isinstance(answer, BaseException):
                ranked[name] = answer
        if not ranked:
            raise next(failure for failure in failures if failure is not None)
        return ranked

    async def _vector(self, text: str, errors: dict[str, str], deadline: Deadline | None) -> Vector | None:
        try:
            return (await self.embedder.embed([text], deadline=deadline))[0]
        except MnemicError as failure:
            errors["vector"] = failure.reason
            return None

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


def _failure(name: str, answer: object, errors: dict[str, str]) -> MnemicError | None:
    if not isinstance(answer, BaseException):
        return None
    if not isinstance(answer, MnemicError):
        raise answer
    errors[name] = answer.reason
    return answer


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


def _ordered(fused: list[Fused], biased: Mapping[str, str], bias: Bias | None) -> list[tuple[Fused, str]]:
    if not biased or bias is None:
        return [(one, "relevance") for one in fused]
    known = {one.memory_id: one for one in fused}
    for memory_id in biased:
        known.setdefault(memory_id, Fused(memory_id))
    for memory_id, reason in biased.items():
        if reason == "preference_bias":
            known[memory_id].score = min(1.0, known[memory_id].score + bias.bonus)
    order = [(one, biased.get(one.memory_id, "relevance")) for one in known.values()]
    return sorted(order, key=lambda pair: (pair[1] == "standing", pair[0].score, pair[0].memory_id), reverse=True)


def _hit(memory: Memory, one: Fused, reason: str) -> Hit:
    return Hit(memory=memory, score=round(one.score, 6), ranks=one.ranks, reason=reason)
