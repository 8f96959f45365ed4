"""Response bodies for reviewers, operators, admins and data subjects."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import JsonValue

from mnemic.kinds.persona import Profile
from mnemic.maintenance.consolidate import ConsolidationReport
from mnemic.maintenance.expiry_job import ExpiryReport
from mnemic.maintenance.health import Health
from mnemic.maintenance.import_undo import ImportUndone
from mnemic.maintenance.reports import AuditReport, MaintenanceReport
from mnemic.maintenance.reread import RereadReport
from mnemic.maintenance.reveal import RevealResult
from mnemic_server.openapi_descriptions import ResponseBody, shape_of
from mnemic_server.policy_dry_run import ChangedDecision
from mnemic_server.response_bodies import MemoryResponse

ConsolidatedResponse = shape_of(ConsolidationReport)
HealthResponse = shape_of(Health)
MaintenanceResponse = shape_of(MaintenanceReport)
AuditReportResponse = shape_of(AuditReport)
RereadResponse = shape_of(RereadReport)
ImportUndoneResponse = shape_of(ImportUndone)


ExpiryResponse = shape_of(ExpiryReport)


class StatusResponse(ResponseBody):
    """State of the service."""

    status: Literal["ok", "failed"]
    reason: str | None = None


class RereadUndoneResponse(ResponseBody):
    """The number of memories that are as they were before."""

    memories: int


class ConsentsResponse(ResponseBody):
    """Decisions of the user, by key."""

    consents: dict[str, bool]


class ErasureResponse(ResponseBody):
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


class ErasureJobResponse(ResponseBody):
    """An erasure on its way, or its receipt."""

    erasure_id: str
    state: Literal["running", "done", "failed", "interrupted"]
    begun_at: str
    reason: str | None
    erased: ErasureResponse | None


class CarriedOutResponse(ResponseBody):
    """Result of a request about memory: the forgotten memories, the erasure that was started, or the
    memories to show.
    """

    forgotten: list[str]
    erasure: ErasureJobResponse | None
    memories: list[MemoryResponse]


class RevocationResponse(ResponseBody):
    """Effects of a revoked consent."""

    key: str
    hidden: int
    erasure: ErasureJobResponse | None


class VerificationResponse(ResponseBody):
    """Number of remaining traces of erased data, by place."""

    traces: dict[str, int]
    complete: bool


ProfileResponse: Any = shape_of(Profile, "Profile that an agent's makers gave it.", "ProfileResponse")


class PersonaResponse(ResponseBody):
    """Profile and traits of an agent."""

    agent: str
    profile: ProfileResponse | None
    traits: list[MemoryResponse]


class TextResponse(ResponseBody):
    """A block of text for a model's input."""

    text: str


class UseResponse(ResponseBody):
    """One thing that was done with a memory."""

    sequence: int
    action: str
    at: str
    version: int
    run_id: str | None
    mine: bool


class UsesResponse(ResponseBody):
    """Uses of a memory, newest first."""

    uses: list[UseResponse]
    next: int | None


RevealedResponse: Any = shape_of(RevealResult, "The values that a memory's markers replace.", "RevealedResponse")


class WaitingResponse(ResponseBody):
    """A memory that waits for review, and the memories that it contradicts."""

    memory: MemoryResponse
    against: list[MemoryResponse]
    age_seconds: float
    proposer: str | None


class ReviewPageResponse(ResponseBody):
    """Memories that wait in the tenant, oldest first."""

    reviews: list[WaitingResponse]
    next: str | None
    waiting: int


class AuditLineResponse(ResponseBody):
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


class AuditPageResponse(ResponseBody):
    """Lines of the audit, in order."""

    events: list[AuditLineResponse]
    next: int | None


class KindResponse(ResponseBody):
    """One kind of memory, and how much of it the user has."""

    kind: str
    home: str
    level: str
    retention_days: float | None
    sliding: bool
    append_only: bool
    reviewed: bool
    held: int | None


class KindsResponse(ResponseBody):
    """The seven kinds."""

    kinds: list[KindResponse]


class UsageResponse(ResponseBody):
    """Stored amount of one kind."""

    rows: int
    bytes: int
    recent: int


class QuotaResponse(ResponseBody):
    """A quota, and which part of each of its limits is used up."""

    per: Literal["tenant", "user"]
    kind: str | None = None
    rows: int | None = None
    bytes: int | None = None
    writes_a_minute: int | None = None
    soft: float
    used: dict[str, float] | None = None


class QuotasResponse(ResponseBody):
    """Quotas in force, and the stored amounts."""

    quotas: list[QuotaResponse]
    held: dict[str, UsageResponse]


class OverviewResponse(ResponseBody):
    """State of the installation: the stored amounts of the tenant, and the measurements of this process."""

    held: dict[str, UsageResponse]
    waiting: int
    store: dict[str, JsonValue]
    projections: dict[str, int]
    process: dict[str, JsonValue]


class PolicyResponse(ResponseBody):
    """A policy, as a policy file says it (docs/policy.md)."""

    keys: dict[str, JsonValue] | None
    levels: list[str]
    kinds: list[str]
    on_violation: str
    preference_bias: float
    pinned_kinds: list[str]
    pinned_categories: list[str]
    open_keys: bool
    keyless: bool | None
    default_ttl_days: int | None
    fixed_kinds: list[str]
    judged: bool
    on_model_failure: str
    on_refuted: str
    sensitive_words: list[str]
    keep_messages: bool
    keep_turns: bool | None
    operators_read_turns: bool
    grant: dict[str, JsonValue]
    budget: dict[str, JsonValue]
    limits: dict[str, JsonValue]
    redaction: dict[str, JsonValue]
    entities: dict[str, JsonValue]


class PolicyVersionResponse(ResponseBody):
    """One version of the policy: who put it in force and when. `policy` where one version is asked for."""

    version: int
    put_at: str
    by: str
    restored: int | None
    of_settings: bool
    policy: dict[str, JsonValue] | None = None


class PolicyVersionsResponse(ResponseBody):
    """The last versions of the policy, newest first."""

    versions: list[PolicyVersionResponse]


PolicyChangeResponse: Any = shape_of(
    ChangedDecision, "A memory that another policy judges differently.", "PolicyChangeResponse"
)


class PolicyTrialResponse(ResponseBody):
    """Verdicts of another policy on the tenant's memories."""

    looked_at: int
    refused: dict[str, int]
    changed: list[PolicyChangeResponse]
    next: str | None


class UserResponse(ResponseBody):
    """A user who has memories."""

    user: str
    count: int
    updated_at: str


class UsersResponse(ResponseBody):
    """Users of the tenant, by name; `next` is the cursor of the next page."""

    users: list[UserResponse]
    next: str | None


class TenantResponse(ResponseBody):
    """Settings of a tenant; `usage` where one tenant is asked for."""

    tenant: str
    created_at: str
    label: str
    quotas: list[QuotaResponse] | None
    suspended_at: str | None
    usage: QuotasResponse | None = None


class TenantPageResponse(ResponseBody):
    """Tenants by name."""

    tenants: list[TenantResponse]
    next: str | None


class KeyResponse(ResponseBody):
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


class KeysResponse(ResponseBody):
    """The keys that the caller may manage."""

    keys: list[KeyResponse]
    next: str | None


class NewSecretResponse(ResponseBody):
    """A new secret for a key."""

    key_id: str
    api_key: str


class TokenResponse(ResponseBody):
    """A short-lived token for a user."""

    token: str
    expires_in: int


class PrincipalResponse(ResponseBody):
    """Caller that a credential represents; `user` is null for an application."""

    tenant: str
    user: str | None
    agent: str
    roles: list[str]
