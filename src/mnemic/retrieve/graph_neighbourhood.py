"""Surroundings of the people and things that a query names, as two more lists.

"Which city is my sister's employer in?" is answered by a memory that neither says "sister" nor "employer": one must go
from memory to memory. `graph` ranks the relations on the way, `near` other memories of the entities reached.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from mnemic.ports import Snapshot
from mnemic.types import Deadline, Memory, Scored, Where

GRAPH, NEAR = "graph", "near"
SAID = 0.8
"""The least score of a relation that the query names."""

MAX_NAMES = 8
_QUOTES = str.maketrans(dict.fromkeys('"“”', " "))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedNode:
    """Entity that the query names, or a neighbour of one.

    `way` are the memories of the relations that lead to it, in order, empty for an entity named directly; `relation` is
    the last of them. `names` are its names, without the words of the query. `score` (0 to 1) is higher for nearer
    entities and for a relation that the query mentions (`said`). `named`: the query means the entity itself.
    """

    node: str = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    way: tuple[str, ...] = ()
    relation: str = ""
    score: float = 0.0
    said: bool = False
    named: bool = False


Walk = Callable[[Deadline | None], Awaitable[Sequence[ReachedNode]]]
"""Walk from the entities that a query names to their neighbours, before the deadline. Raises MnemicError."""


class Neighbourhood(Protocol):
    """Protocol of the graph of known people and things."""

    async def find_named(self, query: str, where: Where, snapshot: Snapshot) -> Walk | None:
        """Return the walk from the entities that `query` names in the scopes of `where`; None if it names none. Only
        `moment` is read here. The walk may read another database, and its results are not yet filtered.
        """


async def visible_neighbours(
    reached: Iterable[ReachedNode], where: Where, keyword: Sequence[Scored], snapshot: Snapshot, *, depth: int
) -> tuple[Sequence[ReachedNode], dict[str, Sequence[Scored]]]:
    """Return those of `reached` whose path is visible, and the lists made of them. A path is hidden if one of its
    memories is deleted, hidden, or was not true or not stored at the time of `where`. `keyword` is the list by words.
    """
    passed = sorted({memory_id for one in reached for memory_id in one.way})
    memories = await snapshot.get_many(passed, scopes=where.scopes) if passed else {}
    any_kind = replace(where, kinds=None, categories=None, keys=None, happened_from=None, happened_to=None)
    known = {memory_id for memory_id, memory in memories.items() if any_kind.accepts(memory)}
    near = [one for one in reached if known.issuperset(one.way)]
    lists = {
        GRAPH: _relations(near, where, memories),
        NEAR: await _memories_named(near, where, keyword, snapshot, depth),
    }
    return near, {name: entries for name, entries in lists.items() if entries}


def _relations(near: Sequence[ReachedNode], where: Where, memories: Mapping[str, Memory]) -> Sequence[Scored]:
    """Return the last relation of each way that `where` accepts, best first."""
    scores: dict[str, float] = {}
    for one in near:
        if one.way and where.accepts(memories[one.way[-1]]):
            scores[one.way[-1]] = max(one.score, scores.get(one.way[-1], 0.0))
    return sorted(
        (Scored(*entry) for entry in scores.items()), key=lambda one: (one.score, one.memory_id), reverse=True
    )


async def _memories_named(
    near: Sequence[ReachedNode], where: Where, keyword: Sequence[Scored], snapshot: Snapshot, depth: int
) -> Sequence[Scored]:
    """Find the memories with the name of one that was reached along a relation that the query names, or with another
    name of one that it means itself: by BM25 of these names and of the query's own words, which add up.
    """
    meant = [one for one in near if one.said or one.named]
    names = " ".join(name for one in meant[:MAX_NAMES] for name in one.names).translate(_QUOTES)
    if not names.strip():
        return ()
    asked = dict(keyword)
    found = await snapshot.match(where, names, limit=depth)
    scores = [Scored(entry.memory_id, entry.score + asked.get(entry.memory_id, 0.0)) for entry in found]
    return sorted(scores, key=lambda one: (one.score, one.memory_id), reverse=True)
