"""Animals by their kind: a Labrador is a dog, so "The dog died" may be about it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from mnemic.language.frames.statement_frame import Frame
from mnemic.language.frames.vocabulary import animal_words


def kinds_named(frame: Frame) -> frozenset[str]:
    """Return the kinds of animals that a statement names by the word for the kind itself."""
    return animal_words()["called"].found(frame.plain)


def sorts_named(frame: Frame) -> Mapping[str, frozenset[str]]:
    """Return, by their kind, the breeds and species that a statement names."""
    words = animal_words()["sorts"]
    return {kind: frozenset(words.expressions[kind].findall(frame.plain)) for kind in words.found(frame.plain)}


def may_be_called(old: Frame, kind: str) -> bool:
    """Return True if `old` names an animal of a kind, by the word for it or by its breed."""
    return kind in kinds_named(old) or kind in sorts_named(old)


@lru_cache(maxsize=64)
def kind_of(noun: str) -> str | None:
    """Return the kind of animals that a word in plain letters means, None for another word."""
    return next(iter(animal_words()["called"].found(noun)), None)
