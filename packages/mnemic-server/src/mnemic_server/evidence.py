"""Memories as others than their author are shown them: without the words that support them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mnemic.types import Actor, Level, Memory, SearchResult

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


def result_shown(result: SearchResult, actor: Actor) -> SearchResult:
    """Return the search's result as the actor is shown it."""
    return replace(result, hits=tuple(replace(hit, memory=shown(hit.memory, actor)) for hit in result.hits))
