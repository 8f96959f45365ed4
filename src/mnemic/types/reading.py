"""Reading: filters, intents, ranked lists, hits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import NamedTuple

from mnemic.errors import InvalidInput
from mnemic.types.memory import Memory
from mnemic.types.scope import Scope
from mnemic.types.serialisation import Serialisable
from mnemic.types.values import JsonValue, frozen
from mnemic.types.words import Kind, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Where(Serialisable):
    """A filter. It always names the scopes, all of one tenant; no query can forget isolation.

    `happened_from`/`happened_to` bound `Memory.happened_at` (from inclusive, to exclusive). `as_of` asks what was true
    then: memories whose validity covers it, superseded ones included. `live_at` hides what has expired by then,
    `hidden_keys` what stands under one of these keys. `memory_ids`: only these.
    """

    scopes: tuple[Scope, ...]
    kinds: frozenset[Kind] | None = None
    categories: frozenset[str] | None = None
    keys: frozenset[str] | None = None
    statuses: frozenset[Status] = frozenset({Status.ACTIVE})
    happened_from: datetime | None = None
    happened_to: datetime | None = None
    as_of: datetime | None = None
    live_at: datetime | None = None
    hidden_keys: frozenset[str] = frozenset()
    memory_ids: frozenset[str] | None = None

    def __post_init__(self) -> None:
        if not self.scopes or len({scope.tenant for scope in self.scopes}) != 1:
            raise InvalidInput("scopes", hint="a filter names at least one scope, all of one tenant")

    @property
    def tenant(self) -> str:
        """The one tenant whose memories this filter can reach."""
        return self.scopes[0].tenant

    def accepts(self, memory: Memory) -> bool:
        """Return True if `memory` passes: the meaning of a filter, which every store must agree with."""
        return (
            memory.scope in self.scopes
            and (self.kinds is None or memory.kind in self.kinds)
            and (self.categories is None or memory.category in self.categories)
            and (self.keys is None or memory.key in self.keys)
            and (self.memory_ids is None or memory.memory_id in self.memory_ids)
            and (memory.key is None or memory.key not in self.hidden_keys)
            and (self.happened_from is None or memory.happened_at >= self.happened_from)
            and (self.happened_to is None or memory.happened_at < self.happened_to)
            and (self.live_at is None or memory.expires_at is None or memory.expires_at > self.live_at)
            and self._accepts_state(memory)
        )

    def _accepts_state(self, memory: Memory) -> bool:
        if self.as_of is None:
            return memory.status in self.statuses
        return memory.status in self.statuses | {Status.SUPERSEDED} and memory.was_true_at(self.as_of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Serialisable):
    """Description of what to look for. `levels` None means the levels the runtime grants; `top_k` counts memories.

    `as_of`: what was true then. `known_at`: what was believed then. Together: what was believed then of that time.
    `parts`: what `query` asks about, each looked for by itself, too; empty leaves it to the rules. `where`: a filter on
    the data of memories (`mnemic.conditions`).
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


class Scored(NamedTuple):
    """One entry of one ranked list."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hottest:
    """Contents of a hot set for one scope: its newest memories, newest first. `complete`: there are no others."""

    memory_ids: tuple[str, ...]
    complete: bool


class Cues(NamedTuple):
    """Signs that a text shows at a glance (`mnemic.text.cues` reads it): its number of words, the share of them that
    only asks, whether its speaker talks of themselves, whether it names a time.
    """

    words: int = 0
    asking: float = 0.0
    oneself: bool = False
    timed: bool = False


class Signals(NamedTuple):
    """Facts that ranking needs about a memory besides its scores. `turn` is its place in its session, counted from 0,
    and -1 for memories that are not messages.
    """

    memory_id: str
    happened_at: datetime
    session: str | None = None
    turn: int = -1
    speaker: str | None = None
    cues: Cues = Cues()


class Usage(NamedTuple):
    """Amount held: memories, bytes of all that is written of them but vectors, and memories that came recently."""

    rows: int = 0
    bytes: int = 0
    recent: int = 0


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
