"""Memories as others than their author are shown them: without the words that support them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mnemic.entrypoints.wire import hit_dict, report_dict
from mnemic.types import Actor, Hit, Level, Memory, SearchResult, to_json
from mnemic.types.trace import RunReport

_ONES_OWN = frozenset({Level.USER, Level.SESSION})


def shown(memory: Memory, actor: Actor) -> Memory:
    """Return the memory. One that is shared comes without its quote, unless the caller is whose words these are:
    approval lets a statement in, and not what somebody once said beside it.
    """
    if memory.scope.level in _ONES_OWN or (memory.author is not None and memory.author == actor.user):
        return memory
    return replace(memory, source=replace(memory.source, quote=None, span=None))


def all_shown(memories: Iterable[Memory], actor: Actor) -> list[Memory]:
    """Every one of them."""
    return [shown(one, actor) for one in memories]


def hits_shown(hits: Iterable[Hit], actor: Actor) -> tuple[Hit, ...]:
    """Return hits as the actor is shown them."""
    return tuple(replace(hit, memory=shown(hit.memory, actor)) for hit in hits)


def result_shown(result: SearchResult, actor: Actor) -> SearchResult:
    """Return the search's result as the actor is shown it."""
    return replace(result, hits=hits_shown(result.hits, actor))


def report_shown(report: RunReport, actor: Actor) -> dict[str, Any]:
    """Return what a run did as the actor is shown it, with what it found and what was not let through."""
    return report_dict(report) | {
        "hits": [hit_dict(hit) for hit in hits_shown(report.hits, actor)],
        "blocked": [to_json(one) for one in report.blocked],
    }
