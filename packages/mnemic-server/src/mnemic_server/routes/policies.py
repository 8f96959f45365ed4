"""For operators: the policy of their tenant, its dry run, activation and rollback."""

from __future__ import annotations

from collections.abc import Awaitable
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from mnemic.errors import MemoryNotFound, VersionConflict
from mnemic.maintenance.tenant_engine import policy_bundle_of
from mnemic.maintenance.tenant_registry import PolicyVersion
from mnemic.policy.policy_file import policy_bundle_data, read_policy_bundle
from mnemic_server.access import Operating, TheService
from mnemic_server.operations_response_bodies import (
    PolicyResponse,
    PolicyTrialResponse,
    PolicyVersionResponse,
    PolicyVersionsResponse,
)
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.policy_dry_run import judge_by_both
from mnemic_server.problems import Refusal
from mnemic_server.request_bodies import PolicyBack, PolicyRequest
from mnemic_server.response_bodies import answering
from mnemic_server.routes.memories import IfMatch, version_of

router = APIRouter(prefix="/v1/policy", tags=["operations"], route_class=ParsedBodyRoute)


@router.get("", **answering(PolicyResponse))
async def policy(principal: Operating, service: TheService, response: Response) -> dict[str, Any]:
    """Get the policy in force. Show what may be remembered, as a policy file says it: keys, grant, budget, limits,
    redaction, entities. The ETag is the version in force; 0: that of the settings, and none was ever put in its place.
    """
    state = await service.tenancy.tenant_state(principal.tenant)
    response.headers["ETag"] = f'"{state.policy.version if state.policy else 0}"'
    return policy_bundle_data(policy_bundle_of(state.engine))


@router.put("", **answering(PolicyVersionResponse))
async def put(
    wanted: PolicyRequest, principal: Operating, service: TheService, response: Response, if_match: IfMatch = None
) -> dict[str, Any]:
    """Put a policy in force. Activate a policy for the tenant, in place of that of the settings. Every process applies
    it within seconds. With `If-Match` only if that version is still active.
    """
    expected, by = version_of(if_match), principal.actor.user
    putting = service.tenancy.put_policy(principal.tenant, wanted.policy, by=by, expected_version=expected)
    return await _in_force(putting, response)


@router.post("/rollback", **answering(PolicyVersionResponse))
async def rollback(
    wanted: PolicyBack, principal: Operating, service: TheService, response: Response, if_match: IfMatch = None
) -> dict[str, Any]:
    """Restore an earlier policy. Put an earlier version in force again, as the next one; version 0 is the policy of the
    settings.
    """
    expected, by = version_of(if_match), principal.actor.user
    putting = service.tenancy.roll_back(principal.tenant, wanted.version, by=by, expected_version=expected)
    return await _in_force(putting, response)


@router.get("/versions", **answering(PolicyVersionsResponse))
async def versions(principal: Operating, service: TheService) -> dict[str, Any]:
    """List the versions of the policy. List the versions that were put in force, by whom and when, newest first: the
    last 50. The first is the one in force.
    """
    return {"versions": [_as_json(one) for one in await service.tenancy.policies.versions(principal.tenant)]}


@router.get("/versions/{version}", **answering(PolicyVersionResponse))
async def version_(
    version: Annotated[int, Path(ge=1, le=2**31)], principal: Operating, service: TheService
) -> dict[str, Any]:
    """Get a version of the policy. Return one version with its content; null: the policy of the settings."""
    for one in await service.tenancy.policies.versions(principal.tenant):
        if one.version == version:
            return {**_as_json(one), "policy": one.policy}
    raise MemoryNotFound("policy")


@router.post("/trial", **answering(PolicyTrialResponse))
async def trial(
    wanted: PolicyRequest,
    principal: Operating,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=2000)] = 500,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
) -> dict[str, Any]:
    """Try a policy without applying it. Return a dry run: the verdicts of another policy on the tenant's memories as if
    they were proposed now, oldest first. Nothing is changed. `next` is the cursor of the next page.
    """
    proposed, present = read_policy_bundle(wanted.policy), policy_bundle_of(service.engine)
    found = await judge_by_both(service.engine.store, principal.tenant, present, proposed, after=cursor, limit=limit)
    return {
        "looked_at": found.looked_at,
        "refused": dict(found.refused),
        "changed": [
            {"memory_id": one.memory_id, "key": one.key, "now": one.now, "then": one.then} for one in found.changed
        ],
        "next": found.after,
    }


async def _in_force(putting: Awaitable[PolicyVersion], response: Response) -> dict[str, Any]:
    """Return the activated version, with its ETag; 412 if another version is active than the caller has seen."""
    try:
        made = await putting
    except VersionConflict as conflict:
        raise Refusal(HTTPStatus.PRECONDITION_FAILED, conflict.code) from None
    response.headers["ETag"] = f'"{made.version}"'
    return _as_json(made)


def _as_json(version: PolicyVersion) -> dict[str, Any]:
    return {
        "version": version.version,
        "put_at": version.put_at.isoformat(),
        "by": version.by,
        "restored": version.restored,
        "of_settings": version.policy is None,
    }
