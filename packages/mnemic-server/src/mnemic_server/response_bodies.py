"""Response bodies of the service, for its OpenAPI description.

Responses are built from the library's values in `wire`; the tests check these classes against real responses, and they
cost nothing at run time.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue

from mnemic_server.openapi_descriptions import Answer


class SourceAnswer(Answer):
    """Source of a memory."""

    origin: str
    ref: str | None
    session: str | None
    speaker: str | None
    quote: str | None
    span: list[int] | None


class MemoryAnswer(Answer):
    """One memory in one version."""

    format: Literal["mnemic/1"]
    memory_id: str
    version: int
    kind: Literal["long_term", "persona", "episodic", "entity", "structured"]
    status: Literal["active", "pending_review", "superseded", "expired", "rejected"]
    tenant: str
    level: Literal["user", "workspace", "agent", "session"]
    owner: str
    key: str | None
    category: str | None
    content: str
    context: str
    data: dict[str, JsonValue]
    confidence: float
    trust: Literal["low", "medium", "high"]
    source: SourceAnswer
    created_at: str
    updated_at: str
    occurred_at: str | None
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    supersedes: list[str]
    conflicts_with: list[str]


class StepAnswer(Answer):
    """Decision of one step of the write path."""

    name: str
    decision: str
    ms: float


class ReceiptAnswer(Answer):
    """Outcome of one write."""

    outcome: Literal["created", "refreshed", "merged", "superseded", "pending_review", "blocked"]
    memory_id: str | None
    version: int | None
    key: str | None
    level: str
    reason: str | None
    superseded: list[str]
    conflicts_with: list[str]
    clamped: list[str]
    durable: bool
    degraded: list[str]
    replayed: bool
    warnings: list[str]
    steps: list[StepAnswer]


class ReceiptsAnswer(Answer):
    """One receipt for each, in order."""

    receipts: list[ReceiptAnswer]


class RankAnswer(Answer):
    """Rank of a hit in one list."""

    position: int
    score: float


class HitAnswer(Answer):
    """A memory that was found, and why it is here. `relevance`: how likely it is about the query, 0 to 1."""

    score: float
    relevance: float | None
    reason: str
    why: str
    outdated_by: str | None
    ranks: dict[str, RankAnswer]
    memory: MemoryAnswer


class SearchAnswer(Answer):
    """Results of a search; `errors` names the lists that failed."""

    query: str
    hits: list[HitAnswer]
    errors: dict[str, str]
    degraded: bool
    relevance: float | None
    abstains: bool
    plan: dict[str, JsonValue]


class NamedVersion(Answer):
    """A memory in one version, by name."""

    memory_id: str
    version: int


class ContextAnswer(Answer):
    """A block of memories for a model's input. `abstained`: probably nothing about the query is known."""

    text: str
    memories: list[NamedVersion]
    hits: list[HitAnswer]
    reason: str | None
    degraded: bool
    abstained: bool
    digest: str | None


class CountAnswer(Answer):
    """Number of active memories."""

    count: int


class ForgottenAnswer(Answer):
    """Memories that were forgotten by a filter."""

    memory_ids: list[str]
    refused: list[str]
    more: bool
    dry_run: bool


class PageAnswer(Answer):
    """A page of memories; `next` is the cursor of the next page."""

    memories: list[MemoryAnswer]
    next: str | None


class MemoriesAnswer(Answer):
    """Memories."""

    memories: list[MemoryAnswer]


class HistoryAnswer(Answer):
    """All versions of a memory, oldest first."""

    versions: list[MemoryAnswer]


class LineageAnswer(Answer):
    """Memories that a memory replaced, newest first, and those that replaced it, in order."""

    memory: MemoryAnswer
    earlier: list[MemoryAnswer]
    later: list[MemoryAnswer]
    complete: bool


class UndoAnswer(Answer):
    """Result of taking back the replacement of a memory."""

    memory_id: str
    version: int
    status: str
    restored: list[str]


class UsedAnswer(Answer):
    """Results for the memories of a run, by their ids."""

    retrieved: list[str]
    injected: list[str]
    cited: list[str]
    verified: list[str]
    unverifiable: list[str]
    refuted: list[str]


class MemoryRequestAnswer(Answer):
    """Something the message asks of memory. Nothing of it is done."""

    kind: Literal["forget", "forget_all", "wrong", "show"]
    subject: str
    memory_ids: list[str]


class BlockedAnswer(Answer):
    """A proposal that the execution boundary did not let through."""

    key: str | None
    reason: str
    level: str


class ReportAnswer(Answer):
    """Complete record of a turn, for an audit of its answer."""

    run_id: str
    status: Literal["ok", "stopped", "needs_review", "failed"]
    stop_reason: str
    phase: str | None = None
    outcome: str | None
    answer: str | None
    basis: Literal["model", "template", "echo", "none"] | None = None
    used_memory_keys: list[str]
    applied_memory: list[dict[str, JsonValue]]
    memory_state: list[dict[str, JsonValue]]
    audit: UsedAnswer
    skipped: list[dict[str, JsonValue]]
    asked: list[MemoryRequestAnswer] = Field(default_factory=list)
    cost: dict[str, int] | None = None
    errors: list[str]
    trace: list[dict[str, JsonValue]]
    history: list[dict[str, JsonValue]]
    receipts: list[ReceiptAnswer]
    raw_intent: JsonValue = None
    invalid_used_memory_keys: list[str] = Field(default_factory=list)
    retrieved_keys: list[str] = Field(default_factory=list)
    hits: list[HitAnswer] = Field(default_factory=list)
    blocked: list[BlockedAnswer] = Field(default_factory=list)


class ReportsAnswer(Answer):
    """One report for each of the user's own messages, null for the others, in order."""

    reports: list[ReportAnswer | None]


class EpisodeStepAnswer(Answer):
    """One step of an episode."""

    action: str
    result: str
    ok: bool | None


class EpisodeAnswer(Answer):
    """An episode with the feedback that came since."""

    memory_id: str
    task: str
    steps: list[EpisodeStepAnswer]
    outcome: str
    happened_at: str
    feedback: list[str]
    score: float | None


class EpisodePageAnswer(Answer):
    """A page of episodes, newest first."""

    episodes: list[EpisodeAnswer]
    next: str | None = None


class RelationAnswer(Answer):
    """Relation between two things, and the memory that says so."""

    source: str
    relation: str
    target: str
    valid_from: str | None
    valid_to: str | None
    memory_id: str


class NodeAnswer(Answer):
    """A named thing."""

    node: str
    name: str
    label: str
    aliases: list[str]
    first_seen_at: str | None
    last_seen_at: str | None


class NeighbourAnswer(NodeAnswer):
    """A named thing and the way to it."""

    hops: int
    path: list[RelationAnswer]


class EntitiesAnswer(Answer):
    """People and things that the user has spoken of."""

    entities: list[NodeAnswer]


class NeighboursAnswer(Answer):
    """Things near a name, nearest first."""

    neighbours: list[NeighbourAnswer]


class ViewedGraphAnswer(Answer):
    """Graph around a name, and the names that it can be drawn around."""

    neighbours: list[NeighbourAnswer]
    entities: list[NodeAnswer]


class PathAnswer(Answer):
    """Shortest path; null if there is none."""

    path: list[RelationAnswer] | None


class ImportAnswer(Answer):
    """State of an import."""

    import_id: str
    taken: int
    outcomes: dict[str, int]
    updated_at: str | None
    receipts: list[ReceiptAnswer] = Field(default_factory=list)


class RunAnswer(UsedAnswer):
    """One of the latest runs, without content."""

    run_id: str
    at: str
    status: str
    stop_reason: str
    outcome: str | None
    steps: list[dict[str, JsonValue]]
    adapter: str
    agent: str | None
    tokens: int | None
    ms: float | None
    block_sha256: str | None


class RunMemoriesAnswer(RunAnswer):
    """The same with the memories that it names, in their present state."""

    memories: list[MemoryAnswer]


class RunPageAnswer(Answer):
    """The latest runs, newest first."""

    runs: list[RunAnswer]
    next: int | None


def answering(shape: type[BaseModel], *statuses: int) -> dict[str, Any]:
    """Return the description of a route whose answers (200 unless `statuses` are named) look like `shape`. `Any`:
    pydantic writes them as they are, which takes a search a third of the time that FastAPI's own encoder does.
    """
    fields = {"model": shape, "description": (shape.__doc__ or "").strip()}
    return {"response_model": Any, "responses": dict.fromkeys(statuses or (200,), fields)}
