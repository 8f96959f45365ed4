"""Response bodies of the service, for its OpenAPI description.

Responses are built from the library's values in `wire`; the tests check these classes against real responses, and they
cost nothing at run time.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, JsonValue

from mnemic.kinds.episodic import Step
from mnemic.maintenance.undo import UndoReceipt
from mnemic.types import Blocked, ForgetResult, MemoryRequest, Source, WriteReceipt
from mnemic.types.graph import Relation
from mnemic_server.openapi_descriptions import ResponseBody, shape_of

SourceResponse: Any = shape_of(Source, "Source of a memory.", "SourceResponse")


class MemoryResponse(ResponseBody):
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
    source: SourceResponse
    created_at: str
    updated_at: str
    occurred_at: str | None
    valid_from: str | None
    valid_to: str | None
    expires_at: str | None
    supersedes: list[str]
    conflicts_with: list[str]


ReceiptResponse: Any = shape_of(WriteReceipt, "Outcome of one write.", "ReceiptResponse")


class ReceiptsResponse(ResponseBody):
    """One receipt for each, in order."""

    receipts: list[ReceiptResponse]


class RankResponse(ResponseBody):
    """Rank of a hit in one list."""

    position: int
    score: float


class HitResponse(ResponseBody):
    """A memory that was found, and why it is here. `relevance`: how likely it is about the query, 0 to 1."""

    score: float
    relevance: float | None
    reason: str
    why: str
    outdated_by: str | None
    disagrees_with: list[str]
    ranks: dict[str, RankResponse]
    memory: MemoryResponse


class SearchResponse(ResponseBody):
    """Results of a search; `errors` names the lists that failed."""

    query: str
    hits: list[HitResponse]
    errors: dict[str, str]
    degraded: bool
    relevance: float | None
    abstains: bool
    plan: dict[str, JsonValue]


class NamedVersion(ResponseBody):
    """A memory in one version, by name."""

    memory_id: str
    version: int


class ContextResponse(ResponseBody):
    """A block of memories for a model's input. `abstained`: probably nothing about the query is known."""

    text: str
    memories: list[NamedVersion]
    hits: list[HitResponse]
    reason: str | None
    degraded: bool
    abstained: bool
    digest: str | None


class ProfileLineResponse(ResponseBody):
    """One thing that holds of a user, with the memory that proves it; a line that a model wrote with those it says."""

    section: Literal["identity", "constraint", "preference", "relation", "event", "fact"]
    topic: Literal["you", "home", "work", "health", "tastes", "people", "plans"]
    text: str
    memory: MemoryResponse
    proof: list[MemoryResponse]


class UserProfileResponse(ResponseBody):
    """Who a user is and what holds now, most important first."""

    known_lines: list[ProfileLineResponse]
    text: str
    without_room: int


class RatingResponse(ResponseBody):
    """A user's verdict on a version of a memory."""

    memory_id: str
    verdict: Literal["useful", "wrong"]
    version: int
    rated_at: str


class OneRatingResponse(ResponseBody):
    """The user's rating of a memory; null if it was withdrawn."""

    rating: RatingResponse | None


class RatedMemoryResponse(RatingResponse):
    """A rating with its memory, null if that is gone, and the amount that it adds to the memory's score now."""

    memory: MemoryResponse | None
    shift: float


class RatingsResponse(ResponseBody):
    """What a user said of memories, newest first."""

    ratings: list[RatedMemoryResponse]


class CountResponse(ResponseBody):
    """Number of active memories."""

    count: int


ForgottenResponse: Any = shape_of(ForgetResult, "Memories that were forgotten by a filter.", "ForgottenResponse")


class PageResponse(ResponseBody):
    """A page of memories; `next` is the cursor of the next page."""

    memories: list[MemoryResponse]
    next: str | None


class MemoriesResponse(ResponseBody):
    """Memories."""

    memories: list[MemoryResponse]


class HistoryResponse(ResponseBody):
    """All versions of a memory, oldest first."""

    versions: list[MemoryResponse]


class LineageResponse(ResponseBody):
    """Memories that a memory replaced, newest first, and those that replaced it, in order."""

    memory: MemoryResponse
    earlier: list[MemoryResponse]
    later: list[MemoryResponse]
    complete: bool


UndoResponse: Any = shape_of(UndoReceipt, "Result of taking back the replacement of a memory.", "UndoResponse")


class UsedResponse(ResponseBody):
    """Results for the memories of a run, by their ids."""

    retrieved: list[str]
    injected: list[str]
    cited: list[str]
    verified: list[str]
    likely: list[str]
    unverifiable: list[str]
    refuted: list[str]
    certainty: dict[str, float]


MemoryRequestResponse: Any = shape_of(
    MemoryRequest, "Something the message asks of memory. Nothing of it is done.", "MemoryRequestResponse"
)


class RememberedResponse(ReceiptsResponse):
    """One receipt for each memory, and what the messages ask of memory."""

    asked: list[MemoryRequestResponse] = Field(default_factory=list)


BlockedResponse: Any = shape_of(
    Blocked, "A proposal that the execution boundary did not let through.", "BlockedResponse"
)


class ReportResponse(ResponseBody):
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
    audit: UsedResponse
    skipped: list[dict[str, JsonValue]]
    for_review: list[dict[str, JsonValue]] = Field(default_factory=list)
    asked: list[MemoryRequestResponse] = Field(default_factory=list)
    cost: dict[str, int] | None = None
    errors: list[str]
    trace: list[dict[str, JsonValue]]
    history: list[dict[str, JsonValue]]
    receipts: list[ReceiptResponse]
    raw_intent: JsonValue = None
    invalid_used_memory_keys: list[str] = Field(default_factory=list)
    retrieved_keys: list[str] = Field(default_factory=list)
    hits: list[HitResponse] = Field(default_factory=list)
    blocked: list[BlockedResponse] = Field(default_factory=list)


class ReportsResponse(ResponseBody):
    """One report for each of the user's own messages, null for the others, in order."""

    reports: list[ReportResponse | None]


EpisodeStepResponse: Any = shape_of(Step, "One step of an episode.", "EpisodeStepResponse")


class EpisodeResponse(ResponseBody):
    """An episode with the feedback that came since."""

    memory_id: str
    task: str
    steps: list[EpisodeStepResponse]
    outcome: str
    happened_at: str
    feedback: list[str]
    score: float | None


class EpisodePageResponse(ResponseBody):
    """A page of episodes, newest first."""

    episodes: list[EpisodeResponse]
    next: str | None = None


RelationResponse: Any = shape_of(
    Relation, "Relation between two things, and the memory that states it.", "RelationResponse"
)


class NodeResponse(ResponseBody):
    """A named thing."""

    node: str
    name: str
    label: str
    aliases: list[str]
    first_seen_at: str | None
    last_seen_at: str | None


class NeighbourResponse(NodeResponse):
    """A named thing and the way to it."""

    hops: int
    path: list[RelationResponse]


class EntitiesResponse(ResponseBody):
    """People and things that the user has spoken of."""

    entities: list[NodeResponse]


class NeighboursResponse(ResponseBody):
    """Things near a name, nearest first."""

    neighbours: list[NeighbourResponse]


class ViewedGraphResponse(ResponseBody):
    """Graph around a name, and the names that it can be drawn around."""

    neighbours: list[NeighbourResponse]
    entities: list[NodeResponse]


class PathResponse(ResponseBody):
    """Shortest path; null if there is none."""

    path: list[RelationResponse] | None


class ImportResponse(ResponseBody):
    """State of an import."""

    import_id: str
    taken: int
    outcomes: dict[str, int]
    updated_at: str | None
    receipts: list[ReceiptResponse] = Field(default_factory=list)


class RunResponse(UsedResponse):
    """One of the latest runs. Policy (`keep_turns`) decides whether `question`, `answer` and `block_text` are kept."""

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
    question: str | None
    answer: str | None
    block_text: str | None
    named: list[str]


class RunMemoriesResponse(RunResponse):
    """The same with the memories that it names, in their present state."""

    memories: list[MemoryResponse]


class RunPageResponse(ResponseBody):
    """The latest runs, newest first."""

    runs: list[RunResponse]
    next: int | None


class OpenedRunsResponse(RunPageResponse):
    """The latest runs of a user, newest first, and the memories that they name, in their present state."""

    memories: list[MemoryResponse]


def answering(shape: type[BaseModel], *statuses: int) -> dict[str, Any]:
    """Return the description of a route whose answers (200 unless `statuses` are named) look like `shape`. `Any`:
    pydantic writes them as they are, which takes a search a third of the time that FastAPI's own encoder does.
    """
    fields = {"model": shape, "description": (shape.__doc__ or "").strip()}
    return {"response_model": Any, "responses": dict.fromkeys(statuses or (200,), fields)}
