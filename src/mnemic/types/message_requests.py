"""Requests about memory that a user's message makes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mnemic.types.memory import Memory
from mnemic.types.serialisation import Serialisable
from mnemic.types.values import JsonValue, frozen

MemoryRequestKind = Literal["forget", "forget_all", "wrong", "show"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRequest(Serialisable):
    """A request about memory that the user made in a message; nothing of it is done before somebody confirms it.

    `forget` what is known about `subject`, `forget_all`, `wrong`: what was said of the user, about `subject` or last,
    is not so, `show` what is known. `memory_ids` are the memories it concerns, the most relevant or the newest first.
    """

    kind: MemoryRequestKind
    subject: str = field(default="", repr=False)
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedOut(Serialisable):
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
class Forgotten(Serialisable):
    """Result of forgetting by a filter: the ids of what was deleted, newest first (in a `dry_run` of what would be),
    and those `refused` because the caller's word is trusted less. `more`: others meet the filter; ask again.
    """

    memory_ids: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    more: bool = False
    dry_run: bool = False
