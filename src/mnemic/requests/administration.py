"""Requests of review, of the person's rights, and of the operator's jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from mnemic.requests import Request, _Holding
from mnemic.types import Kind, WriteReceipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Approve(_Holding[WriteReceipt]):
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
