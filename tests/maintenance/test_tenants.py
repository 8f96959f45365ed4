"""Settings of a tenant, and their lines in the audit."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.maintenance.tenant_registry import SERVICE_TENANT, Tenants
from mnemic.policy.limits import Quota
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Kind


@pytest.fixture
async def tenants() -> Tenants:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    await engine.open()
    return Tenants(engine.store, engine.clock)


async def test_what_is_set_is_read_back_and_audited(tenants: Tenants) -> None:
    quotas = [Quota(per="tenant", rows=10, soft=0.5), Quota(per="user", kind=Kind.EPISODIC, bytes=2000)]
    await tenants.create("acme", by="root", label="Acme Ltd.")
    await tenants.limit("acme", quotas, by="root")
    found = await tenants.find("acme")
    assert found is not None
    assert (found.label, found.quotas, found.suspended_at) == ("Acme Ltd.", tuple(quotas), None)
    await tenants.suspend("acme", by="root")
    await tenants.resume("acme", by="olga")
    lines = await tenants._store.audit("acme")
    assert [(line.action, line.actor) for line in lines] == [
        ("tenant_created", "root"),
        ("tenant_limited", "root"),
        ("tenant_suspended", "root"),
        ("tenant_resumed", "olga"),
    ]
    assert lines[1].detail["quotas"][0]["rows"] == 10  # type: ignore[index, call-overload]


async def test_what_is_so_already_is_left_as_it_is(tenants: Tenants) -> None:
    await tenants.create("acme", by="root")
    first = await tenants.suspend("acme", by="root")
    tenants._clock.advance(timedelta(days=1))  # type: ignore[attr-defined]
    assert await tenants.suspend("acme", by="root") == first
    await tenants.note("acme")
    assert await tenants.find("acme") == first
    assert len(await tenants._store.audit("acme")) == 2


async def test_what_is_no_tenant_is_refused(tenants: Tenants) -> None:
    await tenants.create("acme", by="root")
    for name, reason in (("acme", "tenant:known"), (SERVICE_TENANT, "tenant"), ("a b", "tenant"), ("", "tenant")):
        with pytest.raises(InvalidInput) as refused:
            await tenants.create(name, by="root")
        assert refused.value.reason == f"invalid_input:{reason}"
    with pytest.raises(MemoryNotFound):
        await tenants.limit("umbra", None, by="root")
    with pytest.raises(InvalidInput):
        await tenants.limit("acme", [Quota(rows=1)] * 51, by="root")
    assert [one.tenant for one in await tenants.all()] == ["acme"]
