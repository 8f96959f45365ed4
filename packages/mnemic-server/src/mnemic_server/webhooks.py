"""Webhooks of a tenant: addresses that receive the changes of memories, and the progress of each.

Both are marks of the service's own tenant, which no credential can name. Messages are not stored again: they are read
from the tenant's audit, after the last delivered line.
"""

from __future__ import annotations

import json
import secrets
from base64 import b64encode
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.ports import Clock, Reads, RecordStore
from mnemic.types.writes import AUDIT_END
from mnemic.unit_of_work import Mutation, Unit, commit, commit_decided
from mnemic_server.credentials import COMMAND_LINE
from mnemic_server.webhook_addresses import require_callable

MOST = 20
"""Webhooks of one tenant."""
_WEBHOOK, _STATE = "webhook:", "webhook_state:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Webhook address. `actions` are those of the audit, empty for all; with `with_content` the memory itself is sent,
    too. Until `retires_at` messages are also signed with the previous secret.
    """

    webhook_id: str
    tenant: str
    url: str
    secret: str = field(repr=False)
    created_at: datetime
    created_by: str
    actions: tuple[str, ...] = ()
    with_content: bool = False
    label: str = ""
    earlier_secret: str | None = field(default=None, repr=False)
    retires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookState:
    """Progress of a webhook: `after` is the last line of the audit that was delivered or skipped, `failures` the number
    of consecutive failures of the next one, `next_at` the time of the next attempt. `holder` has the exclusive right to
    deliver until `held_until`.
    """

    after: int
    failures: int = 0
    next_at: datetime | None = None
    disabled_at: datetime | None = None
    delivered_at: datetime | None = None
    outcome: str | None = None
    holder: str | None = None
    held_until: datetime | None = None


class Webhooks:
    """The webhooks of a store. With `private` they may point into the own network, and lack TLS."""

    def __init__(self, store: RecordStore, clock: Clock, *, private: bool = False) -> None:
        self.store = store
        self.private = private
        self._clock = clock

    async def create(
        self,
        tenant: str,
        url: str,
        *,
        by: str = COMMAND_LINE,
        actions: tuple[str, ...] = (),
        with_content: bool = False,
        label: str = "",
    ) -> Webhook:
        """Return a new webhook, which receives changes from now on. Raises InvalidInput (`url`, `webhooks`)."""
        require_callable(url, private=self.private)
        if len(await self.all(tenant)) >= MOST:
            raise InvalidInput("webhooks", hint=f"a tenant has at most {MOST}")
        # From now on: a new receiver must not be sent the tenant's history.
        newest = await self.store.audit(tenant, before=AUDIT_END, limit=1)
        webhook = Webhook(
            webhook_id=secrets.token_hex(12),
            tenant=tenant,
            url=url,
            secret=_secret(),
            created_at=self._clock.now(),
            created_by=by,
            actions=tuple(sorted(set(actions))),
            with_content=with_content,
            label=label,
        )
        state = WebhookState(after=newest[-1].sequence if newest else 0)
        await self._put(webhook, state, "webhook_created", by, {"with_content": with_content})
        return webhook

    async def all(self, tenant: str | None = None) -> list[Webhook]:
        """Return every webhook, oldest first; of one tenant if it is named."""
        marks = await self.store.marks(SERVICE_TENANT, _WEBHOOK)
        known = (_read_webhook(value) for value in marks.values())
        own = (one for one in known if tenant is None or one.tenant == tenant)
        return sorted(own, key=lambda one: (one.created_at, one.webhook_id))

    async def states(self) -> dict[str, WebhookState]:
        """Return the progress of each webhook, by its id."""
        marks = await self.store.marks(SERVICE_TENANT, _STATE)
        return {name.removeprefix(_STATE): read_state(value) for name, value in marks.items()}

    async def find(self, tenant: str, webhook_id: str) -> Webhook:
        """Return a webhook of the tenant. Raises MemoryNotFound (`webhook`)."""
        name = _WEBHOOK + webhook_id
        value = (await self.store.marks(SERVICE_TENANT, name, limit=1)).get(name)
        webhook = None if value is None else _read_webhook(value)
        # Another tenant's webhook is reported like one that does not exist.
        if webhook is None or webhook.tenant != tenant:
            raise MemoryNotFound("webhook")
        return webhook

    async def delete(self, tenant: str, webhook_id: str, *, by: str = COMMAND_LINE) -> None:
        """Delete a webhook: nothing is delivered to it any more. Raises MemoryNotFound (`webhook`)."""
        await self._put(await self.find(tenant, webhook_id), None, "webhook_deleted", by, gone=True)

    async def rotate(
        self, tenant: str, webhook_id: str, *, grace: timedelta = timedelta(hours=24), by: str = COMMAND_LINE
    ) -> Webhook:
        """Return the webhook with a new secret; for `grace` messages are signed with the old one as well. Raises
        MemoryNotFound (`webhook`).
        """
        old = await self.find(tenant, webhook_id)
        new = replace(old, secret=_secret(), earlier_secret=old.secret, retires_at=self._clock.now() + grace)
        await self._put(new, None, "webhook_rotated", by)
        return new

    async def enable(self, tenant: str, webhook_id: str, *, by: str = COMMAND_LINE) -> Webhook:
        """Enable a disabled webhook again, from its last position. Raises MemoryNotFound (`webhook`)."""
        webhook = await self.find(tenant, webhook_id)
        now = self._clock.now()

        async def decide(reads: Reads) -> tuple[None, list[Mutation]]:
            value = await reads.find_mark(SERVICE_TENANT, _STATE + webhook_id)
            if value is None:
                return None, []
            state = replace(read_state(value), failures=0, next_at=None, disabled_at=None)
            return None, [self._line(webhook, "webhook_enabled", by, now, {}, _state_mark(webhook_id, state))]

        await commit_decided(self.store, decide)
        return webhook

    async def claim(self, webhook: Webhook, holder: str, until: datetime) -> WebhookState | None:
        """Return the progress of the webhook and lease it to `holder` for delivery; None if it is disabled, not due,
        deleted, or leased by another process.
        """
        now = self._clock.now()

        async def work(unit: Unit) -> WebhookState | None:
            value = await unit.reads.find_mark(SERVICE_TENANT, _STATE + webhook.webhook_id)
            state = None if value is None else read_state(value)
            if state is None or not due(state, now, holder):
                return None
            leased = replace(state, holder=holder, held_until=until)
            await unit.apply(Mutation(tenant=SERVICE_TENANT, marks=_state_mark(webhook.webhook_id, leased)))
            return leased

        return await commit(self.store, work)

    async def keep(self, webhook: Webhook, state: WebhookState, *, holder: str) -> bool:
        """Record the progress of a webhook by `holder`; return False, and record nothing, if it no longer has the
        lease.
        """
        now = self._clock.now()

        async def decide(reads: Reads) -> tuple[bool, list[Mutation]]:
            value = await reads.find_mark(SERVICE_TENANT, _STATE + webhook.webhook_id)
            known = None if value is None else read_state(value)
            # The lease was lost: another process delivers, and its progress must not be overwritten.
            if known is None or known.holder != holder:
                return False, []
            marks = _state_mark(webhook.webhook_id, state)
            if state.disabled_at is not None and known.disabled_at is None:
                return True, [self._line(webhook, "webhook_disabled", "mnemic", now, {"outcome": state.outcome}, marks)]
            return True, [Mutation(tenant=SERVICE_TENANT, marks=marks)]

        return await commit_decided(self.store, decide)

    async def _put(
        self,
        webhook: Webhook,
        state: WebhookState | None,
        action: str,
        by: str,
        detail: dict[str, Any] | None = None,
        *,
        gone: bool = False,
    ) -> None:
        value = None if gone else _encode_webhook(webhook)
        marks: dict[str, str | None] = {_WEBHOOK + webhook.webhook_id: value}
        if gone:
            marks[_STATE + webhook.webhook_id] = None
        elif state is not None:
            marks |= _state_mark(webhook.webhook_id, state)

        async def decide(_: Reads) -> tuple[None, list[Mutation]]:
            return None, [self._line(webhook, action, by, self._clock.now(), detail or {}, marks)]

        await commit_decided(self.store, decide)

    def _line(
        self, webhook: Webhook, action: str, by: str, at: datetime, detail: dict[str, Any], marks: dict[str, str | None]
    ) -> Mutation:
        """Return the line in the audit of the webhook's tenant, with its record. Of the address it
        contains the host.
        """
        fields = {"webhook_id": webhook.webhook_id, **detail}
        return Mutation(
            tenant=webhook.tenant, action=action, actor=by, at=at, detail=fields, marks=marks, marks_of=SERVICE_TENANT
        )


def due(state: WebhookState, now: datetime, holder: str) -> bool:
    """Return True if `holder` may deliver now."""
    taken = state.holder not in (None, holder) and state.held_until is not None and state.held_until > now
    return state.disabled_at is None and not taken and (state.next_at is None or state.next_at <= now)


def read_state(value: str) -> WebhookState:
    """Return the stored progress of a webhook."""
    kept: dict[str, Any] = json.loads(value)
    times = {name: _moment(kept[name]) for name in ("next_at", "disabled_at", "delivered_at", "held_until")}
    return WebhookState(**kept | times)


def webhook_data(webhook: Webhook, state: WebhookState | None) -> dict[str, Any]:
    """Return a webhook as JSON data, without its secret."""
    return {
        "webhook_id": webhook.webhook_id,
        "url": webhook.url,
        "actions": list(webhook.actions),
        "with_content": webhook.with_content,
        "label": webhook.label,
        "created_at": webhook.created_at.isoformat(),
        "created_by": webhook.created_by,
        "failures": state.failures if state else 0,
        "next_at": _iso(state.next_at if state else None),
        "disabled_at": _iso(state.disabled_at if state else None),
        "delivered_at": _iso(state.delivered_at if state else None),
        "outcome": state.outcome if state else None,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _state_mark(webhook_id: str, state: WebhookState) -> dict[str, str | None]:
    return {_STATE + webhook_id: json.dumps(asdict(state), default=datetime.isoformat)}


def _encode_webhook(webhook: Webhook) -> str:
    return json.dumps(asdict(webhook), default=datetime.isoformat)


def _read_webhook(value: str) -> Webhook:
    kept: dict[str, Any] = json.loads(value)
    times = {"created_at": datetime.fromisoformat(kept["created_at"]), "retires_at": _moment(kept["retires_at"])}
    return Webhook(**kept | times | {"actions": tuple(kept["actions"])})


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _secret() -> str:
    """Return a new secret, as the Standard Webhooks write one."""
    return "whsec_" + b64encode(secrets.token_bytes(32)).decode()
