"""The settings of a tenant and the versions of its policy."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.maintenance.tenant_registry import MAX_BYTES, SERVICE_TENANT, VERSIONS_KEPT, Policies, Tenants
from mnemic.policy.limits import Quota
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Kind

SEAT, DIET = {"keys": {"seat": {}}}, {"keys": {"diet": {}}}


@pytest.fixture
async def engine() -> MemoryEngine:
    return await MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()).open()


async def test_versions_follow_each_other_and_say_who_and_when(engine: MemoryEngine) -> None:
    policies = Policies(engine.store, engine.clock)
    assert await policies.current("acme") is None
    first = await policies.put("acme", SEAT, by="olga", expected_version=0)
    assert (first.version, first.by, first.put_at) == (1, "olga", engine.clock.now())
    assert await policies.put("acme", SEAT, by="ben") == first
    await policies.put("acme", DIET, by="ben", expected_version=1)
    back = await policies.roll_back("acme", 1, by="olga", expected_version=2)
    assert (back.version, back.policy, back.restored) == (3, SEAT, 1)
    settings = await policies.roll_back("acme", 0, by="olga")
    assert (settings.version, settings.policy) == (4, None)
    assert [one.version for one in await policies.versions("acme")] == [4, 3, 2, 1]
    assert await policies.current("acme") == settings
    assert await policies.current("umbra") is None
    lines = await engine.store.audit("acme")
    assert [(line.action, line.actor, line.detail["version"]) for line in lines] == [
        ("policy_put_in_force", "olga", 1),
        ("policy_put_in_force", "ben", 2),
        ("policy_put_in_force", "olga", 3),
        ("policy_put_in_force", "olga", 4),
    ]


async def test_of_two_who_change_the_same_version_one_is_told(engine: MemoryEngine) -> None:
    policies = Policies(engine.store, engine.clock)
    await policies.put("acme", SEAT, by="olga", expected_version=0)
    with pytest.raises(VersionConflict):
        await policies.put("acme", DIET, by="ben", expected_version=0)
    with pytest.raises(VersionConflict):
        await policies.roll_back("acme", 0, by="ben", expected_version=7)
    current = await policies.current("acme")
    assert current is not None
    assert current.policy == SEAT


async def test_the_last_versions_are_kept_and_no_policy_is_larger_than_it_may_be(engine: MemoryEngine) -> None:
    policies = Policies(engine.store, engine.clock)
    for number in range(VERSIONS_KEPT + 2):
        await policies.put("acme", {"keys": {f"key_{number}": {}}}, by="olga")
    versions = [one.version for one in await policies.versions("acme")]
    assert (len(versions), versions[0], versions[-1]) == (VERSIONS_KEPT, VERSIONS_KEPT + 2, 3)
    for call in (policies.roll_back("acme", 1, by="olga"), policies.put("acme", {"x": "y" * MAX_BYTES}, by="olga")):
        with pytest.raises(InvalidInput):
            await call


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
