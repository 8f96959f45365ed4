"""Where a memory belongs and who acts: scopes, actors, identifiers."""

from __future__ import annotations

import hmac
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from mnemic.errors import InvalidInput
from mnemic.types.enums import Level, Origin
from mnemic.types.json_forms import Serialisable
from mnemic.types.values import checked_identifier, checked_name

_LEVELS = tuple(Level)


# `order`: jobs visit the scopes of a tenant in a fixed order, so that an interrupted run can be continued.
@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Scope(Serialisable):
    """Place of a memory. Two scopes share nothing, whatever their names."""

    tenant: str
    level: Level
    owner: str

    def __post_init__(self) -> None:
        checked_identifier(self.tenant, "tenant")
        checked_name(self.owner, "owner")
        if self.level not in _LEVELS:
            raise InvalidInput("level")


def subject_of(scope: Scope, author: str | None) -> Scope:
    """Return the scope of the person whose data `scope` contains: the scope's owner if that is a person, else the
    author as far as known.

    A person is recognised by their own scope.
    """
    if scope.level is Level.USER or author is None:
        return scope
    return Scope(tenant=scope.tenant, level=Level.USER, owner=author)


def checked_actor(actor: Actor) -> Actor:
    """Return the actor. Raises InvalidInput (`actor`) for anything else, such as the bare name of a user."""
    if not isinstance(actor, Actor):
        raise InvalidInput("actor", hint='an Actor, such as Actor(user="ana")')
    return actor


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor(Serialisable):
    """Caller of a request. Built from the credential or by the embedding program, never from a model's arguments.

    `channel` is the way the words arrived; it bounds the origin of all that this actor writes (`mnemic.types.lowered`).
    """

    tenant: str = "default"
    user: str
    agent: str = "default"
    workspace: str | None = None
    session: str | None = None
    task: str | None = None
    channel: Origin = Origin.USER_STATED

    def __post_init__(self) -> None:
        checked_identifier(self.tenant, "tenant")
        for name in ("user", "agent"):
            checked_name(getattr(self, name), name)
        for name in ("workspace", "session", "task"):
            if getattr(self, name) is not None:
                checked_name(getattr(self, name), name)

    def scope(self, level: Level | str) -> Scope:
        """Return the actor's scope at `level`. Raises InvalidInput (`invalid_input:scope:<level>`) for none."""
        # The values of `Level` are names of fields of `Actor`; the test keeps other fields from being read as a level.
        owner = getattr(self, level, None) if level in _LEVELS else None
        if owner is None:
            raise InvalidInput(f"scope:{level}", hint="the actor names no owner at this level")
        return scope_named(self.tenant, level, owner)

    def scopes(self, levels: Sequence[Level | str]) -> tuple[Scope, ...]:
        """Return the actor's scopes at `levels`, in that order."""
        return tuple(self.scope(level) for level in levels)


@lru_cache(maxsize=1024)
def scope_named(tenant: str, level: Level | str, owner: str) -> Scope:
    """Return the scope with these names, cached: each write uses its scope a dozen times, and each memory that is read
    once. Raises as `Scope` does.
    """
    return Scope(tenant=tenant, level=Level(level), owner=owner)


class _Stamps:
    """Milliseconds and a 12-bit counter, never the same twice in one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def following(self, at: datetime) -> int:
        with self._lock:
            # If the clock goes back the counter goes on, so identifiers never repeat and always increase.
            self._last = max(self._last + 1, int(at.timestamp() * 1000) << 12)
            return self._last


_stamps = _Stamps()


def new_id(at: datetime) -> str:
    """Return a UUIDv7 for the moment `at`, as text.

    Identifiers made in one process are strictly increasing, even if the clock stops or goes back: 12 bits
    below the millisecond count on (RFC 9562, section 6.2, method 1).
    """
    stamp = _stamps.following(at)
    # 62 random bits tell processes apart that write within the same millisecond.
    random_bits = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    milliseconds, counter = stamp >> 12, stamp & 0xFFF
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | random_bits
    digits = f"{value:032x}"  # as `str(uuid.UUID(int=value))`, in a fraction of the time
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def first_id(at: datetime) -> str:
    """Return the text that no identifier made at `at` or later is smaller than, and every earlier one is."""
    milliseconds = f"{int(at.timestamp() * 1000) & ((1 << 48) - 1):012x}"
    return f"{milliseconds[:8]}-{milliseconds[8:]}"


def time_of_id(memory_id: str) -> datetime:
    """Return the time at which an identifier was made, to the millisecond."""
    milliseconds = int(memory_id.replace("-", "")[:12], 16)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@lru_cache(maxsize=1024)
def token_of(secret: bytes, user: str) -> str:
    """Return the pseudonym of a user: 32 hex digits, keyed by the tenant's secret."""
    return hmac.digest(secret, f"subject\x1f{user}".encode(), "sha256").hex()[:32]
