"""End of a tenant of the service: its credentials, its webhooks, and all of its data."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.engine import MemoryEngine
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.tenant_registry import Tenants
from mnemic.types import Actor
from mnemic_server.credentials import ApiKeys
from mnemic_server.tenant_erasure import erase_tenant
from mnemic_server.webhooks import Webhooks


@dataclass(frozen=True, slots=True)
class TenantErasure:
    """Numbers of revoked keys and deleted webhooks, and the receipts of all erasures."""

    tenant: str
    keys: int
    webhooks: int
    receipts: list[ErasureReceipt]

    @property
    def complete(self) -> bool:
        """True if no trace of the erased data was found."""
        return all(receipt.complete for receipt in self.receipts)


async def end(engine: MemoryEngine, tenant: str, *, by: str) -> TenantErasure:
    """Suspend the tenant, so that there are no writes meanwhile; revoke its keys, delete its webhooks, and erase its
    data. Its name stays known and suspended. Raises MemoryNotFound (`tenant`), StoreFailed; another call continues.
    """
    store, clock = engine.store, engine.clock
    await Tenants(store, clock).suspend(tenant, by=by)
    api_keys, webhooks = ApiKeys(store, clock), Webhooks(store, clock)
    keys, hooks = await api_keys.all(tenant=tenant), await webhooks.all(tenant)
    for key in keys:
        await api_keys.revoke(key.key_id, tenant=tenant, by=by)
    for hook in hooks:
        await webhooks.delete(tenant, hook.webhook_id, by=by)
    receipts = await erase_tenant(
        store,
        clock,
        actor=Actor(tenant=tenant, user=by),
        sessions=engine.sessions,
        keyring=None if engine.vault is None else engine.vault.keyring,
        feeds=engine.feeds,
    )
    return TenantErasure(tenant, len(keys), len(hooks), receipts)
