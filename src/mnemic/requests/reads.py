"""Requests that only read, and `ForgetMatching`, which selects by a filter the memories to forget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from mnemic.requests import Request, T_co, _Holding
from mnemic.types import ContextBlock, ForgetResult, Kind, Memory, SearchResult
from mnemic.types.measures import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Search(_Holding[SearchResult]):
    """Find the best memories for `query`; see `MemoryEngine.search`."""

    verb: ClassVar[str | None] = "search"
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
class PinnedSearch(Search):
    """Find memories, `pinned` ones first; with `named` only those that the query names."""

    pinned: int = 0
    named: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Context(Request[ContextBlock]):
    """Return the memories that a model asked `query` would be shown, and log them as injected."""

    verb: ClassVar[str | None] = "context"
    query: str = field(kw_only=False, repr=False)
    top_k: int = DEFAULT_MAX_ENTRIES
    max_tokens: int = DEFAULT_MAX_TOKENS
    min_score: float = 0.0
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Get(Request[Memory]):
    """Return one memory, as it was true and believed at the moments given. Raises MemoryNotFound."""

    verb: ClassVar[str | None] = "get"
    memory_id: str = field(kw_only=False)
    as_of: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History(Request[Sequence[Memory]]):
    """Return every version of a memory, or every value of a key, oldest first. Raises MemoryNotFound."""

    verb: ClassVar[str | None] = "history"
    memory_id: str = field(kw_only=False)
    as_of: datetime | None = None
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Selecting(_Holding[T_co]):
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

    verb: ClassVar[str | None] = "list"
    limit: int = 50
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(_Filtered[int]):
    """Return how many active memories meet a filter."""

    verb: ClassVar[str | None] = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetMatching(_Selecting[ForgetResult]):
    """Delete the active memories that meet a filter, the newest `limit` of them; `dry_run` only lists them. Raises
    InvalidInput (`filter:empty`) without a filter: `privacy.erase` deletes everything.
    """

    verb: ClassVar[str | None] = "forget_matching"
    limit: int = 1000
    dry_run: bool = False
