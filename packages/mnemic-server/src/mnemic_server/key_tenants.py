"""Tenants of API keys from before creating a key registered its tenant."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from mnemic.maintenance.tenant_registry import SERVICE_TENANT, note_tenant
from mnemic.ports import Clock
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic_server.credentials import ApiKeys, read

_NOTED = "api_keys_noted"


async def note_tenants(keys: ApiKeys, clock: Clock) -> None:
    """Register the tenants of all keys; once in the life of a store."""
    store, now = keys.store, clock.now()
    if await store.marks(SERVICE_TENANT, _NOTED, limit=1):
        return

    async def work(unit: Unit, tenants: Collection[str]) -> None:
        for tenant in tenants:
            for mutation in await note_tenant(unit.reads, tenant, now):
                await unit.apply(mutation)

    async def on_end(unit: Unit) -> None:
        await unit.apply(Mutation(tenant=SERVICE_TENANT, marks={_NOTED: now.isoformat()}))

    async for page in keys.pages():
        tenants = sorted({read(value).principal.tenant for value in page.values()})
        await commit(store, partial(work, tenants=tenants))
    await commit(store, on_end)
