"""Response bodies for reviewers, operators, admins and data subjects."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from mnemic.maintain.consolidate import Consolidated
from mnemic.maintain.expiry_job import ExpiryReport
from mnemic.maintain.health import Health
from mnemic.maintain.reports import AuditReport, MaintenanceReport
from mnemic_server.openapi_descriptions import Answer, shape_of
from mnemic_server.response_bodies import MemoryAnswer

ConsolidatedAnswer = shape_of(Consolidated)
HealthAnswer = shape_of(Health)
MaintenanceAnswer = shape_of(MaintenanceReport)
AuditReportAnswer = shape_of(AuditReport)


ExpiryAnswer = shape_of(ExpiryReport)


class StatusAnswer(Answer):
    """State of the service."""

    status: Literal["ok", "failed"]
    reason: str | None = None


class ConsentsAnswer(Answer):
    """Decisions of the user, by key."""

    consents: dict[str, bool]


class ErasureAnswer(Answer):
    """The receipt of an erasure, which can be verified."""

    format: str
    receipt_id: str
    tenant: str
    subject: str
    at: str
    complete: bool
    blocks_relearning: bool
    counts: dict[str, int]
    traces: dict[str, int]
    memory_ids: list[str]
    fingerprints: list[str]
    removed_at: str | None
    kept: list[str] | None


class ErasureJobAnswer(Answer):
    """An erasure on its way, or its receipt."""

    erasure_id: str
    state: Literal["running", "done", "failed", "interrupted"]
    begun_at: str
    reason: str | None
    erased: ErasureAnswer | None


class CarriedOutAnswer(Answer):
    """Result of a request about memory: the forgotten memories, the erasure that was started, or the
    memories to show.
    """

    forgotten: list[str]
    erasure: ErasureJobAnswer | None
    memories: list[MemoryAnswer]


class RevocationAnswer(Answer):
    """Effects of a revoked consent."""

    key: str
    hidden: int
    erasure: ErasureJobAnswer | None


class VerificationAnswer(Answer):
    """Number of remaining traces of erased data, by place."""

    traces: dict[str, int]
    complete: bool


class ProfileAnswer(Answer):
    """Profile that an agent's makers gave it."""

    version: str | int
    role: str
    tone: str
    expertise: list[str]
    constraints: list[str]


class PersonaAnswer(Answer):
    """Profile and traits of an agent."""

    agent: str
    profile: ProfileAnswer | None
    traits: list[MemoryAnswer]


class TextAnswer(Answer):
    """A block of text for a model's input."""

    text: str


class UseAnswer(Answer):
    """One thing that was done with a memory."""

    sequence: int
    action: str
    at: str
    version: int
    run_id: str | None
    mine: bool


class UsesAnswer(Answer):
    """Uses of a memory, newest first."""

    uses: list[UseAnswer]
    next: int | None


class RevealedAnswer(Answer):
    """The values that a memory's markers replace."""

    memory_id: str
    content: str
    values: dict[str, str]
    unknown: list[str]


class WaitingAnswer(Answer):
    """A memory that waits for review, and the memories that it contradicts."""

    memory: MemoryAnswer
    against: list[MemoryAnswer]
    age_seconds: float
    proposer: str | None


class ReviewPageAnswer(Answer):
    """Memories that wait in the tenant, oldest first."""

    reviews: list[WaitingAnswer]
    next: str | None
    waiting: int


class AuditLineAnswer(Answer):
    """Line of the audit. It contains no content."""

    sequence: int
    tenant: str
    action: str
    at: str
    actor: str
    level: str | None
    owner: str | None
    memory_id: str | None
    version: int | None
    detail: dict[str, JsonValue]
    hash: str


class AuditPageAnswer(Answer):
    """Lines of the audit, in order."""

    events: list[AuditLineAnswer]
    next: int | None


class KindAnswer(Answer):
    """One kind of memory, and how much of it the user has."""

    kind: str
    home: str
    level: str
    retention_days: float | None
    sliding: bool
    append_only: bool
    reviewed: bool
    held: int | None


class KindsAnswer(Answer):
    """The seven kinds."""

    kinds: list[KindAnswer]


class UsageAnswer(Answer):
    """Stored amount of one kind."""

    rows: int
    bytes: int
    recent: int


class QuotaAnswer(Answer):
    """A quota, and which part of each of its limits is used up."""

    per: Literal["tenant", "user"]
    kind: str | None = None
    rows: int | None = None
    bytes: int | None = None
    writes_a_minute: int | None = None
    soft: float
    used: dict[str, float] | None = None


class QuotasAnswer(Answer):
    """Quotas in force, and the stored amounts."""

    quotas: list[QuotaAnswer]
    held: dict[str, UsageAnswer]


class OverviewAnswer(Answer):
    """State of the installation: the stored amounts of the tenant, and the measurements of this process."""

    held: dict[str, UsageAnswer]
    waiting: int
    store: dict[str, JsonValue]
    projections: dict[str, int]
    process: dict[str, JsonValue]


class PolicyAnswer(Answer):
    """A policy, as a policy file says it (docs/policy.md)."""

    keys: dict[str, JsonValue] | None
    levels: list[str]
    kinds: list[str]
    on_violation: str
    preference_bias: float
    standing_kinds: list[str]
    standing_categories: list[str]
    open_keys: bool
    keyless: bool | None
    default_ttl_days: int | None
    fixed_kinds: list[str]
    judged: bool
    on_model_failure: str
    grant: dict[str, JsonValue]
    budget: dict[str, JsonValue]
    limits: dict[str, JsonValue]
    redaction: dict[str, JsonValue]
    entities: dict[str, JsonValue]


class PolicyVersionAnswer(Answer):
    """One version of the policy: who put it in force and when. `policy` where one version is asked for."""

    version: int
    put_at: str
    by: str
    restored: int | None
    of_settings: bool
    policy: dict[str, JsonValue] | None = None


class PolicyVersionsAnswer(Answer):
    """The last versions of the policy, newest first."""

    versions: list[PolicyVersionAnswer]


class PolicyChangeAnswer(Answer):
    """A memory that another policy judges differently."""

    memory_id: str
    key: str | None
    now: str | None
    then: str | None


class PolicyTrialAnswer(Answer):
    """Verdicts of another policy on the tenant's memories."""

    looked_at: int
    refused: dict[str, int]
    changed: list[PolicyChangeAnswer]
    next: str | None


class UserAnswer(Answer):
    """A user who has memories."""

    user: str
    count: int
    updated_at: str


class UsersAnswer(Answer):
    """Users of the tenant, by name; `next` is the cursor of the next page."""

    users: list[UserAnswer]
    next: str | None


class TenantAnswer(Answer):
    """Settings of a tenant; `usage` where one tenant is asked for."""

    tenant: str
    created_at: str
    label: str
    quotas: list[QuotaAnswer] | None
    suspended_at: str | None
    usage: QuotasAnswer | None = None


class TenantPageAnswer(Answer):
    """Tenants by name."""

    tenants: list[TenantAnswer]
    next: str | None


class KeyAnswer(Answer):
    """An API key without its secret; `api_key` is its text, shown once."""

    key_id: str
    tenant: str
    user: str | None
    agent: str
    roles: list[str]
    label: str
    created_at: str
    created_by: str | None = None
    expires_at: str | None
    last_used_at: str | None = None
    api_key: str | None = None


class KeysAnswer(Answer):
    """The keys that the caller may manage."""

    keys: list[KeyAnswer]
    next: str | None


class NewSecretAnswer(Answer):
    """A new secret for a key."""

    key_id: str
    api_key: str


class TokenAnswer(Answer):
    """A short-lived token for a user."""

    token: str
    expires_in: int


class PrincipalAnswer(Answer):
    """Caller that a credential represents; `user` is null for an application."""

    tenant: str
    user: str | None
    agent: str
    roles: list[str]
