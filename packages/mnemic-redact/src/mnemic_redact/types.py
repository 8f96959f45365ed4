"""Detectors of personal data and their finds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class Found(NamedTuple):
    """A stretch of text and the spelling by which two of them are the same thing."""

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
