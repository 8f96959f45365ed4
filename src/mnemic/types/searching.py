"""Searching as a caller sees it: what is looked for, what was found, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import NamedTuple

from mnemic.types.enums import Kind
from mnemic.types.memory import Memory
from mnemic.types.reading import Where
from mnemic.types.serialisation import Serialisable
from mnemic.types.values import JsonValue, frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Serialisable):
    """Description of what to look for. `levels` None means the levels the runtime grants; `top_k` counts memories.

    `as_of`: what was true then. `known_at`: what was believed then. Together: what was believed then of that time.
    `parts`: what `query` asks about, each looked for by itself, too; empty leaves it to the rules. `where`: a filter on
    the data of memories (`mnemic.types.conditions`).
    """

    query: str = field(repr=False)
    parts: tuple[str, ...] = field(default=(), repr=False)
    top_k: int = 4
    levels: tuple[str, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    categories: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    happened_from: datetime | None = None
    happened_to: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    min_score: float = 0.0
    where: Mapping[str, JsonValue] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.where is not None:
            object.__setattr__(self, "where", frozen(self.where))


class Rank(NamedTuple):
    """Place of a hit in one list: `position` counts from 1, `score` is in that list's own unit."""

    position: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Serialisable):
    """A memory that was found, its fused score in 0..1, what each list and sign said of it, and why it is here.

    `outdated_by` is the memory_id of a later statement of the same person, among the hits or near them, that takes its
    place. `reason` is `relevance`, `preference_bias` or `standing`. `score` orders the hits of one search; `relevance`
    (0..1) is how likely the memory is about the query, and can be compared between searches and scopes; None where
    that cannot be told. `why` is one sentence for people.
    """

    memory: Memory
    score: float
    ranks: Mapping[str, Rank] = field(default_factory=dict)
    reason: str = "relevance"
    outdated_by: str | None = None
    relevance: float | None = None
    why: str = field(default="", repr=False)

    @property
    def standing(self) -> bool:
        """True if policy put it here, whatever it is about."""
        return self.reason == "standing"


ABSTAINS_BELOW = 0.2
"""Few questions about what is known are below it, most about anything else are (docs/benchmarks/retrieval.md)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan(Serialisable):
    """Record of what a search really looked for. `queries`: the query, and the parts that it was cut into. `levels` to
    `known_at` bound it; None: no bound. What was told from `told_from` to `told_to`, or said by one of `speakers`, is
    lifted, and nothing is cut off for it; nor for what came `before` or `after` the memory `anchor` (or in its days:
    `during`), by which the query tells its time. `nodes`: those of the graph of entities that the query means,
    `reached`: the number of others that are near to them. `lists` are those that answered. `where`: the filter on data.
    """

    queries: tuple[str, ...] = field(default=(), repr=False)
    top_k: int = 0
    levels: tuple[str, ...] = ()
    kinds: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    happened_from: datetime | None = None
    happened_to: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    named: bool = False
    told_from: date | None = None
    told_to: date | None = None
    anchor: str | None = None
    anchor_at: datetime | None = None
    anchor_side: str | None = None
    speakers: tuple[str, ...] = field(default=(), repr=False)
    nodes: tuple[str, ...] = field(default=(), repr=False)
    reached: int = 0
    lists: tuple[str, ...] = ()
    where: Mapping[str, JsonValue] | None = field(default=None, repr=False)

    def as_dict(self) -> dict[str, JsonValue]:
        """Return the plan as JSON data."""
        plan: dict[str, JsonValue] = {}
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, tuple):
                plan[part.name] = list(value)
            else:
                plan[part.name] = value.isoformat() if isinstance(value, date) else value
        return plan


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult(Serialisable):
    """The hits, best first, the lists that failed (`name: reason`), the filter that was really used, and what was
    looked for. `relevance`: how likely it is that anything about the query is known at all, 0 to 1; None where that
    cannot be told.
    """

    hits: tuple[Hit, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    where: Where
    query: str = field(default="", repr=False)
    plan: SearchPlan = SearchPlan()
    relevance: float | None = None

    @property
    def degraded(self) -> bool:
        """True when a list failed, so that a missing memory does not mean that there is none."""
        return bool(self.errors)

    @property
    def abstains(self) -> bool:
        """True where probably nothing about the query is known: the hits are only the nearest of what there is."""
        return self.relevance is not None and self.relevance < ABSTAINS_BELOW
