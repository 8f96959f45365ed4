"""The values that travel through mnemic: frozen, keyword-only, no I/O, no third-party import.

Times are aware and in UTC, durations are `timedelta`, vectors are packed bytes. What a person said (content, data,
quotes) is left out of every `repr`, so that it cannot reach a log by accident.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from types import MappingProxyType

from mnemic.errors import InvalidInput

Vector = bytes
"""A unit-length embedding: little-endian float32 values, packed."""

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,127}", re.ASCII)


def checked_identifier(value: object, name: str) -> str:
    """`value` if it is an identifier (ASCII, 1 to 128 characters, compared byte by byte); nothing is repaired.

    Raises InvalidInput (`invalid_input:<name>`) otherwise.
    """
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        raise InvalidInput(name, hint="an identifier has 1 to 128 of the characters A-Z a-z 0-9 _ . : @ + -")
    return value


def aware(moment: datetime, name: str) -> datetime:
    """`moment` in UTC; a naive one is refused with `invalid_input:<name>`."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInput(name, hint="a time needs a time zone")
    return moment.astimezone(UTC)


def frozen(value: JsonValue) -> JsonValue:
    """A deeply immutable copy of JSON data."""
    if isinstance(value, Mapping):
        return MappingProxyType({key: frozen(item) for key, item in value.items()})
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(frozen(item) for item in value)
    return value


class Kind(StrEnum):
    """The seven kinds of memory; `mnemic.catalog` says what each promises."""

    WORKING = "working"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    PERSONA = "persona"
    EPISODIC = "episodic"
    ENTITY = "entity"
    STRUCTURED = "structured"


class Level(StrEnum):
    """Whose memory it is: the level of a scope. The owner at that level comes from the actor."""

    USER = "user"
    WORKSPACE = "workspace"
    AGENT = "agent"
    SESSION = "session"


class Status(StrEnum):
    """Where a memory stands. Only `active` is read unless a filter says otherwise."""

    ACTIVE = "active"
    PENDING_REVIEW = "pending_review"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    REJECTED = "rejected"


class Origin(StrEnum):
    """Which channel a memory came through. The engine sets it; a model never does."""

    USER_STATED = "user_stated"
    OPERATOR = "operator"
    IMPORT = "import"
    AGENT_INFERRED = "agent_inferred"
    TOOL_OUTPUT = "tool_output"
    WEB = "web"


class Trust(IntEnum):
    """How much a memory may change: lower trust never replaces higher trust."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


class Outcome(StrEnum):
    """How a write ended."""

    CREATED = "created"
    REFRESHED = "refreshed"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    PENDING_REVIEW = "pending_review"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Scope:
    """Where a memory lives. Two scopes share nothing, whatever their names."""

    tenant: str
    level: Level
    owner: str

    def __post_init__(self) -> None:
        checked_identifier(self.tenant, "tenant")
        checked_identifier(self.owner, "owner")
        if self.level not in tuple(Level):
            raise InvalidInput("level")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who asks. Built from the credential or by the embedding program, never from a model's arguments."""

    tenant: str = "default"
    user: str
    agent: str = "default"
    workspace: str | None = None
    session: str | None = None
    task: str | None = None

    def __post_init__(self) -> None:
        for name in ("tenant", "user", "agent"):
            checked_identifier(getattr(self, name), name)
        for name in ("workspace", "session", "task"):
            if getattr(self, name) is not None:
                checked_identifier(getattr(self, name), name)

    def scope(self, level: Level | str) -> Scope:
        """The actor's scope at `level`. Raises InvalidInput (`invalid_input:scope:<level>`) where the actor has
        none.
        """
        owner = getattr(self, level, None) if level in tuple(Level) else None
        if owner is None:
            raise InvalidInput(f"scope:{level}", hint="the actor names no owner at this level")
        return Scope(tenant=self.tenant, level=Level(level), owner=owner)

    def scopes(self, levels: Sequence[Level | str]) -> tuple[Scope, ...]:
        """The actor's scopes at `levels`, in that order."""
        return tuple(self.scope(level) for level in levels)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a memory came from. `quote` are the words that support it, `span` their place in the message they stand
    in.
    """

    origin: Origin = Origin.USER_STATED
    ref: str | None = None
    session: str | None = None
    speaker: str | None = field(default=None, repr=False)
    quote: str | None = field(default=None, repr=False)
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    role: str
    content: str = field(repr=False)
    message_id: str | None = None
    session: str | None = None
    speaker: str | None = None
    sent_at: datetime | None = None
    origin: Origin = Origin.USER_STATED

    def __post_init__(self) -> None:
        if self.sent_at is not None:
            object.__setattr__(self, "sent_at", aware(self.sent_at, "sent_at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A proposed memory, untrusted until guard and write path have passed it.

    `content` is what to remember; with a `key` it is that key's value. `context` is text that helps to find the memory
    and is never shown. `ttl` counts from the write; None takes the kind's retention.
    """

    content: str = field(repr=False)
    key: str | None = None
    kind: Kind = Kind.LONG_TERM
    level: str = Level.USER
    category: str | None = None
    context: str = field(default="", repr=False)
    data: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    ttl: timedelta | None = None
    confidence: float = 0.8
    source: Source = Source()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    clamped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", frozen(self.data))
        for name in ("occurred_at", "valid_from", "valid_to"):
            moment = getattr(self, name)
            if moment is not None:
                object.__setattr__(self, name, aware(moment, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory in one version.

    `expires_at` None means never. `valid_from`/`valid_to` say when it was true in the world; `created_at`/`updated_at`
    when mnemic learnt and last changed it. `supersedes` and `conflicts_with` name other memories of the same scope.
    """

    memory_id: str
    kind: Kind
    scope: Scope
    content: str = field(repr=False)
    created_at: datetime
    updated_at: datetime
    key: str | None = None
    category: str | None = None
    context: str = field(default="", repr=False)
    data: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    status: Status = Status.ACTIVE
    confidence: float = 0.8
    trust: Trust = Trust.HIGH
    source: Source = Source()
    fingerprint: str = field(default="", repr=False)
    vector: Vector | None = field(default=None, repr=False)
    version: int = 1
    agent: str = "default"
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", frozen(self.data))

    @property
    def happened_at(self) -> datetime:
        """When it took place, or when it was learnt where that is not known."""
        return self.occurred_at or self.created_at

    def next_version(self, updated_at: datetime, **changes: object) -> Memory:
        """This memory changed, one version on."""
        return replace(self, version=self.version + 1, updated_at=updated_at, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A filter. It always names the scopes, all of one tenant; no query can forget isolation.

    `happened_from`/`happened_to` bound `Memory.happened_at` (from inclusive, to exclusive). `as_of` asks what was true
    then: memories whose validity covers it, superseded ones included. `live_at` hides what has expired by then.
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

    def __post_init__(self) -> None:
        if not self.scopes or len({scope.tenant for scope in self.scopes}) != 1:
            raise InvalidInput("scopes", hint="a filter names at least one scope, all of one tenant")

    @property
    def tenant(self) -> str:
        """The one tenant whose memories this filter can reach."""
        return self.scopes[0].tenant

    def accepts(self, memory: Memory) -> bool:
        """Whether `memory` passes: the meaning of a filter, which every store must agree with."""
        return (
            memory.scope in self.scopes
            and (self.kinds is None or memory.kind in self.kinds)
            and (self.categories is None or memory.category in self.categories)
            and (self.keys is None or memory.key in self.keys)
            and (self.happened_from is None or memory.happened_at >= self.happened_from)
            and (self.happened_to is None or memory.happened_at < self.happened_to)
            and (self.live_at is None or memory.expires_at is None or memory.expires_at > self.live_at)
            and self._accepts_state(memory)
        )

    def _accepts_state(self, memory: Memory) -> bool:
        if self.as_of is None:
            return memory.status in self.statuses
        began = memory.valid_from or memory.happened_at
        ended = memory.valid_to
        return (
            memory.status in self.statuses | {Status.SUPERSEDED}
            and began <= self.as_of
            and (ended is None or ended > self.as_of)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What to look for. `levels` None means the levels the runtime grants; `top_k` counts memories."""

    query: str = field(repr=False)
    top_k: int = 4
    levels: tuple[str, ...] | None = None
    kinds: tuple[Kind, ...] | None = None
    categories: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    happened_from: datetime | None = None
    happened_to: datetime | None = None
    as_of: datetime | None = None
    min_score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One entry of one ranked list."""

    memory_id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cues:
    """What a text shows of itself at a glance (`mnemic.text.cues` reads it): how many words it has, which share of them
    only asks, whether its speaker talks of themselves, whether it names a time.
    """

    words: int = 0
    asking: float = 0.0
    oneself: bool = False
    timed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """What ranking needs to know of a memory besides its scores. `turn` is its place in its session, counted from 0,
    and -1 for memories that are not messages.
    """

    memory_id: str
    happened_at: datetime
    session: str | None = None
    turn: int = -1
    speaker: str | None = None
    cues: Cues = Cues()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """Where one list placed a hit: `position` counts from 1, `score` is in that list's own unit."""

    position: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that was found, its fused score in 0..1, what each list said of it, and why it is here.

    `reason` is `relevance`, `preference_bias` or `standing`.
    """

    memory: Memory
    score: float
    ranks: Mapping[str, Rank] = field(default_factory=dict)
    reason: str = "relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The hits, best first, the lists that failed (`name: reason`), and the filter that was really used."""

    hits: tuple[Hit, ...]
    errors: Mapping[str, str] = field(default_factory=dict)
    where: Where
    query: str = field(default="", repr=False)

    @property
    def degraded(self) -> bool:
        """True when a list failed, so that a missing memory does not mean that there is none."""
        return bool(self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one step of the write path decided, and its cost in milliseconds."""

    name: str
    decision: str
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReceipt:
    """How one write ended. `durable` says whether it survives power loss; `degraded` names what could not be done after
    it.
    """

    outcome: Outcome
    memory_id: str | None = None
    version: int | None = None
    key: str | None = None
    level: str = Level.USER
    reason: str | None = None
    superseded: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    clamped: tuple[str, ...] = ()
    durable: bool = True
    degraded: tuple[str, ...] = ()
    replayed: bool = False

    @property
    def was_duplicate(self) -> bool:
        """The same memory was already there; it was refreshed, no row was added."""
        return self.outcome is Outcome.REFRESHED

    @property
    def was_merged(self) -> bool:
        """A near-duplicate was superseded by one merged memory."""
        return self.outcome is Outcome.MERGED

    @property
    def was_flagged(self) -> bool:
        """It contradicts something known and waits for review."""
        return self.outcome is Outcome.PENDING_REVIEW

    @property
    def stored(self) -> bool:
        """Something was committed."""
        return self.outcome is not Outcome.BLOCKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked:
    """A candidate the execution boundary did not let through."""

    key: str | None
    reason: str
    level: str = Level.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """Something that was not proposed for storage, and why (`transient`, `unsupported`, `duplicate`, ...)."""

    reason: str
    key: str | None = None
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One line of the append-only history. `hash` chains it to the tenant's previous line."""

    sequence: int = 0
    tenant: str
    action: str
    at: datetime
    actor: str
    scope: Scope | None = None
    memory_id: str | None = None
    version: int | None = None
    detail: Mapping[str, JsonValue] = field(default_factory=dict)
    hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """Work for the projections: `memory_id` changed to `version`; `action` is `upsert` or `remove`."""

    sequence: int = 0
    tenant: str
    action: str
    memory_id: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """Which model made the vectors and how many dimensions they have. Vectors of two spaces are never compared."""

    model: str
    dimension: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One call of a language model that must answer with one JSON object of `schema` (JSON Schema)."""

    system: str
    user: str = field(repr=False)
    schema_name: str = "answer"
    schema: Mapping[str, JsonValue] | None = None
    max_output_tokens: int = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What the model answered and what it cost in tokens."""

    text: str = field(repr=False)
    model: str
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock after which work must stop."""

    expires_at: float
    monotonic: Callable[[], float] = field(repr=False)

    @classmethod
    def after(cls, duration: timedelta, monotonic: Callable[[], float]) -> Deadline:
        """The deadline `duration` from now."""
        return cls(monotonic() + duration.total_seconds(), monotonic)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.expires_at - self.monotonic())

    @property
    def expired(self) -> bool:
        """True once no time is left."""
        return self.remaining() == 0.0
