"""Grant: the permissions of the runtime at this moment. Other writes are blocked and recorded; the run continues."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mnemic.errors import InvalidConfig, InvalidInput, ScopeDenied, escape_detail
from mnemic.policy.key_rules import Policy, checked_levels
from mnemic.reason_codes import (
    CONSENT_REQUIRED,
    KEY_DENIED_EXECUTION,
    QUOTA_EXCEEDED,
    RETENTION_DENIED,
    SCOPE_DENIED_EXECUTION,
)
from mnemic.types import Actor, Candidate, Level
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.values import canonical_key, checked_share

if TYPE_CHECKING:
    from mnemic.types import Intent


def consent_required(key: str) -> str:
    """Return the reason for a key the user has not consented to: `consent_required:<key>`."""
    return f"{CONSENT_REQUIRED}:{escape_detail(key)}"


def quota_exceeded(limit: str) -> str:
    """Return the reason for a quota that is used up: `quota_exceeded:<limit>`."""
    return f"{QUOTA_EXCEEDED}:{escape_detail(limit)}"


def retention_denied(rule: str) -> str:
    """Return the reason for a retention rule that forbids storing: `retention_denied:<rule>`."""
    return f"{RETENTION_DENIED}:{escape_detail(rule)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """Permissions that the runtime gives in this run: keys, and levels (scopes).

    `keys` None grants every key; `denied_keys` are subtracted. `keyless`: whether memories without a key may be written
    (None: only if every key is granted). Raises InvalidConfig (`invalid_config:grant.levels`, `:grant.keys`).
    """

    keys: frozenset[str] | None = None
    levels: frozenset[str] = frozenset({Level.USER.value})
    denied_keys: frozenset[str] = frozenset()
    keyless: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", checked_levels(self.levels, "grant.levels"))
        object.__setattr__(self, "denied_keys", _canonical(self.denied_keys))
        if self.keys is not None:
            object.__setattr__(self, "keys", _canonical(self.keys))

    @classmethod
    def from_policy(cls, policy: Policy, *, trust: Iterable[str] = (), levels: Iterable[str] = (Level.USER,)) -> Grant:
        """Everything the policy allows but its sensitive keys; those in `trust` are granted as well.

        This is the trust toggle: the same policy, another grant.
        """
        denied = policy.sensitive_keys - _canonical(frozenset(trust))
        keys = frozenset(policy.keys or ()) - denied if policy.closed else None
        chosen = frozenset(str(level) for level in levels)
        return cls(keys=keys, levels=chosen, denied_keys=denied, keyless=policy.allows_keyless)

    def reached_by(self, actor: Actor) -> list[str]:
        """Return the granted levels that the actor has an owner for, in alphabetical order."""
        return [level for level in sorted(self.levels) if getattr(actor, level, None) is not None]

    def allows_key(self, key: str | None) -> bool:
        """Return True if a memory under `key` (None: without one) may be written now."""
        if key is None:
            # A grant that lists keys is narrow on purpose; statements without a key are no exception to it.
            return self.keys is None if self.keyless is None else self.keyless
        try:
            name = canonical_key(key)
        except InvalidInput:
            return False
        return name not in self.denied_keys and (self.keys is None or name in self.keys)


def admit_intent(intent: Intent, grant: Grant, actor: Actor) -> Intent:
    """Return the intent with its levels resolved: those it names, or all that are granted and that the actor has an
    owner for, in alphabetical order.

    Raises ScopeDenied (`scope_denied:<scope>`) naming the first level that is not granted; the hint names all of them.
    Raises InvalidInput (`min_score`): an impossible minimum would find nothing, as if nothing were known.
    """
    checked_share(intent.min_score, "min_score")
    reached = grant.reached_by(actor) or grant.levels  # of no level that is reached, the one without an owner is named
    wanted = frozenset(reached if intent.levels is None else intent.levels)
    # Unknown levels are accepted so far, so that the error can name the one that is missing.
    denied = sorted(wanted - grant.levels)
    if denied:
        raise ScopeDenied(denied[0], hint="not granted: " + ", ".join(escape_detail(level) for level in denied[:8]))
    return replace(intent, levels=tuple(sorted(wanted)))


def denial(candidate: Candidate, grant: Grant, *, level: bool = True) -> str | None:
    """Return the grant's reason against the candidate, or None. With `level` False its level is not asked."""
    if not grant.allows_key(candidate.key):
        return KEY_DENIED_EXECUTION
    if level and candidate.level not in grant.levels and not _only_proposes(candidate):
        return SCOPE_DENIED_EXECUTION
    return None


def _only_proposes(candidate: Candidate) -> bool:
    """Return True for a reviewed kind at its own level, as a trait of the agent: it waits for a person."""
    spec = CATALOG.get(candidate.kind)
    return spec is not None and spec.reviewed and candidate.level == spec.level


def _canonical(keys: Iterable[str]) -> frozenset[str]:
    if isinstance(keys, str):
        raise InvalidConfig("grant.keys", hint="a set of keys, not one text")
    try:
        return frozenset(canonical_key(key) for key in keys)
    except InvalidInput as error:
        raise InvalidConfig("grant.keys", hint=error.hint) from error
