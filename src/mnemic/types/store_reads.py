"""Values of reading as a store sees it: the filter, and the contents of its lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import NamedTuple

from mnemic.errors import InvalidInput
from mnemic.language.text.cues import Cues
from mnemic.types.enums import Kind, Status
from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory
from mnemic.types.scope import Scope
from mnemic.types.values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Where(Serialisable):
    """A filter. It always names its scopes, all of one tenant, so no query can forget isolation.

    `happened_from`/`happened_to` bound `Memory.happened_at` (from inclusive, to exclusive). `as_of` selects memories
    that were true at that time, superseded ones included. `live_at` excludes memories that have expired by then,
    `hidden_keys` those under one of these keys. `memory_ids` restricts the result to these memories.
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
        """The only tenant that this filter can reach."""
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

    def among(self, memory_ids: Iterable[str]) -> Where:
        """Return the filter for those of these memories that this one accepts."""
        chosen = frozenset(memory_ids)
        return replace(self, memory_ids=chosen if self.memory_ids is None else chosen & self.memory_ids)

    def _accepts_state(self, memory: Memory) -> bool:
        if self.as_of is None:
            return memory.status in self.statuses
        # A statement that was replaced later was still the valid one at that time.
        return memory.status in self.statuses | {Status.SUPERSEDED} and memory.was_true_at(self.as_of)


class Scored(NamedTuple):
    """One entry of one ranked list."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HotSetContents:
    """Contents of a hot set for one scope: its newest memories, newest first. `complete`: there are no others."""

    memory_ids: tuple[str, ...]
    complete: bool


class Signals(NamedTuple):
    """Facts about a memory that ranking needs in addition to its scores. `turn` is its position in its session, counted
    from 0; it is -1 for memories that are not messages.
    """

    memory_id: str
    happened_at: datetime
    session: str | None = None
    turn: int = -1
    speaker: str | None = None
    cues: Cues = Cues()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScopeChanges:
    """Changes of a scope up to its change `seen`: the data of each memory that was added or changed, by id, and if any
    was removed the ids of the remaining ones (`kept`; None: none was removed).
    """

    seen: int
    data: Mapping[str, Mapping[str, JsonValue]] = field(default_factory=dict, repr=False)
    kept: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """Capabilities and limits of a record store. Differences between stores are declared here, not guessed from a name.

    `durable`: an acknowledged write survives power loss. `shared`: several processes may open it. `phrase`: quoted
    words in a keyword query must be adjacent. `exact_up_to`: in a scope with more memories (a store may count inactive
    ones), `nearest` may miss a few of the nearest, but never returns fewer; None for a store that is always exact.
    `sealed`: the parts of a memory that are encrypted with its subject's data key, of `content`, `vectors` and `words`.
    `grouped`: concurrent transactions run in the order of their calls, and are committed together if that is cheaper.
    `reads_marks`: a snapshot reads marks as the store does, as of its moment, and a search then reads consents with the
    rest. `collects`: a reader of the outbox first collects it, which may take long. `degraded`: configured parts that
    the store currently runs without, such as `replica`.
    """

    name: str
    durable: bool
    shared: bool
    phrase: bool = False
    exact_up_to: int | None = None
    sealed: frozenset[str] = frozenset()
    grouped: bool = False
    reads_marks: bool = False
    collects: bool = False
    degraded: frozenset[str] = frozenset()
