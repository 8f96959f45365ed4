"""People and things that a message names, and the relations between them.

By rules (`rules`) or by a language model (`model`). Both use only the user's own words; neither knows existing
memories: `mnemic.kinds` decides whether "Ana" is the Ana of last week.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mnemic.types import Deadline, Message, Skipped

ME = "\ufdd0me"
"""Placeholder for the user. It begins with a noncharacter, so that no name equals it."""

ROLE = "\ufdd0role:"
"""Prefix of a relation, for a person without a name ("my sister")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEntity:
    """Entity that was named: its kind if stated (else `thing`), its other names, and the span of the words."""

    name: str = field(repr=False)
    label: str = "thing"
    aliases: tuple[str, ...] = field(default=(), repr=False)
    span: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRelation:
    """Stated relation. `source` and `target` are names, `ME`, or `ROLE` followed by a relation.

    `since` is its start, if stated; `ended` means that it is over; `span` is the place of the supporting words.
    """

    source: str = field(repr=False)
    relation: str
    target: str = field(repr=False)
    since: datetime | None = None
    ended: bool = False
    span: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityReading:
    """Entities and relations of a message, and the spans left out (`Skipped.reason`): `origin` not the user's own
    words, `transient`, `hypothetical`, `quoted`, `sarcasm`, `unsupported` by the user's words, `too_long`. `degraded`:
    the reason why a language model did not read the message, so that only rules did.
    """

    named: tuple[NamedEntity, ...] = ()
    relations: tuple[StatedRelation, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    degraded: str | None = None


class EntityReader(Protocol):
    """Reads entities and relations from one message."""

    async def read(self, message: Message, *, deadline: Deadline) -> EntityReading:
        """Return the entities and relations of the message; both ends of a relation are named, `ME`, or a `ROLE`.

        Raises ModelFailed and its subclasses, and InvalidInput for a message that is not valid text.
        """
