"""Actions on each kind of personal data, and people who may see the values that markers replace."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from mnemic.errors import InvalidConfig
from mnemic.redact.types import Action
from mnemic.types import Detector

_ENTITY = re.compile(r"[A-Z][A-Z_]{1,19}")
NAMES = ("PERSON", "LOCATION")
"""Kinds that only a language model finds."""

_REGION = re.compile(r"[A-Z]{2}")
_ROLE = re.compile(r"[a-z][a-z0-9_.:\-]{0,63}")


MAX_REGIONS = 8
"""Maximum number of regions: a text with some numbers can be tried against each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactionRules:
    """One action per entity (default: `redact`), and the roles that may see the original of a tokenised value.

    `names` are the kinds of names to look for, of `NAMES`; `detectors` find them, or any other kind, in addition to the
    built-in ones. `regions` are the countries (ISO 3166) whose telephone numbers are written without a country code,
    most likely first; empty: the default ones. Raises InvalidConfig (`invalid_config:redaction.entities`,
    `:redaction.reveal`, `:redaction.names`, `:redaction.regions`).
    """

    actions: Mapping[str, str] = field(default_factory=dict)
    reveal: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    detectors: tuple[Detector, ...] = ()
    regions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        try:
            actions = {entity: Action(action) for entity, action in self.actions.items()}
        except ValueError:
            raise InvalidConfig("redaction.entities", hint="one of " + ", ".join(Action)) from None
        if not all(_ENTITY.fullmatch(entity) for entity in actions):
            raise InvalidConfig("redaction.entities", hint="entities are named in capitals: EMAIL, PHONE, ...")
        if not all(_ROLE.fullmatch(role) for role in self.reveal):
            raise InvalidConfig("redaction.reveal", hint="a list of roles, in lower case")
        if not self.names <= frozenset(NAMES):
            raise InvalidConfig("redaction.names", hint="one or more of " + ", ".join(NAMES))
        if len(self.regions) > MAX_REGIONS or not all(_REGION.fullmatch(region) for region in self.regions):
            raise InvalidConfig("redaction.regions", hint=f"at most {MAX_REGIONS} countries by their two letters")
        object.__setattr__(self, "actions", MappingProxyType(actions))

    @property
    def tokenises(self) -> bool:
        """True if anything is stored encrypted, which needs a key."""
        return Action.TOKENISE in self.actions.values()
