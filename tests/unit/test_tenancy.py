"""One engine for many tenants, each by what is set for it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreUnavailable
from mnemic.maintenance.tenant_engine import LASTS, Tenancy
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.policy.limits import Limits, Quota
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Outcome


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    limits = Limits(quotas=(Quota(rows=2),))
    async with MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock(), limits=limits
    ) as opened:
        yield opened


async def kept(engine: MemoryEngine, tenant: str) -> int:
    """How many of four memories a user of the tenant may keep."""
    said = ("I like tea.", "I row boats.", "My cat is grey.", "Winters are cold here.")
    receipts = [await engine.add(one, actor=Actor(tenant=tenant, user="ana")) for one in said]
    return sum(receipt.outcome is Outcome.CREATED for receipt in receipts)


async def test_each_tenant_has_limits_of_its_own(engine: MemoryEngine) -> None:
    tenancy = Tenancy(engine)
    await tenancy.tenants.create("acme", by="root", quotas=[Quota(rows=3)])
    await tenancy.tenants.create("free", by="root", quotas=[])
    assert [await kept((await tenancy.tenant_state(name)).engine, name) for name in ("acme", "free", "umbra")] == [
        3,
        4,
        2,
    ]


async def test_another_process_takes_a_change_up_within_seconds(engine: MemoryEngine) -> None:
    here, there = Tenancy(engine), Tenancy(engine)
    assert not (await there.tenant_state("acme")).suspended
    await here.tenants.suspend("acme", by="root")
    here.forget_state("acme")
    assert (await here.tenant_state("acme")).suspended
    assert not (await there.tenant_state("acme")).suspended
    engine.clock.advance(LASTS)  # type: ignore[attr-defined]
    assert (await there.tenant_state("acme")).suspended


async def test_a_tenant_that_is_named_for_the_first_time_is_known_from_then_on(engine: MemoryEngine) -> None:
    tenancy = Tenancy(engine)
    await tenancy.tenant_state("umbra")
    assert [one.tenant for one in await tenancy.tenants.all()] == ["umbra"]
    assert await engine.store.audit("umbra") == []


async def test_while_the_store_does_not_answer_a_tenant_stands_as_before(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenancy = Tenancy(engine)
    await tenancy.tenants.create("acme", by="root")
    await tenancy.tenants.suspend("acme", by="root")
    before = await tenancy.tenant_state("acme")

    async def down(tenant: str, prefix: str, **_: object) -> dict[str, str]:
        assert tenant == SERVICE_TENANT
        raise StoreUnavailable

    monkeypatch.setattr(engine.store, "marks", down)
    engine.clock.advance(timedelta(hours=1))  # type: ignore[attr-defined]
    assert await tenancy.tenant_state("acme") is before
    with pytest.raises(StoreUnavailable):
        await tenancy.tenant_state("umbra")


async def test_a_whole_turn_goes_by_the_tenants_limits_too(engine: MemoryEngine) -> None:
    tenancy = Tenancy(engine)
    await tenancy.tenants.create("acme", by="root", quotas=[Quota(per="tenant", rows=1)])
    ana = Actor(tenant="acme", user="ana")
    governed = (await tenancy.tenant_state("acme")).engine
    await governed.add("I like tea.", actor=ana)
    report = await governed.capture("I prefer aisle seats.", actor=ana)
    assert [one.reason for one in report.blocked] == ["quota_exceeded:tenant.rows"]
