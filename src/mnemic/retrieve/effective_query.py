"""Report of the effective query of a search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from mnemic.retrieve.question import Question
from mnemic.retrieve.search_state import ParsedSearch
from mnemic.retrieve.time_anchor import TimeAnchor
from mnemic.types import SearchPlan


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
