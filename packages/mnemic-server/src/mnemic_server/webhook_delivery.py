"""Delivery of webhooks: signed by Standard Webhooks, in order, at least once, under stable ids.

Messages are read from the audit, after the last delivered line. If a process is killed between a delivery and its
record, the same message is sent again, under the same id.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

import httpx

from mnemic.errors import MnemicError
from mnemic.json_output import memory_dict
from mnemic.maintenance.tenant_engine import Tenancy
from mnemic.ports import Clock
from mnemic.types import Actor, AuditEvent, Level
from mnemic_server.webhook_addresses import NotCallable, Resolver, require_callable
from mnemic_server.webhooks import Webhook, Webhooks, WebhookState, due

SECONDS = 10.0
"""Longest time for one delivery."""
FIRST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(hours=1)
"""Time to the second try, doubled with each failure, and the longest."""
MAX_FAILURES = 15
"""Failures in a row, over some six hours, after which a webhook is disabled."""
LEASE = timedelta(seconds=30)
"""Time for which one process has the exclusive right to a webhook without renewal."""
AT_ONCE, AT_ONCE_OF_A_TENANT = 8, 2
"""Webhooks that are delivered to at a time."""
PAGE = 50
"""Lines of the audit that are read at a time, after which the progress is stored."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Deliveries:
    """Deliveries of one process. Any number of processes may work on one store: each webhook belongs to one of them."""

    tenancy: Tenancy
    clock: Clock
    webhooks: Webhooks
    poll_seconds: float = 1.0
    holder: str = field(default_factory=lambda: secrets.token_hex(8))
    resolver: Resolver = field(default_factory=Resolver)
    _tls: ssl.SSLContext | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Deliver while the context is open."""
        task = asyncio.create_task(self._run(), name="mnemic-webhooks")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self.poll_seconds)
            try:
                await self.round()
            except MnemicError as failure:
                _log.warning("webhooks could not be delivered: %s", failure.reason)

    async def round(self) -> int:
        """Deliver due events; return the number of delivered messages. Raises StoreFailed."""
        webhooks = await self.webhooks.all()
        if not webhooks:
            return 0
        states, now = await self.webhooks.states(), self.clock.now()
        # One slow receiver must not delay the others, and many must not exhaust sockets.
        turn = asyncio.Semaphore(AT_ONCE)
        shares = defaultdict[str, asyncio.Semaphore](lambda: asyncio.Semaphore(AT_ONCE_OF_A_TENANT))

        async def in_turn(webhook: Webhook) -> int:
            async with shares[webhook.tenant], turn:
                return await self._deliver_pending(webhook)

        waiting = [one for one in webhooks if (known := states.get(one.webhook_id)) and due(known, now, self.holder)]
        return sum(await asyncio.gather(*map(in_turn, waiting)))

    async def _deliver_pending(self, webhook: Webhook) -> int:
        """Deliver the pending messages of one webhook, if there are any."""
        store = self.webhooks.store
        # Read again: its turn may come long after the round began, and another process may have delivered since.
        known = (await self.webhooks.states()).get(webhook.webhook_id)
        if known is None or not await store.audit(webhook.tenant, after=known.after, limit=1):
            return 0
        if (await self.tenancy.tenant_state(webhook.tenant)).suspended:
            return 0
        # A lease rather than a lock: if this process dies, another one takes over when it expires.
        state = await self.webhooks.claim(webhook, self.holder, self.clock.now() + LEASE)
        arrived = 0
        while state is not None and (lines := await store.audit(webhook.tenant, after=state.after, limit=PAGE)):
            state, count = await self._page(webhook, state, lines)
            arrived += count
            ended = len(lines) < PAGE or state.failures > 0
            leased = replace(state, holder=None, held_until=None) if ended else state
            # False means that the lease was lost: another process delivers from here on.
            if not await self.webhooks.keep(webhook, leased, holder=self.holder) or ended:
                break
        return arrived

    async def _page(self, webhook: Webhook, state: WebhookState, lines: list[AuditEvent]) -> tuple[WebhookState, int]:
        """Deliver these lines in order, up to the first failure."""
        arrived, kept_at = 0, self.clock.now()
        for event in lines:
            if _concerns(webhook, event):
                outcome = await self._deliver_event(webhook, event)
                now = self.clock.now()
                if outcome is not None:
                    return _state_after_failure(state, outcome, now), arrived
                arrived += 1
                state = replace(state, failures=0, next_at=None, delivered_at=now, outcome="delivered")
            # Lines that do not concern the webhook advance it as well, else they would be read again each round.
            state = replace(state, after=event.sequence)
            # Renew well before the lease expires.
            if self.clock.now() - kept_at >= LEASE / 6:
                kept_at = self.clock.now()
                state = replace(state, held_until=kept_at + LEASE)
                if not await self.webhooks.keep(webhook, state, holder=self.holder):
                    return replace(state, failures=max(1, state.failures)), arrived
        return replace(state, held_until=self.clock.now() + LEASE), arrived

    async def _deliver_event(self, webhook: Webhook, event: AuditEvent) -> str | None:
        """Deliver one message; return None if it was accepted, else the reason of the failure."""
        body = json.dumps(await self._message(webhook, event), ensure_ascii=False).encode()
        headers = signature_headers(webhook, f"{webhook.webhook_id}.{event.sequence}", self.clock.now(), body)
        try:
            async with asyncio.timeout(SECONDS):
                status = await self._post(webhook, headers, body)
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError) as failure:
            return "timeout" if isinstance(failure, TimeoutError | httpx.TimeoutException) else "unreachable"
        except (NotCallable, MnemicError) as refused:
            return str(refused)
        return None if 200 <= status < 300 else f"status_{status}"

    async def _message(self, webhook: Webhook, event: AuditEvent) -> dict[str, Any]:
        assert event.scope is not None
        data: dict[str, Any] = {
            "sequence": event.sequence,
            "tenant": event.tenant,
            "level": event.scope.level.value,
            "owner": event.scope.owner,
            "memory_id": event.memory_id,
            "version": event.version,
        }
        if webhook.with_content:
            data["memory"] = await self._memory(event)
        return {"type": f"memory.{event.action}", "timestamp": event.at.isoformat(), "data": data}

    async def _memory(self, event: AuditEvent) -> dict[str, Any] | None:
        """Return the memory as its user reads it now: with their consent, and only while it exists."""
        if event.scope is None or event.scope.level is not Level.USER or event.memory_id is None:
            return None
        engine = (await self.tenancy.tenant_state(event.tenant)).engine
        with suppress(MnemicError):
            memory = await engine.get(event.memory_id, actor=Actor(tenant=event.tenant, user=event.scope.owner))
            return None if memory is None else memory_dict(memory)
        return None

    async def _post(self, webhook: Webhook, headers: dict[str, str], body: bytes) -> int:
        """Return the status of the receiver's response; its body is not read, and redirects are not followed. The
        connection goes to the checked address, under the name that TLS verifies.
        """
        parts = require_callable(webhook.url, private=self.webhooks.private)
        # Resolved and checked right before the call: a DNS answer that changes between check and use (DNS rebinding)
        # has no effect.
        address = await self.resolver.address_of(parts, tenant=webhook.tenant, private=self.webhooks.private)
        if self._tls is None:
            self._tls = await asyncio.to_thread(ssl.create_default_context)
        target = httpx.URL(webhook.url).copy_with(host=address)
        # A reused connection could lead to an address that was checked for another webhook.
        no_reuse = httpx.Limits(max_keepalive_connections=0)
        async with (
            # `trust_env`: a proxy from the environment would resolve the name again, after the check.
            httpx.AsyncClient(verify=self._tls, trust_env=False, timeout=SECONDS, limits=no_reuse) as client,
            client.stream(
                "POST",
                target,
                content=body,
                headers={**headers, "Host": parts.netloc},
                extensions={"sni_hostname": parts.hostname},
            ) as answer,
        ):
            return answer.status_code


def signature_headers(webhook: Webhook, message_id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a message: its id, its time, and a signature by each valid secret."""
    from standardwebhooks.webhooks import Webhook as Signer

    counting = [webhook.secret]
    if webhook.earlier_secret is not None and webhook.retires_at is not None and at < webhook.retires_at:
        counting.append(webhook.earlier_secret)
    return {
        "Content-Type": "application/json",
        "User-Agent": "mnemic",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        # During a rotation both signatures: the receiver may know only one of the secrets.
        "webhook-signature": " ".join(Signer(one).sign(message_id, at, body.decode()) for one in counting),
    }


def _concerns(webhook: Webhook, event: AuditEvent) -> bool:
    about = event.memory_id is not None and event.scope is not None
    return about and (not webhook.actions or event.action in webhook.actions)


def _state_after_failure(state: WebhookState, outcome: str, now: datetime) -> WebhookState:
    """Return the state after one more failure: try later, or stop. A receiver that answers 410 (gone) is not tried
    again.
    """
    failures = state.failures + 1
    # 20 bounds the power: a large one overflows a timedelta, and the hour is reached after ten doublings.
    rest = min(LONGEST_REST, FIRST_REST * 2 ** min(failures - 1, 20))
    ends = failures >= MAX_FAILURES or outcome == f"status_{HTTPStatus.GONE.value}"
    return replace(state, failures=failures, next_at=now + rest, outcome=outcome, disabled_at=now if ends else None)
