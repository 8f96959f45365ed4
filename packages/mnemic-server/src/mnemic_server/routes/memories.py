"""For agents and the programs they run in: remember, find, correct, forget."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request, Response

from mnemic import requests
from mnemic.dispatch import BatchReceipts
from mnemic.errors import InvalidInput, VersionConflict
from mnemic.json_output import hit_dict, memory_dict, profile_dict, rating_dict, receipt_dict, result_dict
from mnemic.types import Memory, Origin, to_json
from mnemic.types.recall_limits import DEFAULT_PROFILE_TOKENS
from mnemic_server.access import Correcting, Deleting, Reading, TheService, Writing
from mnemic_server.evidence_filter import all_shown, hide_quote, hits_shown, rating_shown, report_shown, result_shown
from mnemic_server.library_value_bodies import parse_request
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.problems import Refusal
from mnemic_server.request_bodies import (
    Captured,
    CapturedMessages,
    ContextRequest,
    Conversation,
    Correction,
    ForgetRequest,
    IdempotencyKey,
    Kinds,
    MemoryId,
    Moment,
    Name,
    NewMemories,
    NewMemory,
    RememberRequest,
    Search,
    filter_of,
    page_dict,
)
from mnemic_server.request_limits import DEADLINE
from mnemic_server.response_bodies import (
    ContextResponse,
    CountResponse,
    ForgottenResponse,
    HistoryResponse,
    MemoryResponse,
    PageResponse,
    RatingsResponse,
    ReceiptResponse,
    ReceiptsResponse,
    RememberedResponse,
    ReportResponse,
    ReportsResponse,
    SearchResponse,
    UserProfileResponse,
    answering,
)

router = APIRouter(prefix="/v1", tags=["memories"], route_class=ParsedBodyRoute)

IfMatch = Annotated[str | None, Header(alias="If-Match", max_length=40)]
At = Annotated[Moment | None, Query(description="A time with its zone, or a date: the beginning of that day in UTC.")]
OnlyKinds = Annotated[list[Kinds] | None, Query(description="Only these kinds.")]
OnlyCategories = Annotated[list[Name] | None, Query(max_length=50, description="Only these categories.")]
OnlyKeys = Annotated[list[Name] | None, Query(max_length=50, description="Only these keys.")]
DataFilter = Annotated[str | None, Query(max_length=8192, description="A filter on `data`, as JSON.")]


async def list_filter(
    kinds: OnlyKinds = None,
    categories: OnlyCategories = None,
    keys: OnlyKeys = None,
    where: DataFilter = None,
    happened_from: At = None,
    happened_to: At = None,
    as_of: At = None,
    known_at: At = None,
) -> dict[str, Any]:
    """Return the filter in the parameters of an address, as the engine takes it. Raises InvalidInput (`where`)."""
    return {
        "kinds": kinds,
        "categories": categories,
        "keys": keys,
        "where": filter_of(where),
        "happened_from": happened_from,
        "happened_to": happened_to,
        "as_of": as_of,
        "known_at": known_at,
    }


ListFilter = Annotated[dict[str, Any], Depends(list_filter)]


@router.post("/memories", status_code=HTTPStatus.CREATED, **answering(ReceiptResponse, 200, 201))
async def add(
    wanted: NewMemory, actor: Writing, service: TheService, response: Response, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Add a memory. The receipt says what became of it; 201 where a memory was made, 200 otherwise."""
    receipt = await service.engine.add(wanted.candidate(actor.session), actor=actor, idempotency_key=idempotency_key)
    if receipt.outcome.value != "created":
        response.status_code = HTTPStatus.OK
    return receipt_dict(receipt)


@router.post("/memories/batch", **answering(ReceiptsResponse))
async def add_many(wanted: NewMemories, actor: Writing, service: TheService, request: Request) -> dict[str, Any]:
    """Add several memories. Remember many things: one receipt each, in order; one that is refused stops no other. What
    there was no time for is `blocked`: `max_seconds`, or `embedder_failed:timeout`.
    """
    candidates, keys = [one.candidate(actor.session) for one in wanted.memories], wanted.idempotency_keys
    if keys is not None and len(keys) != len(candidates):
        raise InvalidInput("idempotency_keys", hint="one for each memory, or null")
    added = requests.AddMany(candidates=tuple(candidates), idempotency_keys=None if keys is None else tuple(keys))
    within = getattr(request.state, DEADLINE, None)
    written: BatchReceipts = await service.engine.handle(added, actor=actor, deadline=within)
    return {"receipts": [receipt_dict(receipt) for receipt in written.receipts]}


@router.post("/messages", **answering(ReceiptsResponse))
async def record(wanted: Conversation, actor: Writing, service: TheService) -> dict[str, Any]:
    """Keep messages word for word. Keep the messages of a conversation themselves, as episodic memories."""
    receipts = await service.engine.record([one.message(actor.session) for one in wanted.messages], actor=actor)
    return {"receipts": [receipt_dict(receipt) for receipt in receipts]}


@router.post("/capture", **answering(ReportResponse))
async def capture(
    wanted: Captured, actor: Writing, service: TheService, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Learn from a message."""
    report = await service.engine.capture(
        wanted.as_message(actor.session), actor=actor, idempotency_key=idempotency_key
    )
    return report_shown(report, actor)


@router.post("/capture/batch", **answering(ReportsResponse))
async def capture_many(wanted: CapturedMessages, actor: Writing, service: TheService) -> dict[str, Any]:
    """Learn from several messages. Capture the memories in messages of a conversation, in order: a report for each of
    the user's own messages, null for the others, which only serve as context.
    """
    messages, keys = [one.message(actor.session) for one in wanted.messages], wanted.idempotency_keys
    if keys is not None and len(keys) != len(messages):
        raise InvalidInput("idempotency_keys", hint="one for each message, or null")
    reports = await service.engine.capture_many(messages, actor=actor, idempotency_keys=keys)
    return {"reports": [None if one is None else report_shown(one, actor) for one in reports]}


@router.post("/remember", **answering(RememberedResponse))
async def remember(wanted: RememberRequest, actor: Writing, service: TheService) -> dict[str, Any]:
    """Remember a conversation. Capture the memories in messages of a conversation, or store the messages themselves;
    `data` is stored with each memory.
    """
    messages = [one.message(actor.session) for one in wanted.messages]
    made = await service.engine.remember(messages, actor=actor, infer=wanted.infer, data=wanted.data)
    asked = [request.to_dict() for request in made.asked]
    return {"receipts": [receipt_dict(receipt) for receipt in made], **({"asked": asked} if asked else {})}


@router.post("/search", **answering(SearchResponse))
async def search(wanted: Search, actor: Reading, service: TheService) -> dict[str, Any]:
    """Search memories. Return the best memories for a query, each with why it was found; lists that
    failed are named.
    """
    result = await service.engine.handle(parse_request(requests.Search, wanted), actor=actor)
    return result_dict(result_shown(result, actor))


@router.post("/context", **answering(ContextResponse))
async def context(wanted: ContextRequest, actor: Reading, service: TheService) -> dict[str, Any]:
    """Get memories for a prompt. Return a block of memories, ready to be put into one model call as data; it is logged
    as injected.
    """
    block = await service.engine.handle(parse_request(requests.Context, wanted), actor=actor)
    return {
        "text": block.text,
        "memories": [{"memory_id": hit.memory.memory_id, "version": hit.memory.version} for hit in block.hits],
        "hits": [hit_dict(hit) for hit in hits_shown(block.hits, actor)],
        "reason": block.reason,
        "degraded": block.degraded,
        "abstained": block.abstained,
        "digest": block.digest,
    }


@router.get("/memories", **answering(PageResponse))
async def page(
    actor: Reading,
    service: TheService,
    listed: ListFilter,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[str | None, Query(min_length=1, max_length=128, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """List memories. They are the active ones, newest first. `next` is the `before` of the next page. `happened_from`
    and `happened_to`: what happened in that time; `as_of`: true at that time; `known_at`: stored at that time.
    """
    found = await service.engine.list(actor=actor, **listed, limit=limit, before=before)
    return page_dict(all_shown(found, actor), limit)


@router.get("/profile", **answering(UserProfileResponse))
async def profile(
    actor: Reading, service: TheService, max_tokens: Annotated[int, Query(ge=1, le=100_000)] = DEFAULT_PROFILE_TOKENS
) -> dict[str, Any]:
    """Show what is known of the user. Return who the user is and what holds now, each line with the memory that proves
    it.
    """
    return profile_dict(await service.engine.profile(actor=actor, max_tokens=max_tokens))


@router.get("/ratings", **answering(RatingsResponse))
async def ratings(actor: Reading, service: TheService) -> dict[str, Any]:
    """List the user's ratings. List what the user said of memories, newest first, each with the effect that
    it has now.
    """
    found = await service.engine.ratings(actor=actor)
    return {"ratings": [rating_dict(rating_shown(one, actor)) for one in found]}


@router.get("/memories/count", **answering(CountResponse))
async def count(actor: Reading, service: TheService, listed: ListFilter) -> dict[str, Any]:
    """Count memories. `happened_from` and `happened_to`: what happened in that time; `as_of`: that were true then;
    `known_at`: that were believed then.
    """
    number = await service.engine.count(actor=actor, **listed)
    return {"count": number}


@router.get("/memories/{memory_id}", **answering(MemoryResponse))
async def one(
    memory_id: MemoryId,
    actor: Reading,
    service: TheService,
    response: Response,
    as_of: At = None,
    known_at: At = None,
) -> dict[str, Any]:
    """Get a memory. One memory; its ETag is its version. `as_of`: only if it was true then; `known_at`: as it was known
    then.
    """
    memory = await service.engine.get(memory_id, actor=actor, as_of=as_of, known_at=known_at)
    response.headers["ETag"] = etag(memory)
    return memory_dict(hide_quote(memory, actor))


@router.get("/memories/{memory_id}/history", **answering(HistoryResponse))
async def history(
    memory_id: MemoryId, actor: Reading, service: TheService, as_of: At = None, known_at: At = None
) -> dict[str, Any]:
    """List the versions of a memory. All versions of a memory, oldest first: with `known_at` those written by then,
    with `as_of` those by which it was true then.
    """
    versions = await service.engine.history(memory_id, actor=actor, as_of=as_of, known_at=known_at)
    return {"versions": [memory_dict(version) for version in all_shown(versions, actor)]}


@router.patch("/memories/{memory_id}", **answering(ReceiptResponse))
async def correct(
    memory_id: MemoryId, wanted: Correction, actor: Correcting, service: TheService, if_match: IfMatch = None
) -> dict[str, Any]:
    """Correct a memory. Its next version says something else. With `If-Match` only if it is still at that version."""
    expected = version_of(if_match) or wanted.expected_version
    try:
        receipt = await service.engine.update(
            memory_id,
            actor=actor,
            **wanted.changes(),
            expected_version=expected,
            origin=None if wanted.origin is None else Origin(wanted.origin),
        )
    except VersionConflict as conflict:
        if expected is None:
            raise
        raise Refusal(HTTPStatus.PRECONDITION_FAILED, conflict.reason) from None
    return receipt_dict(receipt)


@router.delete("/memories/{memory_id}", status_code=HTTPStatus.NO_CONTENT)
async def forget(memory_id: MemoryId, actor: Deleting, service: TheService) -> None:
    """Delete a memory. All its versions are deleted. What another person approved for all is deleted by its author
    or a reviewer.
    """
    await service.engine.forget(memory_id, actor=actor)


@router.post("/memories/forget", **answering(ForgottenResponse))
async def forget_matching(wanted: ForgetRequest, actor: Deleting, service: TheService) -> dict[str, Any]:
    """Delete memories by filter. Of the active memories that meet it the newest `limit` are deleted. At least one of
    `kinds`, `categories`, `keys` and `where` is given. With `dry_run` nothing is deleted; `more`: others meet the
    filter.
    """
    done: dict[str, Any] = to_json(await service.engine.forget_matching(actor=actor, **wanted.model_dump()))
    return done


def etag(memory: Memory) -> str:
    """Return the version as an entity tag (RFC 9110, section 8.8.3)."""
    return f'"{memory.version}"'


def version_of(tag: str | None) -> int | None:
    """Return the version that an `If-Match` names; `*` and an absent header name none. Refuses an
    unknown tag with 412.
    """
    if tag is None or tag.strip() == "*":
        return None
    digits = tag.strip().strip('"')
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        raise Refusal(HTTPStatus.PRECONDITION_FAILED, VersionConflict.code)
    return int(digits)
