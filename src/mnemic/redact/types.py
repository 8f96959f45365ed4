"""The values of the library: finds, detectors, actions, the result of a redaction, and errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

PLACEHOLDER = "\ufdd0"
"""Marks a replaced span while the rest of a text is searched: a noncharacter, so no text contains it, and no word
character, so it bounds a word as brackets do.
"""


class RedactError(ValueError):
    """Root of the errors. `reason` is a stable code, `hint` states the accepted values; neither quotes the text."""

    def __init__(self, reason: str, *, hint: str) -> None:
        self.reason = reason
        self.hint = hint
        super().__init__(f"{reason} - {hint}")


class InvalidRules(RedactError):
    """An unknown entity in `redaction.entities`, or a region without numbering plan in `redaction.regions`."""


class Unredactable(RedactError):
    """A text built so that every replacement uncovers a new find (`redaction`)."""


class Found(NamedTuple):
    """A stretch of text, and its spelling, by which two stretches count as the same thing."""

    start: int
    end: int
    value: str


class Detector(Protocol):
    """Finds one kind of thing."""

    @property
    def entity(self) -> str:
        """Name, in capitals, of the kind of thing that it finds, as in markers, settings and reports."""

    def find(self, text: str) -> Iterable[Found]:
        """Everything of this kind in `text`, which is NFKC-folded; validated; in time linear in its length."""


class Span(NamedTuple):
    """A stretch of the text to be replaced, and its spelling, by which two of them count as the same thing."""

    start: int
    end: int
    entity: str
    value: str


class Action(StrEnum):
    """Action on an entity: replace it by a marker, do so and store the value sealed, refuse the whole write, or leave
    it unchanged.
    """

    REDACT = "redact"
    TOKENISE = "tokenise"
    BLOCK = "block"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """A text after redaction, and the entities that were replaced or that forbid storing it, each as often as found.

    `spans`: the places of the replacements in the original text, in order. `tokens`: for each marker of an entity with
    the action `tokenise`, the value that it replaced.
    """

    text: str = field(repr=False)
    replaced: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    spans: tuple[Span, ...] = field(default=(), repr=False)

    @property
    def kinds(self) -> frozenset[str]:
        """The entities that were found, replaced or blocked, without repetition."""
        return frozenset(self.replaced + self.blocked)
