"""Values of searching as a caller sees it: the query, the results, and the reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from mnemic.types.enums import Kind
from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory
from mnemic.types.store_reads import Where
from mnemic.types.values import JsonValue, frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent(Serialisable):
    """Parameters of a search. `levels` None means the levels that the runtime grants; `top_k` counts memories.

    `as_of` selects facts true at that time, `known_at` facts believed at that time; both together, facts believed then
    about that time. `parts` are the questions that `query` consists of, each also searched separately; if empty, rules
    split the query. `where` filters by the data of memories (`mnemic.types.filter_language`).
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


MESSAGE_CATEGORY = "message"
"""Category of a recorded message."""
OF_A_MESSAGE = 0.3
"""Fraction of the least relevance that a message needs: several messages of a conversation answer a question together.
On LoCoMo's test half 0.03 loses one evidence message in 20 of the best five, and leaves out nine in ten of the messages
that other conversations' questions find there.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(Serialisable):
    """A memory found by a search, its fused score in 0..1, its rank in each list and signal, and the reason why it is
    included.

    `outdated_by` is the memory_id of a later statement of the same person, among the hits or near them, that this one
    may be outdated by: which of the two holds is for the reader to judge. `disagrees_with` are the memory_ids of other
    hits, said with equal trust and still valid, that give another value if only one can be true, the latest first.
    `reason` is `relevance`, `preference_bias` or `standing` (pinned). `score` orders the hits of one search.
    `relevance` (0..1) is the probability that the memory is about the query and is comparable between searches and
    scopes; None if it is unknown. `why` is one sentence for people.
    """

    memory: Memory
    score: float
    ranks: Mapping[str, Rank] = field(default_factory=dict)
    reason: str = "relevance"
    outdated_by: str | None = None
    disagrees_with: tuple[str, ...] = ()
    relevance: float | None = None
    why: str = field(default="", repr=False)

    @property
    def content(self) -> str:
        """The text of the memory."""
        return self.memory.content

    @property
    def key(self) -> str | None:
        """The key of the memory; None if it has none."""
        return self.memory.key

    @property
    def id(self) -> str:
        """The memory_id of the memory, as `get`, `update` and `forget` take it."""
        return self.memory.memory_id

    if not TYPE_CHECKING:  # type checkers know what a hit has

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"a hit has no {name!r}: its text is `content`, its memory `memory`")

    @property
    def pinned(self) -> bool:
        """True if policy put it here, whatever it is about."""
        # The earlier word is part of the stored and exported format.
        return self.reason == "standing"

    def reaches(self, least: float) -> bool:
        """Return True if its relevance, or its score if that is unknown, is at least `least`."""
        return (self.score if self.relevance is None else self.relevance) >= least

    def concerns_query(self, least: float) -> bool:
        """Return True unless it is probably not about the query: its relevance is below `least`, of a message below
        `OF_A_MESSAGE` of that.
        """
        if self.relevance is None:
            return True
        return self.relevance >= least * (OF_A_MESSAGE if self.memory.category == MESSAGE_CATEGORY else 1)


class LazyText:
    """A text that is made when it is read: given for `Hit.why`, of which most callers read none."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def make_text(self) -> str:
        """Return the text."""
        return self._make()


class _WhySlot:
    """The slot of `Hit.why`: a `LazyText` in it becomes its text when it is read."""

    def __init__(self, slot: Any) -> None:
        self._slot = slot

    def __get__(self, hit: Hit | None, owner: type[Hit]) -> Any:
        if hit is None:
            return self
        why = self._slot.__get__(hit, owner)
        if isinstance(why, LazyText):
            why = why.make_text()
            self._slot.__set__(hit, why)
        return why

    def __set__(self, hit: Hit, why: str | LazyText) -> None:
        self._slot.__set__(hit, why)


Hit.why = _WhySlot(Hit.__dict__["why"])  # type: ignore[misc, assignment]

MIN_RELEVANCE = 0.17
"""Threshold of `relevance` below which a search abstains and a model call is shown nothing, unless the caller says
otherwise: few answerable questions score below it, most unanswerable ones do (bench/retrieval.md).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan(Serialisable):
    """Steps that a search actually took. `queries` are the query and the parts it was split into. `levels` to
    `known_at` bound the search; None means unbounded. Memories stated from `told_from` to `told_to`, or said by one of
    `speakers`, are boosted but never required; the same applies to memories `before`, `after` or `during` the event in
    the memory `anchor`, by which the query expresses its time. `nodes` are the graph entities that the query refers to,
    `reached` the number of neighbouring ones. `lists` are the lists that answered. `where` is the filter on data.
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
    """The hits, best first, as a sequence: `for hit in result`, `len(result)`, `result[0]`. With it come the lists that
    failed (`name: reason`), the filter that was applied (None: a service does not tell it) and the plan of the
    search. `relevance` (0..1) is the probability that anything about the query is known; None if it is unknown.
    """

    hits: tuple[Hit, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    where: Where | None = None
    query: str = field(default="", repr=False)
    plan: SearchPlan = SearchPlan()
    relevance: float | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, place: Any) -> Hit | tuple[Hit, ...]:
        if isinstance(place, str):
            raise TypeError("a search result is a sequence of hits: `result[0].content`, `for hit in result`")
        found: Hit | tuple[Hit, ...] = self.hits[place]
        return found

    @property
    def degraded(self) -> bool:
        """True if a list failed, so that an absent memory may exist after all."""
        return bool(self.errors)

    @property
    def abstains(self) -> bool:
        """True if probably nothing about the query is known: the hits are merely the nearest memories."""
        return self.abstains_below(MIN_RELEVANCE)

    def abstains_below(self, least: float) -> bool:
        """Return True if probably nothing about the query is known, by this threshold (0: never). `run` and injections
        follow the same rule.
        """
        return self.relevance is not None and self.relevance < least
