"""Place of a memory, and the actor who asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
