"""Everything that can be asked of memory, as frozen values: copied, compared, pickled, and turned into JSON and back.

A face (library, command line, REST, MCP, client) makes one of these; `MemoryEngine.handle` answers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from mnemic.types import (
    Candidate,
    JsonValue,
    Kind,
    Memory,
    Message,
    Origin,
    WriteReceipt,
    frozen,
)

if TYPE_CHECKING:
    from mnemic.requests.reading import Context as Context
    from mnemic.requests.reading import Count as Count
    from mnemic.requests.reading import Get as Get
    from mnemic.requests.reading import History as History
    from mnemic.requests.reading import List as List
    from mnemic.requests.reading import Search as Search

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T_co]):
    """Something asked of memory on behalf of an actor; `T_co` is the type of its answer. `verb` names the method of the
    engine that answers it with the fields as arguments; None: it changes memory, and a handler of the door answers.
    """

    verb: ClassVar[str | None] = None


class _Holding(Request[T_co]):
    """A request that may be given lists or dicts: they are frozen, so that it is hashed and comes back from JSON as it
    was.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, list | dict):
                object.__setattr__(self, name, frozen(value))


# -- writing -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Request[WriteReceipt]):
    """Remember one thing."""

    candidate: Candidate
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMany(_Holding[Any]):
    """Remember many things; a bad one stops no other. `captured`: a turn found them in a message."""

    candidates: tuple[Candidate, ...]
    idempotency_keys: tuple[str | None, ...] | None = field(default=None, repr=False)
    captured: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(_Holding[Sequence[WriteReceipt]]):
    """Keep the messages of a conversation themselves."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(_Holding[Any]):
    """One turn: remember from `message` (a capture, where there is no `goal`), answer `goal` with what is known."""

    verb: ClassVar[str | None] = "run"
    message: Message | None = None
    goal: str | None = field(default=None, repr=False)
    context: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(Request[Any]):
    """Remember what is worth it in something that the user said."""

    verb: ClassVar[str | None] = "capture"
    message: str | Message = field(repr=False)
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import(_Holding[Sequence[Any]]):
    """Remember what is worth it in the messages of a conversation, in their order."""

    verb: ClassVar[str | None] = "capture_many"
    messages: tuple[Message, ...]
    idempotency_keys: tuple[str | None, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(_Holding[WriteReceipt]):
    """Correct a memory. `data` and `context` stay as they are where they are None."""

    memory_id: str
    content: str = field(repr=False)
    data: Mapping[str, JsonValue] | None = field(default=None, repr=False)
    context: str | None = field(default=None, repr=False)
    expected_version: int | None = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(Request[None]):
    """Delete a memory with all its versions."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Request[WriteReceipt]):
    """Make a memory say again what it said in `version`."""

    memory_id: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Request[Any]):
    """Take back what a memory replaced."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore(Request[WriteReceipt]):
    """Bring back a memory of an archive in all its versions, oldest first. `own`: its origin, trust and author are to
    be believed.
    """

    versions: tuple[Memory, ...]
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreConsent(Request[WriteReceipt]):
    """Bring back a consent of an archive, unless something is decided about the key."""

    key: str = field(repr=False)
    granted: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Derive(_Holding[WriteReceipt]):
    """Remember what was drawn from other memories, if these are there when it is committed."""

    candidate: Candidate
    sources: tuple[str, ...]


# -- review ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(_Holding[WriteReceipt]):
    """Let a waiting memory in; with `content` it says that instead, with `merge_with` it replaces these, too."""

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


# -- the person's rights, and the operator's jobs ----------------------------------------------------------------------


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
    """Erase what the actor's user holds under one key."""

    key: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expire(Request[Any]):
    """Mark what has expired, purge what was marked a grace period ago. None takes the defaults."""

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


_READING = frozenset({"Context", "Count", "Get", "History", "List", "Search"})


def __getattr__(name: str) -> Any:
    """Load the requests that only read when one is first named: no write needs them."""
    if name not in _READING:
        raise AttributeError(f"module 'mnemic.requests' has no attribute {name!r}")
    return getattr(import_module("mnemic.requests.reading"), name)
