"""Consent, quotas and retention: further rules of the runtime, asked after the grant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from types import MappingProxyType
from typing import Literal, get_args

from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.policy.grant import consent_required, quota_exceeded, retention_denied
from mnemic.policy.key_rules import Policy
from mnemic.reason_codes import QUOTA_EXCEEDED
from mnemic.types import Candidate, Kind, Level, Usage
from mnemic.types.values import canonical_key

Per = Literal["tenant", "user"]
OnFull = Literal["refuse", "evict"]
MINUTE = timedelta(minutes=1)
ERASED = "erased_subject"
"""Retention rule of a subject who must not be learnt about again after an erasure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits on what a tenant, or each user at their own level, may store: of one kind, or of all kinds together.

    `rows` counts memories of every status, `bytes` their size, `writes_a_minute` new memories. Beyond a limit nothing
    is stored (`quota_exceeded:<name>`); from the fraction `soft` of it on, receipts carry a warning of that name.
    Closed memories (superseded, expired, rejected) are evicted to make room in a user's quota of rows or bytes, oldest
    first; with `on_full="evict"`, for users only, so are the oldest others. Raises InvalidConfig (`quota`).
    """

    per: Per = "user"
    kind: Kind | None = None
    rows: int | None = None
    bytes: int | None = None
    writes_a_minute: int | None = None
    soft: float = 0.8
    on_full: OnFull = "refuse"

    def __post_init__(self) -> None:
        limits = [limit for limit in (self.rows, self.bytes, self.writes_a_minute) if limit is not None]
        if self.per not in get_args(Per) or not limits or not 0 < self.soft <= 1:
            raise InvalidConfig("quota", hint="per tenant or user, at least one limit, soft above 0 and up to 1")
        if any(isinstance(limit, bool) or not isinstance(limit, int) or limit < 1 for limit in limits):
            raise InvalidConfig("quota", hint="limits are whole numbers from 1")
        if self.on_full not in get_args(OnFull) or (self.on_full == "evict" and self.per != "user"):
            raise InvalidConfig("quota", hint="on_full is refuse, or evict for the quota of a user")

    def name(self, limit: str) -> str:
        """`user.rows`, or with a kind `tenant.episodic.bytes`."""
        return ".".join(part for part in (self.per, self.kind, limit) if part)

    def applies(self, candidate: Candidate) -> bool:
        """Return True if the candidate would count."""
        return self.kind in (None, candidate.kind) and (self.per == "tenant" or candidate.level == Level.USER)

    def nearest(self, usages: Mapping[Kind, Usage]) -> dict[str, float]:
        """Return how far each limit is used up, 1 being all of it, by its name."""
        chosen = [usage for kind, usage in usages.items() if self.kind in (None, kind)]
        limits = {
            "rows": (self.rows, sum(usage.rows for usage in chosen)),
            "bytes": (self.bytes, sum(usage.bytes for usage in chosen)),
            "writes_a_minute": (self.writes_a_minute, sum(usage.recent for usage in chosen)),
        }
        return {self.name(name): used / limit for name, (limit, used) in limits.items() if limit is not None}


def makes_room(reason: str) -> tuple[Kind | None] | None:
    """Return the kind that may be evicted after a refusal for `reason`, as a 1-tuple: `(None,)` means any kind, a bare
    None that eviction cannot help.
    """
    code, _, name = reason.partition(":")
    # Names are built by `Quota.name`: `user.rows`, or `user.episodic.bytes`.
    per, *kind, limit = name.split(".") if code == QUOTA_EXCEEDED else [""] * 2
    if per != "user" or limit not in ("rows", "bytes"):
        return None
    # Wrapped, because None inside means "any kind" and a bare None "no eviction".
    return (Kind(kind[0]) if kind else None,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Longest lifetime of a kind: memories that request more, or name no time, expire then. `hard`: purged at expiry,
    without a grace period.
    """

    longest: timedelta | None = None
    hard: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of an installation in addition to its policy.

    `consent` applies to keys on which a user has not decided: `implied` allows them, `required` does not;
    `consent_keys` need consent in any case. Memories that have awaited review for `review_longest` are rejected by the
    next maintenance; None: they wait for a person's decision.
    """

    consent: Literal["implied", "required"] = "implied"
    consent_keys: frozenset[str] = frozenset()
    quotas: tuple[Quota, ...] = ()
    retention: Mapping[Kind, Retention] = field(default_factory=lambda: MappingProxyType({}))
    review_longest: timedelta | None = None

    def __post_init__(self) -> None:
        if self.review_longest is not None and self.review_longest <= timedelta(0):
            raise InvalidConfig("review_longest", hint="must be greater than zero")
        if self.consent not in ("implied", "required"):
            raise InvalidConfig("consent", hint="implied or required")
        try:
            object.__setattr__(self, "consent_keys", frozenset(canonical_key(key) for key in self.consent_keys))
        except InvalidInput as error:
            raise InvalidConfig("consent_keys", hint=error.hint) from error

    def overshot(self, candidate: Candidate, per: Per, usages: Mapping[Kind, Usage]) -> str | None:
        """Return the reason to roll back a write of `candidate` after which the usage is `usages`, or None."""
        for quota in self.quotas:
            if quota.per == per and quota.applies(candidate):
                for name, part in quota.nearest(usages).items():
                    if part > 1:
                        return quota_exceeded(name)
        return None

    @property
    def longest(self) -> dict[Kind, timedelta]:
        """The longest time of each kind that has one."""
        return {kind: rule.longest for kind, rule in self.retention.items() if rule.longest is not None}

    @property
    def hard_kinds(self) -> frozenset[Kind]:
        """The kinds that are purged without grace."""
        return frozenset(kind for kind, rule in self.retention.items() if rule.hard)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consents:
    """Decisions of one user, key by key, and whether they were erased permanently."""

    decided: Mapping[str, bool] = field(default_factory=partial(MappingProxyType, {}))
    erased: bool = False

    def allows(self, key: str, limits: Limits) -> bool:
        """Return True if the key may be written and found."""
        default = limits.consent == "implied" and key not in limits.consent_keys
        return self.decided.get(key, default)

    def hidden(self, policy: Policy, limits: Limits) -> frozenset[str]:
        """Return the keys that must not be found."""
        known = {*self.decided, *limits.consent_keys, *(policy.keys or ())}
        return frozenset(key for key in known if not self.allows(key, limits))

    def in_force(self, policy: Policy, limits: Limits) -> bool:
        """Return True if there is a key that may not be written."""
        return limits.consent == "required" or bool(self.hidden(policy, limits))


@dataclass(slots=True)
class LimitCheck:
    """Check of the limits against the state at one moment. It counts admitted writes, so that a batch cannot exceed a
    limit that each of its candidates alone would respect.
    """

    limits: Limits
    consents: Consents
    usages: Mapping[Per, Mapping[Kind, Usage]] = field(default_factory=dict)
    admitted: list[Candidate] = field(default_factory=list)
    has_room: bool = False
    """True if a user's memory may be evicted for room; the number is read in the writing transaction."""

    def __call__(self, candidate: Candidate) -> str | None:
        """Return the reason to block the candidate: retention, consent, quota, in this order."""
        reason = self.unless_counted(candidate) or (self._quota(candidate) if self.limits.quotas else None)
        if reason is None:
            self.admitted.append(candidate)
        return reason

    def unless_counted(self, candidate: Candidate) -> str | None:
        """Return the reason to block a candidate that adds no memory: retention and consent, no quota."""
        # Before consent: after an erasure with `block` nothing may be learnt about the user, regardless of consent
        # earlier.
        if self.consents.erased:
            return retention_denied(ERASED)
        return None if candidate.key is None else self._consent(canonical_key(candidate.key))

    def warnings(self, candidate: Candidate) -> tuple[str, ...]:
        """Return the limits the candidate counts towards that are used up beyond their soft part."""
        used = [(quota, self._usage_shares(quota)) for quota in self.limits.quotas if quota.applies(candidate)]
        return tuple(name for quota, limits in used for name, part in limits.items() if part >= quota.soft)

    def _consent(self, key: str) -> str | None:
        return None if self.consents.allows(key, self.limits) else consent_required(key)

    def _quota(self, candidate: Candidate) -> str | None:
        for quota in self.limits.quotas:
            if quota.applies(candidate):
                for name, part in self._usage_shares(quota).items():
                    room = self.has_room or quota.on_full == "evict"  # a batch evicts for all of itself
                    if part >= 1 and not (room and makes_room(quota_exceeded(name))):
                        return quota_exceeded(name)
        return None

    def _usage_shares(self, quota: Quota) -> dict[str, float]:
        # The batch's own additions are not in the store yet.
        usages = dict(self.usages.get(quota.per, {}))
        for one in self.admitted:
            if quota.applies(one):
                known = usages.get(one.kind, Usage())
                # Counting must not fail on a lone surrogate.
                size = len(one.content.encode("utf-8", "surrogatepass"))
                usages[one.kind] = Usage(known.rows + 1, known.bytes + size, known.recent + 1)
        return quota.nearest(usages)
