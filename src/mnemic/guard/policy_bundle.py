"""All that guards one engine, together."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnemic.guard.budget import Budget
from mnemic.guard.execution import Grant
from mnemic.guard.limits import Limits
from mnemic.guard.policy import EntityReading, Policy
from mnemic.guard.redaction import RedactionRules


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFile:
    """The parts of one policy file. `entities` None: ordinary texts are not read for entities."""

    policy: Policy
    grant: Grant
    budget: Budget
    limits: Limits = field(default_factory=Limits)
    redaction: RedactionRules = field(default_factory=RedactionRules)
    entities: EntityReading | None = None
