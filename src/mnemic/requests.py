"""Every request to the memory, as frozen values that can be copied, compared, pickled, and converted to JSON and back.

A face (library, command line, REST, MCP, client) creates a request and `MemoryEngine.handle` answers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from mnemic.types import (
    Candidate,
    ContextBlock,
    ForgetResult,
    Kind,
    Level,
    Memory,
    Message,
    Origin,
    SearchResult,
    UserProfile,
    WriteReceipt,
    frozen,
)
from mnemic.types.ratings import Rating
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS, DEFAULT_PROFILE_TOKENS
from mnemic.types.trace import RunReport

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T_co]):
    """A request on behalf of an actor; `T_co` is the type of its answer. What answers it: `engine.handler_table` for a
    request that changes memory, `engine.READS` for one that reads, with the fields as arguments.
    """


def arguments_of(request: Request[Any]) -> dict[str, Any]:
    """Return the fields of a request as the arguments of the method that answers it."""
    return {one.name: getattr(request, one.name) for one in fields(request)}


class _FrozenFields(Request[T_co]):
    """A request that freezes lists and dicts, so that it can be hashed and survives JSON unchanged."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, list | dict):
                object.__setattr__(self, name, frozen(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory(_FrozenFields[WriteReceipt]):
    """Remember one statement or a ready `Candidate`; see `MemoryEngine.add`. `level`: None for that of the kind; `ttl`:
    how long it is stored, as a duration or as `30d`, `10y`, `never`.
    """

    content: str | Candidate = field(kw_only=False, repr=False)
    kind: Kind | str = field(default=Kind.LONG_TERM, kw_only=False)
    key: str | None = None
    level: Level | str | None = None
    category: str | None = None
    data: Mapping[str, Any] | None = field(default=None, repr=False)
    ttl: timedelta | str | None = None
    confidence: float = 0.8
    occurred_at: datetime | None = None
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(NewMemory):
    """Remember one statement in words of `origin`; None: of the actor's channel."""

    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMany(_FrozenFields[Any]):
    """Remember many things; a bad one stops no other. `captured`: a turn found them in a message."""

    candidates: tuple[Candidate, ...]
    idempotency_keys: tuple[str | None, ...] | None = field(default=None, repr=False)
    captured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(_FrozenFields[Sequence[WriteReceipt]]):
    """Store the messages of a conversation verbatim."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(_FrozenFields[RunReport]):
    """Run one memory-augmented turn: remember from `message`, answer `goal` from memory; see `MemoryEngine.run`."""

    message: str | Message | None = None
    goal: str | None = field(default=None, repr=False)
    context: Mapping[str, Any] | None = field(default=None, repr=False)
    idempotency_key: str | None = field(default=None, repr=False)
    min_score: float = 0.0
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(Request[RunReport]):
    """Remember the durable facts in the user's message; the report lists facts written, blocked and skipped."""

    message: str | Message | Mapping[str, Any] = field(repr=False, kw_only=False)
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import(_FrozenFields[Sequence[Any]]):
    """Remember the durable facts in the messages of a conversation, in order."""

    messages: tuple[Message, ...]
    idempotency_keys: tuple[str | None, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(_FrozenFields[WriteReceipt]):
    """Correct a memory; its old version stays in the history. Omitted fields stay unchanged; an empty `key`,
    `category` or `context` removes it; `ttl` counts from now. Raises MemoryNotFound, VersionConflict.
    """

    memory_id: str = field(kw_only=False)
    content: str | None = field(default=None, repr=False, kw_only=False)
    key: str | None = field(default=None, repr=False)
    category: str | None = None
    data: Mapping[str, Any] | None = field(default=None, repr=False)
    context: str | None = field(default=None, repr=False)
    ttl: timedelta | str | None = None
    confidence: float | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Correction):
    """Correct a memory in words of `origin`; None: of the actor's channel."""

    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(Request[None]):
    """Delete a memory with all its versions."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Request[WriteReceipt]):
    """Restore the content that a memory had in `version`."""

    memory_id: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Request[Any]):
    """Undo a merge, a replacement or an approval."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore(Request[WriteReceipt]):
    """Restore a memory from an archive in all its versions, oldest first. `own`: its origin, trust and author are to be
    believed.
    """

    versions: tuple[Memory, ...]
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreConsent(Request[WriteReceipt]):
    """Restore a consent from an archive, unless the key already has one."""

    key: str = field(repr=False)
    granted: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Derive(_FrozenFields[WriteReceipt]):
    """Remember a statement derived from other memories, if these still exist when it is committed."""

    candidate: Candidate
    sources: tuple[str, ...]


# -- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(_FrozenFields[SearchResult]):
    """Find the best memories for `query`; see `MemoryEngine.search`."""

    query: str = field(kw_only=False, repr=False)
    top_k: int = 10
    levels: Sequence[str] | None = None
    kinds: Sequence[Kind | str] | None = None
    categories: Sequence[str] | None = None
    keys: Sequence[str] | None = None
    where: Mapping[str, Any] | None = field(default=None, repr=False)
    happened_from: datetime | None = None
    happened_to: datetime | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    asked_at: datetime | None = None
    min_score: float = 0.0
    max_tokens: int | None = None
    preference_bias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Request[ContextBlock]):
    """Return the memories that a model asked `query` would be shown, and log them as injected."""

    query: str = field(kw_only=False, repr=False)
    top_k: int = DEFAULT_MAX_ENTRIES
    max_tokens: int = DEFAULT_MAX_TOKENS
    min_score: float = 0.0
    profile_tokens: int = 0
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Request[UserProfile]):
    """Return who the user is and what holds now, each line with its memory; what has no room is left out."""

    max_tokens: int = DEFAULT_PROFILE_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Get(Request[Memory]):
    """Return one memory, as it was true and believed at the moments given. Raises MemoryNotFound."""

    memory_id: str = field(kw_only=False)
    as_of: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Request[Sequence[Memory]]):
    """Return every version of a memory, or every value of a key, oldest first. Raises MemoryNotFound."""

    memory_id: str = field(kw_only=False)
    as_of: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selecting(_FrozenFields[T_co]):
    """A request about the active memories that meet a filter."""

    kinds: Sequence[Kind | str] | None = None
    categories: Sequence[str] | None = None
    keys: Sequence[str] | None = field(default=None, repr=False)
    where: Mapping[str, Any] | None = field(default=None, repr=False)
    happened_from: datetime | None = None
    happened_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Filtered(_Selecting[T_co]):
    """A request about the memories that meet a filter now or did at another time."""

    as_of: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class List(_Filtered[Sequence[Memory]]):
    """Return active memories, newest first; `before` is the memory_id that ended the previous page."""

    limit: int = 50
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(_Filtered[int]):
    """Return how many active memories meet a filter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetMatching(_Selecting[ForgetResult]):
    """Delete the active memories that meet a filter, the newest `limit` of them; `dry_run` only lists them. Raises
    InvalidInput (`filter:empty`) without a filter: `privacy.erase` deletes everything.
    """

    limit: int = 1000
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Request[Rating | None]):
    """Say that a memory is `useful` or `wrong` to the actor's user, or `none`; see `MemoryEngine.rate`."""

    memory_id: str
    verdict: str


# -- review, rights of the person, jobs of the operator ---------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(_FrozenFields[WriteReceipt]):
    """Approve a pending memory, optionally with corrected `content`; it replaces the memories of `merge_with`."""

    memory_id: str
    content: str | None = field(default=None, repr=False)
    merge_with: tuple[str, ...] = ()
    whole_tenant: bool = False
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reject(Request[WriteReceipt]):
    """Turn a waiting memory down. `reason` is a code, never free text."""

    memory_id: str
    whole_tenant: bool = False
    reason: str = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent(Request[str]):
    """Grant or revoke the actor's consent to memories under a key."""

    key: str = field(repr=False)
    granted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Erase(Request[Any]):
    """Erase everything about a user of the tenant; with `block` nothing is learnt about them again."""

    subject: str
    block: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseKey(Request[Any]):
    """Erase all memories of the actor's user under one key."""

    key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire(Request[Any]):
    """Mark expired memories, and purge those marked a grace period ago. None takes the defaults."""

    grace: timedelta | None = None
    apart: timedelta | None = None
    hard_kinds: frozenset[Kind] | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RotateDataKeys(Request[Any]):
    """Give the user `subject`, or everybody of the tenant, another data key."""

    subject: str | None = None
    keep_old: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(Request[Any]):
    """Show the values that the markers of a memory replace."""

    memory_id: str
    role: str
    whole_tenant: bool = False


PARAMETERS: dict[str, str] = {
    "as_of": "A time: statements that were true then. With its zone, or a date: its beginning in UTC.",
    "asked_at": "Reference time for phrases such as `last week` in the query; null: now.",
    "before": "Cursor: `next` of the previous page.",
    "categories": "Only memories of these categories.",
    "category": "A category to group memories by.",
    "confidence": "Confidence that it is true, 0 to 1.",
    "data": "Data fields to store with the memory, as a JSON object.",
    "dry_run": "Change nothing and report what would change.",
    "expected_version": "Fail unless the memory is still at this version.",
    "happened_from": "Only events from this time on. With its zone, or a date: its beginning in UTC.",
    "happened_to": "Only events before this time. With its zone, or a date: its beginning in UTC.",
    "key": "Key to store the content under, such as `seat`.",
    "keys": "Only memories under these keys.",
    "kinds": "Only memories of these kinds.",
    "known_at": "A time: memories as they were stored then. With its zone, or a date: its beginning in UTC.",
    "levels": "Only memories at these levels.",
    "limit": "Maximum number of results.",
    "max_tokens": "Maximum number of tokens.",
    "min_score": "The minimum relevance of a hit, 0 to 1; its minimum score where the relevance is unknown.",
    "occurred_at": "Time of the event. With its zone, or a date: its beginning in UTC.",
    "preference_bias": "Boost the policy's preference keys.",
    "profile_tokens": "Tokens of the user's profile that come first, whatever is asked; 0: what bears on it.",
    "query": "The question or search text.",
    "top_k": "Maximum number of results.",
    "valid_from": "Time from which the statement was true. With its zone, or a date: its beginning in UTC.",
    "valid_to": "Time until which the statement was true. With its zone, or a date: its beginning in UTC.",
    "where": "Only memories whose `data` meets this filter, a JSON object: values, and operators such as `$gte`.",
}
"""The meaning of each field of a request: help of the command line, and descriptions in the service's OpenAPI."""
