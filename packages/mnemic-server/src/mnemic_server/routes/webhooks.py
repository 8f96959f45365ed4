"""For operators: webhooks of the own tenant. Another tenant's is not there."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import Field, StringConstraints

from mnemic_server.access import Operating, TheService, require_role
from mnemic_server.console_response_bodies import NewWebhookResponse, WebhookResponse, WebhooksResponse
from mnemic_server.credentials import Principal, Role
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import Strict
from mnemic_server.response_bodies import answering
from mnemic_server.webhooks import WebhookState, webhook_data

router = APIRouter(prefix="/v1/webhooks", tags=["webhooks"], route_class=ParsedBodyRoute)

WebhookId = Annotated[str, Path(min_length=1, max_length=64)]
Action = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{0,63}$")]


class WebhookRequest(Strict):
    """New webhook: an address, and the actions that it receives; without `actions` all."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    actions: list[Action] = Field(default_factory=list, max_length=50)
    with_content: bool = False
    label: Annotated[str, StringConstraints(max_length=200)] = ""


@router.get("", **answering(WebhooksResponse))
async def webhooks(principal: Operating, service: TheService) -> dict[str, Any]:
    """List webhooks. Return the webhooks of the tenant, oldest first, without their secrets."""
    states = await service.webhooks.states()
    return {
        "webhooks": [
            webhook_data(one, states.get(one.webhook_id)) for one in await service.webhooks.all(principal.tenant)
        ]
    }


@router.post("", status_code=HTTPStatus.CREATED, **answering(NewWebhookResponse, 201))
async def create(wanted: WebhookRequest, principal: Operating, service: TheService) -> dict[str, Any]:
    """Create a webhook. It receives every change from now on. Its secret is shown only now. A webhook that receives the
    memories themselves also requires the role `admin`, since it reads every user's memories.
    """
    _require_right(principal, with_content=wanted.with_content)
    webhook = await service.webhooks.create(
        principal.tenant,
        wanted.url,
        by=principal.actor.user,
        actions=tuple(wanted.actions),
        with_content=wanted.with_content,
        label=wanted.label,
    )
    return {**webhook_data(webhook, None), "secret": webhook.secret}


@router.post("/{webhook_id}/rotation", **answering(NewWebhookResponse))
async def rotate(
    webhook_id: WebhookId,
    principal: Operating,
    service: TheService,
    grace_seconds: Annotated[int, Query(ge=0, le=604_800)] = 86_400,
) -> dict[str, Any]:
    """Rotate the secret of a webhook. Return a new secret; for `grace_seconds` messages are signed with the old one as
    well. As for creating it, a webhook with content requires the role `admin`: whoever has the secret can sign memories
    of any user.
    """
    await _require_right_to(webhook_id, principal, service)
    grace = timedelta(seconds=grace_seconds)
    webhook = await service.webhooks.rotate(principal.tenant, webhook_id, grace=grace, by=principal.actor.user)
    return {**webhook_data(webhook, await _state(service, webhook_id)), "secret": webhook.secret}


@router.post("/{webhook_id}/activation", **answering(WebhookResponse))
async def enable(webhook_id: WebhookId, principal: Operating, service: TheService) -> dict[str, Any]:
    """Enable a disabled webhook. Deliver again to a webhook that was disabled after repeated failures, from where it
    was left.
    """
    await _require_right_to(webhook_id, principal, service)
    webhook = await service.webhooks.enable(principal.tenant, webhook_id, by=principal.actor.user)
    return webhook_data(webhook, await _state(service, webhook_id))


@router.delete("/{webhook_id}", status_code=HTTPStatus.NO_CONTENT)
async def delete(webhook_id: WebhookId, principal: Operating, service: TheService) -> None:
    """Delete a webhook. Nothing is delivered to it any more."""
    await _require_right_to(webhook_id, principal, service)
    await service.webhooks.delete(principal.tenant, webhook_id, by=principal.actor.user)


async def _require_right_to(webhook_id: str, principal: Principal, service: TheService) -> None:
    webhook = await service.webhooks.find(principal.tenant, webhook_id)
    _require_right(principal, with_content=webhook.with_content)


def _require_right(principal: Principal, *, with_content: bool) -> None:
    """Refuse with 403 who may not manage such a webhook: the one rule for creating, rotating, enabling and deleting."""
    if with_content:
        require_role(principal, Role.ADMIN)


async def _state(service: TheService, webhook_id: str) -> WebhookState | None:
    return (await service.webhooks.states()).get(webhook_id)
