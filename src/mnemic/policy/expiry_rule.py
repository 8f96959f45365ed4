"""Expiry rule: the lifetime of a memory, in one function for every path that stores, confirms, corrects, approves or
restores one.

The lifetime is the shortest of the one requested by a caller or a model, the key's rule, and the policy's limit for the
kind. If nothing is asked for and the key has no rule, `default_ttl_days` of the policy applies, else the kind's
default: facts, preferences and messages of conversations are stored until they are changed, forgotten or erased.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from mnemic.errors import InvalidInput
from mnemic.policy.key_rules import MAX_TTL_DAYS, Policy
from mnemic.types import Candidate, Kind, Memory
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.values import duration_of

# `timedelta.max.days`: a sentinel that still compares and adds like any other lifetime.
FOREVER = timedelta(days=999_999_999)
"""Lifetime of a memory that is stored until it is changed, forgotten or erased, regardless of the policy's default."""
SHORTEST_TTL = timedelta(days=1)
LONGEST_TTL = timedelta(days=MAX_TTL_DAYS)
NEVER = "never"
TTL_HINT = "a duration such as 12h, 30d, 2w, 10y or P30D, at most 36,500 days, or never"

_LAST = datetime.max.replace(tzinfo=UTC)
_UNITS = {"m": 1 / 1440, "h": 1 / 24, "d": 1, "w": 7, "y": 365}
_SPELLED = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)\s*([mhdwy])", re.ASCII)


def ttl_of(wish: timedelta | str | None) -> timedelta | None:
    """Return the wish of a request as a duration: `12h`, `30d`, `2w`, `10y` (of 365 days), ISO 8601 or `never`.

    Raises InvalidInput (`ttl`) for anything else.
    """
    if wish is None or isinstance(wish, timedelta):
        return wish
    if not isinstance(wish, str):
        raise InvalidInput("ttl", hint=TTL_HINT)
    text = wish.strip()
    if text.casefold() == NEVER:
        return FOREVER
    spelled = _SPELLED.fullmatch(text.casefold())
    try:
        return timedelta(days=float(spelled[1]) * _UNITS[spelled[2]]) if spelled else duration_of(text)
    except (ValueError, OverflowError):
        raise InvalidInput("ttl", hint=TTL_HINT) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """Lifetime from the moment of the statement; None: until it is changed, forgotten or erased.

    `shortened`: it is shorter than requested.
    """

    ttl: timedelta | None
    shortened: bool = False


def lifetime(candidate: Candidate, policy: Policy) -> Lifetime:
    """Return the time for which the policy stores the candidate."""
    wish = candidate.ttl
    rule = None if candidate.key is None else _rule_of(policy, candidate.key)
    # FOREVER lifts only the bound that the request itself would set; rule and limit of the kind still apply.
    wanted = _default(candidate, policy, rule) if wish is None else None if wish >= FOREVER else wish
    bounds = [one for one in (wanted, rule, policy.longest.get(candidate.kind)) if one is not None]
    ttl = min(bounds, default=None)
    return Lifetime(ttl=ttl, shortened=wish is not None and ttl is not None and ttl < wish)


def end_of(
    candidate: Candidate, policy: Policy, *, now: datetime, stated_at: datetime | None = None
) -> datetime | None:
    """Return when a candidate stated at `now` expires; None: never.

    `stated_at` is the first statement of the memory that the candidate confirms: the policy's limit for the kind counts
    from there, so that a confirmation never extends it.
    """
    ttl, longest = lifetime(candidate, policy).ttl, policy.longest.get(candidate.kind)
    if longest is None:
        return None if ttl is None else _after(now, ttl)
    return _earlier(_after(now, ttl), _after(stated_at or now, longest))


def bounded_expiry(memory: Memory, policy: Policy, *, now: datetime) -> datetime | None:
    """Return when a memory expires that is corrected, approved, restored or repeated at `now`: as before, within the
    policy. A memory dated in the future counts from `now`.
    """
    limit = _after(min(memory.created_at, now), policy.longest.get(memory.kind))
    return _earlier(memory.expires_at, limit, _after(now, _rule_of(policy, memory.key)))


def _default(candidate: Candidate, policy: Policy, rule: timedelta | None) -> timedelta | None:
    if rule is not None:
        return None
    if policy.default_ttl_days is not None:
        return timedelta(days=policy.default_ttl_days)
    # A recorded message has a speaker; other episodic memories are episodes of tasks, which expire.
    message = candidate.kind is Kind.EPISODIC and candidate.source.speaker is not None
    return None if message else CATALOG[candidate.kind].retention


def _rule_of(policy: Policy, key: str | None) -> timedelta | None:
    days = None if key is None else policy.rule(key).ttl_days
    return None if days is None else timedelta(days=days)


def _after(moment: datetime, ttl: timedelta | None) -> datetime | None:
    if ttl is None:
        return None
    # Beyond the year 9999 there is no datetime, and no expiry that anybody will see.
    return moment + ttl if ttl <= _LAST - moment else None


def _earlier(*moments: datetime | None) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)
