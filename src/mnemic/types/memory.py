"""A memory, from the message it came from to the stored version."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256

from mnemic.errors import InvalidInput
from mnemic.types.enums import ORIGINS, Kind, Level, Origin, Status, Trust, lower_origin
from mnemic.types.json_forms import Serialisable
from mnemic.types.scope import Scope
from mnemic.types.values import JsonValue, Vector, aware, frozen

A_BREATH = timedelta(seconds=1)
"""Time within which the statements of one message are written, each after the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Serialisable):
    """Source of a memory. `quote` are the words that support it, `span` their place in their message."""

    origin: Origin = Origin.USER_STATED
    ref: str | None = None
    session: str | None = None
    speaker: str | None = field(default=None, repr=False)
    quote: str | None = field(default=None, repr=False)
    span: tuple[int, int] | None = None


PARTICIPANT = "participant"
"""Role of another person who takes part in the talk, and the mark of that person's words."""
PASTED = "pasted"
"""Member of a recorded message's `data`: most of the message was pasted, so it is not the speaker's own statement."""

UTC_OFFSET = "utc_offset"
"""Member of a recorded message's `data`: the minutes by which its own clock was ahead of UTC, if it was."""

BETWEEN_PEOPLE = "between_people"
"""Member of a memory's `data`: it was said to another person, not to an assistant, so less of it is meant to be known
and more is needed for it to replace something."""

ROLES = frozenset({"user", "assistant", "tool"})
"""Roles that may be replayed to a model. `system` never comes from a conversation, `summary` only from `compact`."""


_ROLE_ORIGIN = {
    "assistant": Origin.AGENT_INFERRED,
    "agent": Origin.AGENT_INFERRED,
    "ai": Origin.AGENT_INFERRED,
    "bot": Origin.AGENT_INFERRED,
    "model": Origin.AGENT_INFERRED,
    "function": Origin.TOOL_OUTPUT,
    "tool": Origin.TOOL_OUTPUT,
}
"""The highest origin of the words of a role that is not the user's, in lower case."""
MESSAGE_ROLES = frozenset({"user", PARTICIPANT, "system", *_ROLE_ORIGIN})
"""What the role of a message may be. Under any other, the user's words would count as nobody's."""


_UNREADABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROLS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"]
_WITHOUT_CONTROLS = {ord(one): " " if one.isspace() else None for one in _CONTROLS}
"""Control characters: those that separate words, such as a form feed, become a space; the others are nothing."""


ATTACHMENT = "attachment"
"""Category of a memory that a picture, a sound or a file was sent."""
FILE_BYTES = "base64"
"""Member of an attachment's `data`: its bytes, if they are kept."""
MAX_FILE_BYTES = 256 * 1024
"""Bytes of a file that is kept with its memory. Lists and searches leave them out; `get`, the history and exports do
not.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile(Serialisable):
    """A picture, a sound or a file that came with a message: its `media` type ("image/png"), and its bytes."""

    media: str
    base64: str = field(repr=False)
    name: str = ""

    @property
    def content(self) -> bytes:
        """The bytes. Raises InvalidInput (`file`) if they are not in base64."""
        try:
            return b64decode(self.base64, validate=True)
        except ValueError:
            raise InvalidInput("file", hint="its bytes are given in base64") from None

    @property
    def digest(self) -> str:
        """The first 32 hex digits of the SHA-256 of the bytes."""
        return sha256(self.content).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Serialisable):
    """One message of a conversation. Its `origin` is capped by its role: an assistant's or tool's words never count
    as the user's. Control characters in `content` are removed and a lone surrogate becomes U+FFFD, so that one bad
    character does not lose the message. `derived_from` names the messages that a summary was made from; other
    messages have none. `sent_at` keeps its time zone, in which "yesterday" is a day. `author` is the user whose name
    the message has in an open conversation; None if there is no particular user. `files` are what came with it and is
    named by a line of `content` each.
    """

    role: str
    content: str = field(repr=False)
    message_id: str | None = None
    session: str | None = None
    speaker: str | None = None
    sent_at: datetime | None = None
    origin: Origin = Origin.USER_STATED
    derived_from: tuple[str, ...] = ()
    author: str | None = None
    files: tuple[AttachedFile, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.sent_at is not None:
            # Its own zone is kept: "yesterday" is a day of the speaker.
            aware(self.sent_at, "sent_at")
        if isinstance(self.content, str) and _UNREADABLE.search(self.content):
            said = self.content.translate(_WITHOUT_CONTROLS)
            # Through UTF-16, so that two halves of a pair become one character and only lone ones U+FFFD.
            said = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            object.__setattr__(self, "content", said)
        ceiling = _ROLE_ORIGIN.get(str(self.role).strip().casefold())
        # An unknown origin is left as it is: `validate` refuses it with a reason, and `lowered` could not compare it.
        if ceiling is not None and self.origin in ORIGINS:
            object.__setattr__(self, "origin", lower_origin(ceiling, self.origin))


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate(Serialisable):
    """A proposed memory, untrusted until policy and the write path accept it.

    `content` is the text to remember; with a `key` it is that key's value. `context` is text that helps to find the
    memory and is never shown. `ttl` counts from the write; None leaves it to the policy and the kind, and
    `mnemic.policy.expiry_rule.FOREVER` asks for no end. `replaces` names memories of the same scope that this one
    should replace, or (`ends`) only end; the write path decides.
    """

    content: str = field(repr=False)
    key: str | None = None
    kind: Kind = Kind.LONG_TERM
    # A plain text: models propose any word here, and policy then rejects it with a reason instead of a ValueError.
    level: str = Level.USER
    category: str | None = None
    context: str = field(default="", repr=False)
    data: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    ttl: timedelta | None = None
    confidence: float = 0.8
    source: Source = Source()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    clamped: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    ends: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", frozen(self.data))
        for name in ("occurred_at", "valid_from", "valid_to"):
            moment = getattr(self, name)
            if moment is not None:
                object.__setattr__(self, name, aware(moment, name))

    def with_fields(self, **fields: object) -> Candidate:
        """Return the candidate with these fields; itself, if it has them already."""
        for name, new in fields.items():
            old = getattr(self, name)
            if old is not new and (type(old) is not type(new) or old != new):
                return replace(self, **fields)  # type: ignore[arg-type]
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory(Serialisable):
    """One memory in one version.

    `expires_at` None means never. `valid_from`/`valid_to` bound the time when it was true in the world;
    `created_at`/`updated_at` when mnemic learnt and last changed it. `supersedes` and `conflicts_with` name other
    memories of the same scope. `author` is the user on whose behalf this version was proposed, None if that was not
    recorded.
    """

    memory_id: str
    kind: Kind
    scope: Scope
    content: str = field(repr=False)
    created_at: datetime
    updated_at: datetime
    key: str | None = None
    category: str | None = None
    context: str = field(default="", repr=False)
    data: Mapping[str, JsonValue] = field(default_factory=dict, repr=False)
    status: Status = Status.ACTIVE
    confidence: float = 0.8
    trust: Trust = Trust.HIGH
    source: Source = Source()
    fingerprint: str = field(default="", repr=False)
    vector: Vector | None = field(default=None, repr=False)
    version: int = 1
    agent: str = "default"
    author: str | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # The caller keeps its own dict and may change it later.
        object.__setattr__(self, "data", frozen(self.data))

    @property
    def happened_at(self) -> datetime:
        """Time at which it took place, or was learnt if that is unknown."""
        return self.occurred_at or self.created_at

    def was_true_at(self, moment: datetime) -> bool:
        """Return True if it was true in the world at `moment`, as far as this version knows."""
        began = self.valid_from or self.happened_at
        return began <= moment and (self.valid_to is None or self.valid_to > moment)

    def next_version(self, updated_at: datetime, **changes: object) -> Memory:
        """Return this memory changed, one version on."""
        return replace(self, version=self.version + 1, updated_at=updated_at, **changes)  # type: ignore[arg-type]


EPISODE = "episode"
"""The category of a memory that tells an episode."""


def without_bytes(memory: Memory) -> Memory:
    """Return the memory as lists and searches show it: without the bytes of its file."""
    if memory.category != ATTACHMENT or FILE_BYTES not in memory.data:
        return memory
    return replace(memory, data={name: value for name, value in memory.data.items() if name != FILE_BYTES})


def holds_graph(memory: Memory) -> bool:
    """Return True if a memory may carry part of the graph: an entity, or an episodic memory of category `episode`."""
    return memory.kind is Kind.ENTITY or (memory.kind is Kind.EPISODIC and memory.category == EPISODE)
