"""A policy, a grant and a budget read from one TOML or JSON file.

    levels = ["user", "workspace"]
    on_violation = "stop"

    [keys.language]
    allowed_values = ["english", "spanish"]
    preference = true

    [keys.declared_tier]
    sensitive = true

    [grant]                       # what the runtime allows; without it: every key that is not sensitive, level "user"
    trust = ["declared_tier"]

    [budget]
    max_seconds = 25

    [limits]                      # consent, quotas, retention; without it: consent is implied, nothing else is limited
    consent = "required"

    [[limits.quotas]]
    per = "user"
    rows = 10_000

    [limits.retention.episodic]
    longest_days = 90
    hard = true

    [redaction]                   # without it: every find is replaced permanently
    reveal = ["privacy_officer"]  # the roles that may see what a tokenised value was
    names = ["PERSON"]            # look for names too; needs mnemic[ner]
    regions = ["DE", "AT"]        # countries whose telephone numbers lack a country code

    [redaction.entities]
    EMAIL = "tokenise"            # or redact, block, allow

    [entities]                    # without it: entities are kept where they are asked for, not noticed in every text
    read = "rules"                # or names (needs mnemic[ner]), or model

Only this module of the policy imports pydantic, so that nothing else pays for it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from mnemic.errors import InvalidConfig
from mnemic.policy import strict_json
from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import (
    EntityReading,
    Expiry,
    KeyRule,
    OnChange,
    OnModelFailure,
    OnRefuted,
    OnViolation,
    Policy,
    did_you_mean,
)
from mnemic.policy.limits import Limits, OnFull, Per, Quota, Retention
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.types import Kind, Level


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


MAX_FILE_BYTES = 1024 * 1024
MAX_RETENTION_DAYS = 36_500


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Key(_Strict):
    on_change: OnChange = "supersede"
    allowed_values: list[str] | None = None
    sensitive: bool = False
    pinned: bool = False
    preference: bool = False
    verifier: str | None = None
    ttl_days: int | None = None
    expiry: Expiry = "sliding"

    def rule(self, key: str) -> KeyRule:
        settings = self.model_dump()
        values = settings.pop("allowed_values")
        return KeyRule(key, allowed_values=None if values is None else frozenset(values), **settings)


class _Grant(_Strict):
    keys: list[str] | None = None
    trust: list[str] = []
    levels: list[str] = [Level.USER.value]


class _Budget(_Strict):
    max_capture_items: int | None = None
    max_retrieve_top_k: int | None = None
    max_query_chars: int | None = None
    max_answer_chars: int | None = None
    max_value_chars: int | None = None
    max_seconds: int | float | None = None


class _Quota(_Strict):
    per: Per = "user"
    kind: str | None = None
    rows: int | None = None
    bytes: int | None = None
    writes_a_minute: int | None = None
    soft: float | int = 0.8
    on_full: OnFull = "refuse"


class _Retention(_Strict):
    longest_days: float | int | None = None
    hard: bool = False


class _Limits(_Strict):
    consent: Literal["implied", "required"] = "implied"
    consent_keys: list[str] = []
    quotas: list[_Quota] = []
    retention: dict[str, _Retention] = {}
    review_longest_days: float | int | None = None


class _Redaction(_Strict):
    entities: dict[str, str] = {}
    reveal: list[str] = []
    names: list[str] = []
    regions: list[str] = []

    def rules(self) -> RedactionRules:
        return RedactionRules(
            actions=self.entities,
            reveal=frozenset(self.reveal),
            names=frozenset(self.names),
            regions=tuple(self.regions),
        )


class _Entities(_Strict):
    read: EntityReading | None = None


class _File(_Strict):
    keys: dict[str, _Key] | None = None
    levels: list[str] | None = None
    kinds: list[str] | None = None
    on_violation: OnViolation | None = None
    preference_bias: float | int | None = None
    pinned_kinds: list[str] = []
    pinned_categories: list[str] | None = None
    open_keys: bool = False
    keyless: bool | None = None
    default_ttl_days: int | None = None
    fixed_kinds: list[str] = []
    judged: bool = False
    on_model_failure: OnModelFailure | None = None
    on_refuted: OnRefuted = "report"
    sensitive_words: list[str] = []
    keep_messages: bool = True
    keep_turns: bool | None = None
    operators_read_turns: bool = True
    grant: _Grant = _Grant()
    budget: _Budget = _Budget()
    limits: _Limits = _Limits()
    redaction: _Redaction = _Redaction()
    entities: _Entities = _Entities()


def load_policy_bundle(path: str | Path) -> PolicyBundle:
    """Policy, grant and budget of the file at `path` (`.toml` or `.json`).

    Raises InvalidConfig: `policy_file` (absent, unreadable, too large, neither TOML nor JSON), else the field's own
    reason.
    """
    return read_policy_bundle(_read(Path(path)))


def read_policy_bundle(data: object) -> PolicyBundle:
    """Return the policy, grant and budget of such a file. Raises InvalidConfig with the field's own reason."""
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place, hint = first["loc"], first["msg"]
        if first["type"] == "extra_forbidden":
            hint = f"unknown field; {did_you_mean(str(place[-1]), _fields_at(place[:-1]))}"
        raise InvalidConfig("policy:" + ".".join(str(part) for part in place), hint=hint) from None
    policy = _policy(file)
    return PolicyBundle(
        policy=policy,
        grant=_grant(file.grant, policy),
        budget=Budget(**_given_settings(file.budget)),
        limits=_limits(file.limits),
        redaction=file.redaction.rules(),
        entities=file.entities.read,
        sets_time=file.budget.max_seconds is not None,
    )


def _fields_at(place: Sequence[int | str]) -> Iterable[str]:
    """Return the names of the fields that a file may have at a place."""
    model: type[BaseModel] = _File
    for part in place:
        field = model.model_fields.get(str(part))  # None: a key of a mapping, or a number in a list
        model = model if field is None else next(_models(field.annotation), model)
    return model.model_fields


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)


def load_policy(path: str | Path) -> Policy:
    """Return the policy of the file at `path`. Raises InvalidConfig as `load_policy_bundle` does."""
    return load_policy_bundle(path).policy


def _policy(file: _File) -> Policy:
    names = [one.name for one in fields(Policy) if one.name in _File.model_fields]
    settings: dict[str, Any] = {name: value for name in names if (value := getattr(file, name)) is not None}
    for name in ("kinds", "pinned_kinds", "fixed_kinds"):
        if name in settings:
            settings[name] = _kinds(settings[name], name)
    if file.keys is not None:
        settings["keys"] = {key: entry.rule(key) for key, entry in file.keys.items()}
    for name, value in settings.items():
        settings[name] = frozenset(value) if isinstance(value, list) else value
    return Policy(**settings)


def _grant(grant: _Grant, policy: Policy) -> Grant:
    granted = Grant.from_policy(policy, trust=grant.trust, levels=grant.levels)
    if grant.keys is None:
        return granted
    return Grant(
        keys=frozenset(grant.keys), levels=granted.levels, denied_keys=granted.denied_keys, keyless=granted.keyless
    )


def _limits(limits: _Limits) -> Limits:
    quotas = []
    for quota in limits.quotas:
        kind = None if quota.kind is None else next(iter(_kinds([quota.kind], "limits.quotas")))
        quotas.append(Quota(**quota.model_dump() | {"kind": kind}))
    retention = {
        kind: _retention(rule) for name, rule in limits.retention.items() for kind in _kinds([name], "limits.retention")
    }
    return Limits(
        consent=limits.consent,
        consent_keys=frozenset(limits.consent_keys),
        quotas=tuple(quotas),
        retention=retention,
        review_longest=_days(limits.review_longest_days, "limits.review_longest_days"),
    )


def _retention(rule: _Retention) -> Retention:
    return Retention(longest=_days(rule.longest_days, "limits.retention"), hard=rule.hard)


def _days(days: float | None, name: str) -> timedelta | None:
    if days is not None and not 0 < days <= MAX_RETENTION_DAYS:  # also false for NaN
        raise InvalidConfig(name, hint=f"days are more than 0 and at most {MAX_RETENTION_DAYS}")
    return None if days is None else timedelta(days=days)


def _given_settings(settings: BaseModel) -> dict[str, Any]:
    return {name: value for name, value in settings.model_dump().items() if value is not None}


def _kinds(names: list[str], field: str) -> frozenset[Kind]:
    try:
        return frozenset(Kind(name) for name in names)
    except ValueError:
        raise InvalidConfig(field, hint="one or more of " + ", ".join(Kind)) from None


def _read(path: Path) -> object:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise InvalidConfig("policy_file", hint=f"larger than {MAX_FILE_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidConfig("policy_file", hint=f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise InvalidConfig("policy_file", hint="not UTF-8") from None
    try:
        return strict_json.loads(text, max_bytes=MAX_FILE_BYTES) if path.suffix == ".json" else tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidConfig("policy_file", hint=f"not TOML: {error}") from None
    except strict_json.NotStrictJson as error:
        raise InvalidConfig("policy_file", hint=f"not JSON: {error}") from None


def policy_bundle_data(bundle: PolicyBundle) -> dict[str, Any]:
    """Return the content of a policy file that reads as `bundle`, as JSON data: `read_policy_bundle` gives it back."""
    policy, limits = bundle.policy, bundle.limits
    settings = {name: getattr(policy, name) for name in _File.model_fields if hasattr(policy, name)}
    rules = None if policy.keys is None else {key: _rule_data(rule) for key, rule in sorted(policy.keys.items())}
    return {
        **{name: sorted(value) if isinstance(value, frozenset) else value for name, value in settings.items()},
        "keys": rules,
        "grant": _grant_data(bundle.grant, policy),
        "budget": {limit.name: getattr(bundle.budget, limit.name) for limit in fields(bundle.budget)},
        "limits": {
            "consent": limits.consent,
            "consent_keys": sorted(limits.consent_keys),
            "quotas": [{name: getattr(quota, name) for name in _Quota.model_fields} for quota in limits.quotas],
            "retention": {
                kind: {"longest_days": _in_days(rule.longest), "hard": rule.hard}
                for kind, rule in sorted(limits.retention.items())
            },
            "review_longest_days": _in_days(limits.review_longest),
        },
        "redaction": {
            "entities": dict(bundle.redaction.actions),
            "reveal": sorted(bundle.redaction.reveal),
            "names": sorted(bundle.redaction.names),
            "regions": list(bundle.redaction.regions),
        },
        "entities": {"read": bundle.entities},
    }


def _rule_data(rule: KeyRule) -> dict[str, Any]:
    shown = {name: getattr(rule, name) for name in _Key.model_fields}
    return shown | {"allowed_values": None if rule.allowed_values is None else sorted(rule.allowed_values)}


def _grant_data(grant: Grant, policy: Policy) -> dict[str, Any]:
    trusted = sorted(policy.sensitive_keys - grant.denied_keys)
    keys = None if grant.keys == Grant.from_policy(policy, trust=trusted).keys else sorted(grant.keys or ())
    return {"keys": keys, "trust": trusted, "levels": sorted(grant.levels)}


def _in_days(duration: timedelta | None) -> float | None:
    return None if duration is None else duration / timedelta(days=1)
