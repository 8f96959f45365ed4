"""Requests about memory that a user's message makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory
from mnemic.types.values import JsonValue, frozen
from mnemic.types.writes import WriteReceipt

MemoryRequestKind = Literal["forget", "forget_all", "wrong", "show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest(Serialisable):
    """Request about memory in a user's message; it is carried out only after confirmation.

    `forget`: delete the memories of `subject`, superseded ones and recorded messages included; `forget_all`; `wrong`:
    the last statement, or the one about `subject`, is not true; `show`: list the memories. `memory_ids` are the
    memories concerned, most relevant or newest first, superseded ones and messages last. `things`: the names of the
    things that they are about, if those are several (two cars); the person who confirms chooses one.
    """

    kind: MemoryRequestKind
    subject: str = field(default="", repr=False)
    memory_ids: tuple[str, ...] = ()
    things: tuple[str, ...] = field(default=(), repr=False)


class ConversationReceipts(tuple[WriteReceipt, ...]):  # noqa: SLOT001 - a tuple has no slots of its own
    """A receipt for each memory from a conversation. `asked` are its requests about memory, to be carried out on
    confirmation.
    """

    asked: tuple[MemoryRequest, ...]

    def __new__(cls, receipts: Iterable[WriteReceipt] = (), asked: Iterable[MemoryRequest] = ()) -> Self:
        """Return the receipts, with the requests."""
        made = super().__new__(cls, receipts)
        made.asked = tuple(asked)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOutcome(Serialisable):
    """Result of a request about memory: the ids that were `forgotten`, the receipt of an `erasure` (a subject's own
    memories, all of them), or the `memories` to show.
    """

    forgotten: tuple[str, ...] = ()
    erasure: Mapping[str, JsonValue] | None = None
    memories: tuple[Memory, ...] = ()

    def __post_init__(self) -> None:
        if self.erasure is not None:
            object.__setattr__(self, "erasure", frozen(self.erasure))


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetResult(Serialisable):
    """Result of forgetting by a filter: the ids of the deleted memories, newest first (with `dry_run`, of those that
    would be deleted), and those `refused` because the caller has lower trust. `more`: further memories meet the filter;
    call again.
    """

    memory_ids: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    more: bool = False
    dry_run: bool = False
