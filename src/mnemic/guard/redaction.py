"""What is done with each kind of personal data, and who may see what stands behind a marker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from mnemic.errors import InvalidConfig

_ENTITY = re.compile(r"[A-Z][A-Z_]{1,19}")
_ROLE = re.compile(r"[a-z][a-z0-9_.:\-]{0,63}")


class Action(StrEnum):
    """What is done with an entity: replaced by a marker, the same with what it stood for kept sealed, the whole write
    refused, or left as it stands.
    """

    REDACT = "redact"
    TOKENISE = "tokenise"
    BLOCK = "block"
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRules:
    """One action per entity (`redact` where it is silent), and the roles that may see what a tokenised one stood for.

    Raises InvalidConfig (`invalid_config:redaction.entities`, `:redaction.reveal`).
    """

    actions: Mapping[str, str] = field(default_factory=dict)
    reveal: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        try:
            actions = {entity: Action(action) for entity, action in self.actions.items()}
        except ValueError:
            raise InvalidConfig("redaction.entities", hint="one of " + ", ".join(Action)) from None
        if not all(_ENTITY.fullmatch(entity) for entity in actions):
            raise InvalidConfig("redaction.entities", hint="entities are named in capitals: EMAIL, PHONE, ...")
        if not all(_ROLE.fullmatch(role) for role in self.reveal):
            raise InvalidConfig("redaction.reveal", hint="a list of roles, in lower case")
        object.__setattr__(self, "actions", MappingProxyType(actions))

    @property
    def tokenises(self) -> bool:
        """Whether anything is kept sealed, which needs a key."""
        return Action.TOKENISE in self.actions.values()
