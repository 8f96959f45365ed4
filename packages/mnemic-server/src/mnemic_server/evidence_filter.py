"""Memories as shown to persons other than their author: without the quoted evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from mnemic.json_output import hit_dict, report_dict
from mnemic.types import Actor, Hit, Level, Memory, SearchResult, to_json
from mnemic.types.ratings import RatedMemory
from mnemic.types.trace import RunReport

_ONES_OWN = frozenset({Level.USER, Level.SESSION})


def hide_quote(memory: Memory, actor: Actor) -> Memory:
    """Return the memory. A shared one comes without its quote, unless the caller is the speaker: approval publishes a
    statement, not the words around it.
    """
    if memory.scope.level in _ONES_OWN or (memory.author is not None and memory.author == actor.user):
        return memory
    return replace(memory, source=replace(memory.source, quote=None, span=None))


def rating_shown(rated: RatedMemory, actor: Actor) -> RatedMemory:
    """Return a rating with its memory as the actor may see it."""
    return rated if rated.memory is None else replace(rated, memory=hide_quote(rated.memory, actor))


def all_shown(memories: Iterable[Memory], actor: Actor) -> list[Memory]:
    """Return all of them."""
    return [hide_quote(one, actor) for one in memories]


def hits_shown(hits: Iterable[Hit], actor: Actor) -> tuple[Hit, ...]:
    """Return hits as the actor may see them."""
    return tuple(replace(hit, memory=hide_quote(hit.memory, actor)) for hit in hits)


def result_shown(result: SearchResult, actor: Actor) -> SearchResult:
    """Return the search's result as the actor may see it."""
    return replace(result, hits=hits_shown(result.hits, actor))


def report_shown(report: RunReport, actor: Actor) -> dict[str, Any]:
    """Return the report of a run as the actor may see it, with the hits and the blocked candidates."""
    return report_dict(report) | {
        "hits": [hit_dict(hit) for hit in hits_shown(report.hits, actor)],
        "blocked": [to_json(one) for one in report.blocked],
    }
