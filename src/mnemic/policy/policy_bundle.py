"""The rules of one engine together: policy, grant, budget, limits, redaction."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import EntityReading, Policy
from mnemic.policy.limits import Limits
from mnemic.policy.redaction_policy import RedactionRules


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyBundle:
    """The parts of one policy file. `entities` None: ordinary texts are not read for entities. `sets_time`: it names
    the seconds of a turn.
    """

    policy: Policy
    grant: Grant
    budget: Budget
    limits: Limits = field(default_factory=Limits)
    redaction: RedactionRules = field(default_factory=RedactionRules)
    entities: EntityReading | None = None
    sets_time: bool = field(default=False, compare=False)
