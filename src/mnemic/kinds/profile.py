"""The profile of an agent: its makers' description of it, checked before anything reads it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from mnemic.errors import InvalidConfig

MAX_CHARS = 500
MAX_ENTRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """An agent's role, tone, expertise and constraints; each text of at most 500 characters, 20 to a list."""

    role: str
    tone: str = ""
    expertise: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    version: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        digest = hashlib.sha256(json.dumps([*self.lines()]).encode()).hexdigest()
        object.__setattr__(self, "version", digest[:12])

    @classmethod
    def from_data(cls, data: object) -> Profile:
        """Return the profile that JSON, TOML or YAML data spells. Raises InvalidConfig
        (`invalid_config:persona:<name>`).
        """
        if not isinstance(data, Mapping):
            raise InvalidConfig("persona", hint="a profile is a mapping with role, tone, expertise and constraints")
        unknown = sorted(str(name) for name in data if name not in ("role", "tone", "expertise", "constraints"))
        if unknown:
            raise InvalidConfig(f"persona:{unknown[0]}", hint="known are role, tone, expertise, constraints")
        return cls(
            role=_text(data.get("role"), "role"),
            tone=_text(data.get("tone", ""), "tone", empty=True),
            expertise=_texts(data.get("expertise", ()), "expertise"),
            constraints=_texts(data.get("constraints", ()), "constraints"),
        )

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield its contents as pairs of a name and a text, most important first."""
        yield "role", self.role
        yield from (("constraint", text) for text in self.constraints)
        if self.tone:
            yield "tone", self.tone
        yield from (("expertise", text) for text in self.expertise)


def _text(value: object, name: str, *, empty: bool = False) -> str:
    if not isinstance(value, str) or len(value) > MAX_CHARS or not (empty or value.strip()):
        raise InvalidConfig(f"persona:{name}", hint=f"text of 1 to {MAX_CHARS} characters")
    return value.strip()


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or len(value) > MAX_ENTRIES:
        raise InvalidConfig(f"persona:{name}", hint=f"a list of at most {MAX_ENTRIES} texts")
    return tuple(_text(one, name) for one in value)
