"""The versions of a tenant's policy."""

from __future__ import annotations

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, VersionConflict
from mnemic.maintenance.tenant_registry import MAX_BYTES, VERSIONS_KEPT, Policies
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder

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
