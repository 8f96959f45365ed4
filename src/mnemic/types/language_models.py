"""Inputs and outputs of language models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import AttachedFile
from mnemic.types.values import JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One call of a language model that must answer with one JSON object of `schema` (JSON Schema), or in words if it
    `may_be_prose`. `before`: the turns of the conversation that `user` continues, each a role and its text.
    `tell` gets an answer in words piece by piece, from models that give it so. `files` come with `user`.
    """

    system: str
    user: str = field(repr=False)
    schema_name: str = "answer"
    schema: Mapping[str, JsonValue] | None = None
    max_output_tokens: int = 1024
    may_be_prose: bool = False
    before: Sequence[tuple[str, str]] = field(default=(), repr=False)
    tell: Callable[[str], None] | None = field(default=None, repr=False, compare=False)
    files: Sequence[AttachedFile] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Serialisable):
    """Answer of the model and its cost in tokens. `calls`: the requests to its server that it took; `truncated`: it was
    cut off at the limit of its tokens.
    """

    text: str = field(repr=False)
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 1
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost(Serialisable):
    """Use of language models: the calls that reached a server, even if refused, and the answers' tokens."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def from_completion(cls, completion: Completion) -> Cost:
        """Return the cost of one answer."""
        return cls(calls=completion.calls, input_tokens=completion.input_tokens, output_tokens=completion.output_tokens)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )

    def as_dict(self) -> dict[str, int]:
        """Return the cost as JSON data."""
        return {"calls": self.calls, "input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
