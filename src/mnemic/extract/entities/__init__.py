"""Persons and things that a message names, and their relations to each other.

By rules (`rules`) or by a language model (`model`). Both keep to what stands in the user's own words; neither knows
what is remembered already: that "Ana" is the Ana of last week is decided where it is remembered (`mnemic.kinds`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from mnemic.types import Deadline, Message, Skipped

ME = "\ufdd0me"
"""Stands for the user: a noncharacter in front, so that nobody is called that."""

ROLE = "\ufdd0role:"
"""Followed by a relation: whoever stands in it to the user ("my sister", who was not named this time)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Something that was named: what it is as far as that was said (`thing` otherwise), its other names, and the place
    of the words that say so.
    """

    name: str = field(repr=False)
    label: str = "thing"
    aliases: tuple[str, ...] = field(default=(), repr=False)
    span: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRelation:
    """A relation that was told. `source` and `target` are names, `ME`, or `ROLE` with a relation.

    `since` is when it began, if that was said; `ended` says that it holds no more; `span` is where it was said.
    """

    source: str = field(repr=False)
    relation: str
    target: str = field(repr=False)
    since: datetime | None = None
    ended: bool = False
    span: tuple[int, int] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityReading:
    """Names and relations of a message, and what was left out (`Skipped.reason`): `origin` not the user's own words,
    `transient`, `hypothetical`, `quoted`, `sarcasm`, `unsupported` by the user's words, `too_long`.
    """

    named: tuple[Named, ...] = ()
    relations: tuple[StatedRelation, ...] = ()
    skipped: tuple[Skipped, ...] = ()


class EntityReader(Protocol):
    """Reads entities and relations from one message."""

    async def read(self, message: Message, *, deadline: Deadline) -> EntityReading:
        """Read what the message names and tells; both ends of a relation are named, `ME`, or a `ROLE`.

        Raises ModelFailed in its kinds, and InvalidInput for a message that is not valid text.
        """
