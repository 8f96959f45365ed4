"""Compose an answer from a goal and memories: by a model, or offline by templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from mnemic.types import Deadline


class Basis(StrEnum):
    """Basis of an answer: a language model; a template that uses memories; a template that only repeats them, which
    proves no use of them; or nothing, if no source could answer.
    """

    MODEL = "model"
    TEMPLATE = "template"
    ECHO = "echo"
    NONE = "none"

    @classmethod
    def from_answer(cls, composer: object, raw: object) -> Basis:
        """Return the basis of the raw answer of `composer`. A basis that a model claims does not count."""
        if getattr(composer, "asks_model", False) or not isinstance(raw, Mapping):
            return cls.MODEL
        return cls(raw.get("basis", cls.MODEL))


class Composer(Protocol):
    """Writes the answer of a turn."""

    async def compose(
        self, goal: str, context: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], *, deadline: Deadline
    ) -> Any:
        """Return a raw answer `{"answer": str, "used_memory_keys": [ref, ...]}`, unchecked.

        A composer that is no model adds a `basis` (of `Basis`). `memories` are `{"ref", "key", "value", "scope",
        "confidence"}`; a memory is cited by its `ref`. Raises ModelFailed.
        """


@runtime_checkable
class LimitedComposer(Protocol):
    """A composer with a limit on the length of its answers."""

    def with_limit(self, max_answer_chars: int, *, prose: bool) -> Composer:
        """Return this composer for answers of at most this number of characters; with `prose` also in plain words."""
