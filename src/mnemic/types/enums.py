"""The words of the vocabulary: kinds, levels, states, channels, outcomes."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Kind(StrEnum):
    """The seven kinds of memory; `mnemic.types.memory_kinds` has the guarantees of each."""

    WORKING = "working"
    SHORT_TERM = "short_term"
    LONG_TERM = "long_term"
    PERSONA = "persona"
    EPISODIC = "episodic"
    ENTITY = "entity"
    STRUCTURED = "structured"


class Level(StrEnum):
    """Level of a scope, which determines the owner of a memory. The owner at that level comes from the actor."""

    USER = "user"
    WORKSPACE = "workspace"
    AGENT = "agent"
    SESSION = "session"


SHARED = frozenset({Level.WORKSPACE, Level.AGENT})
"""Levels at which several users read each other's memories."""


class Status(StrEnum):
    """State of a memory. Only `active` is read unless a filter says otherwise."""

    ACTIVE = "active"
    PENDING_REVIEW = "pending_review"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    REJECTED = "rejected"


class Origin(StrEnum):
    """Channel that a memory came through. The engine sets it; a model never does."""

    USER_STATED = "user_stated"
    OPERATOR = "operator"
    IMPORT = "import"
    AGENT_INFERRED = "agent_inferred"
    TOOL_OUTPUT = "tool_output"
    WEB = "web"


KINDS, ORIGINS = tuple(Kind), tuple(Origin)
"""All of them: to ask an enumeration makes a list of it each time."""
_RANK = {
    Origin.OPERATOR: 5,
    Origin.USER_STATED: 4,
    Origin.IMPORT: 3,
    Origin.AGENT_INFERRED: 2,
    Origin.TOOL_OUTPUT: 1,
    Origin.WEB: 1,
}


def lower_origin(channel: Origin, origin: Origin) -> Origin:
    """Return the `origin` that a caller names, or that of the `channel` if the caller's would count for more."""
    return origin if _RANK[origin] <= _RANK[channel] else channel


class Trust(IntEnum):
    """Trust in a memory, which limits how much it may change: lower trust never replaces higher trust."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


class Outcome(StrEnum):
    """Outcome of a write."""

    CREATED = "created"
    REFRESHED = "refreshed"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    PENDING_REVIEW = "pending_review"
    BLOCKED = "blocked"
