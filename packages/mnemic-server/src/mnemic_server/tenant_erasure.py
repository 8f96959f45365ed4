"""End of a tenant: all of its data is erased, user by user, then the scopes that its users shared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mnemic.maintenance.erase import ErasureReceipt, bar_tenant, erase, erase_left
from mnemic.maintenance.subject_data import users_of
from mnemic.ports import Clock, Keyring, RecordStore, SessionStore
from mnemic.types import Actor
from mnemic.write.outbox import OutboxConsumer


async def erase_tenant(
    store: RecordStore,
    clock: Clock,
    *,
    actor: Actor,
    sessions: SessionStore | None = None,
    keyring: Keyring | None = None,
    feeds: Sequence[OutboxConsumer] = (),
) -> list[ErasureReceipt]:
    """Erase all memories of the actor's tenant; one receipt for each user, and a last one for the shared scopes. Writes
    must have stopped: suspend the tenant and revoke its keys before.

    The audit log stays, as after each erasure, and so do the tenant's policy and an application's own documents
    (`DocumentStore`), which belong to no user here. Raises StoreFailed; another call continues.
    """
    # First: what is being read for the tenant now must not be written once all is erased.
    await bar_tenant(store, clock, actor.tenant)
    receipts = [
        await erase(store, clock, user, actor=actor, sessions=sessions, keyring=keyring, feeds=feeds)
        for user in sorted(await users_of(store, actor.tenant))
    ]
    left, scopes = await erase_left(store, clock, actor=actor, sessions=sessions, feeds=feeds)
    if keyring is not None:
        for scope in scopes:
            await asyncio.to_thread(keyring.destroy, scope)
    return [*receipts, left]
