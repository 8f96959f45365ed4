"""Every request to the memory, as frozen values that can be copied, compared, pickled, and converted to JSON and back.

A face (library, command line, REST, MCP, client) creates a request and `MemoryEngine.handle` answers it. This module
has the requests that add; the others are loaded on first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from mnemic.types import Candidate, Kind, Level, WriteReceipt, frozen

if TYPE_CHECKING:
    from mnemic.requests.administration import Approve as Approve
    from mnemic.requests.administration import Consent as Consent
    from mnemic.requests.administration import Erase as Erase
    from mnemic.requests.administration import EraseKey as EraseKey
    from mnemic.requests.administration import Expire as Expire
    from mnemic.requests.administration import Reject as Reject
    from mnemic.requests.administration import Reveal as Reveal
    from mnemic.requests.administration import RotateDataKeys as RotateDataKeys
    from mnemic.requests.reads import Context as Context
    from mnemic.requests.reads import Count as Count
    from mnemic.requests.reads import ForgetMatching as ForgetMatching
    from mnemic.requests.reads import Get as Get
    from mnemic.requests.reads import History as History
    from mnemic.requests.reads import List as List
    from mnemic.requests.reads import Search as Search
    from mnemic.requests.writes import Capture as Capture
    from mnemic.requests.writes import Correction as Correction
    from mnemic.requests.writes import Derive as Derive
    from mnemic.requests.writes import Forget as Forget
    from mnemic.requests.writes import Import as Import
    from mnemic.requests.writes import Record as Record
    from mnemic.requests.writes import Restore as Restore
    from mnemic.requests.writes import RestoreConsent as RestoreConsent
    from mnemic.requests.writes import Rollback as Rollback
    from mnemic.requests.writes import Run as Run
    from mnemic.requests.writes import Undo as Undo
    from mnemic.requests.writes import Update as Update

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Generic[T_co]):
    """A request on behalf of an actor; `T_co` is the type of its answer. `verb` names the engine method that answers
    it, with the fields as arguments; None means that the request changes memory and the dispatcher's handler
    answers it.
    """

    verb: ClassVar[str | None] = None


def given(request: Request[Any]) -> dict[str, Any]:
    """Return the fields of a request as the arguments of the verb that answers it."""
    return {one.name: getattr(request, one.name) for one in fields(request)}


class _Holding(Request[T_co]):
    """A request that freezes lists and dicts, so that it can be hashed and survives JSON unchanged."""

    __slots__ = ()

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if isinstance(value, list | dict):
                object.__setattr__(self, name, frozen(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory(_Holding[WriteReceipt]):
    """Remember one statement or a ready `Candidate`; see `MemoryEngine.add`. `level`: None for that of the kind; `ttl`:
    how long it is stored, as a duration or as `30d`, `10y`, `never`.
    """

    verb: ClassVar[str | None] = "add"
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
class Add(Request[WriteReceipt]):
    """Remember one candidate."""

    candidate: Candidate
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AddMany(_Holding[Any]):
    """Remember many things; a bad one stops no other. `captured`: a turn found them in a message."""

    candidates: tuple[Candidate, ...]
    idempotency_keys: tuple[str | None, ...] | None = field(default=None, repr=False)
    captured: bool = False


_LATE = {
    "writes": "Capture Correction Derive Forget Import Record Restore RestoreConsent Rollback Run Undo Update",
    "reads": "Context Count ForgetMatching Get History List Search",
    "administration": "Approve Consent Erase EraseKey Expire Reject Reveal RotateDataKeys",
}
"""The requests that each module has, which is loaded when one of them is first named."""


def __getattr__(name: str) -> Any:
    for module, names in _LATE.items():
        if name in names.split():
            return getattr(import_module(f"mnemic.requests.{module}"), name)
    raise AttributeError(f"module 'mnemic.requests' has no attribute {name!r}")
