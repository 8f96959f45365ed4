"""`mnemic work`: the tenants that it maintains."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mnemic.bootstrap import build_engine
from mnemic.cli import cli
from mnemic.config import Settings
from mnemic.maintenance.tenant_engine import Tenancy
from mnemic.maintenance.tenant_registry import Tenants, slot_of
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic_server.credentials import ApiKeys
from mnemic_server.maintenance_claims import claim, settle, slots_due, tenants_due
from tests.azure_search import KEY, AzureSearchServer
from tests.processes import running
from tests.servers import in_thread


def test_one_upkeep_looks_after_every_tenant_that_has_a_key(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")

    async def tenants() -> None:
        async with build_engine(Settings(store=store)) as engine:
            for tenant in ("acme", "acme", "zeta"):
                await ApiKeys(engine.store, engine.clock).create(tenant=tenant, roles=["reader"], user="ana")

    in_thread(tenants)
    result = CliRunner().invoke(cli, ["--store", store, "work", "--once"], prog_name="mnemic")
    assert result.exit_code == 0
    told = result.stderr.splitlines()
    names = sorted(line.partition(":")[0] for line in told)
    assert names == [f"upkeep of {name}" for name in ("acme", "default", "zeta")]


def test_workers_share_the_tenants_by_parts(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    named = [f"t{number}" for number in range(12)]

    async def made() -> None:
        async with build_engine(Settings(store=store)) as engine:
            for tenant in named:
                await Tenants(engine.store, engine.clock).create(tenant, by="ana")

    in_thread(made)
    looked: list[str] = []
    for part in ("1/3", "2/3", "3/3"):
        run = CliRunner().invoke(cli, ["--store", store, "work", "--once", "--part", part], prog_name="mnemic")
        mine = [line.partition(":")[0].removeprefix("upkeep of ") for line in run.stderr.splitlines()]
        assert 0 < len(mine) < 13
        looked += mine
    assert sorted(looked) == sorted([*named, "default"])
    for wrong in ("0/3", "4/3", "a/3", "3", "1/0", "1/1025"):
        run = CliRunner().invoke(cli, ["--store", store, "work", "--once", "--part", wrong], prog_name="mnemic")
        assert run.exit_code == 2, wrong


async def opened(*tenants: str) -> tuple[CountingStore, ManualClock]:
    """Return a store with these tenants."""
    clock, store = ManualClock(), CountingStore()
    await store.open(WordEmbedder().space)
    for tenant in tenants:
        await Tenants(store, clock).create(tenant, by="ana")
    return store, clock


class CountingStore(InProcessStore):
    """Counts the lists of marks that are read."""

    reads = 0

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> Mapping[str, str]:
        self.reads += 1
        return await super().marks(tenant, prefix, after=after, limit=limit)


async def round_of(store: CountingStore, clock: ManualClock, rest: timedelta, *, most: int = 10_000) -> list[str]:
    """Claim due tenants, as a worker does, at most so many; return them in their order."""
    claimed: list[str] = []
    for slot in await slots_due(store, clock.now(), rest, (0, 1)):
        began = clock.now()
        async for tenant in tenants_due(store, slot, began, rest):
            if len(claimed) == most:
                return claimed
            if await claim(store, clock, tenant, rest, at=began):
                claimed.append(tenant)
        await settle(store, slot)
    return claimed


HOUR = timedelta(hours=1)


async def test_an_upkeep_is_one_workers_until_it_is_due_again() -> None:
    store, clock = await opened()
    assert await claim(store, clock, "acme", HOUR)
    assert not await claim(store, clock, "acme", HOUR)
    assert await claim(store, clock, "acme2", HOUR)
    assert await claim(store, clock, "acme", timedelta(0))
    clock.advance(HOUR)
    assert await claim(store, clock, "acme", HOUR)


async def test_a_worker_asks_for_what_is_due_and_walks_over_nothing_else() -> None:
    named = [f"t{number}" for number in range(200)]
    store, clock = await opened(*named)
    assert sorted(await round_of(store, clock, HOUR)) == sorted(named)
    clock.advance(HOUR / 2)
    store.reads = 0
    assert await round_of(store, clock, HOUR) == []
    assert store.reads == 1
    clock.advance(HOUR / 2)
    assert sorted(await round_of(store, clock, HOUR)) == sorted(named)
    await Tenants(store, clock).create("new", by="ana")
    store.reads = 0
    assert await round_of(store, clock, HOUR) == ["new"]
    assert store.reads < 10


async def test_those_that_have_waited_longest_come_first() -> None:
    named = [f"t{number}" for number in range(60)]
    store, clock = await opened(*named)
    first = await round_of(store, clock, HOUR, most=20)
    clock.advance(HOUR / 3)
    second = await round_of(store, clock, HOUR, most=20)
    clock.advance(HOUR / 3)
    third = await round_of(store, clock, HOUR)
    assert sorted([*first, *second, *third]) == sorted(named)
    clock.advance(HOUR)
    again = await round_of(store, clock, HOUR)
    places = {tenant: number for number, tenant in enumerate(again)}
    # The tenant at which a worker stopped shares a slot with those before or behind it.
    assert max(places[tenant] for tenant in first[:19]) < min(places[tenant] for tenant in third[1:])


async def test_what_a_worker_left_in_the_middle_of_a_slot_stays_due() -> None:
    together = [name for name in (f"t{number}" for number in range(5000)) if slot_of(name) == 7]
    store, clock = await opened(*together)
    assert len(together) > 2
    (slot,) = await slots_due(store, clock.now(), HOUR, (0, 1))
    assert await claim(store, clock, together[0], HOUR)
    assert await slots_due(store, clock.now(), HOUR, (0, 1)) == [slot]
    await settle(store, slot)
    assert sorted(await round_of(store, clock, HOUR)) == sorted(together[1:])
    assert await slots_due(store, clock.now(), HOUR, (0, 1)) == []


async def test_tenants_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.maintenance.tenant_registry.PAGE", 2)
    store = InProcessStore()
    await store.open(WordEmbedder().space)
    tenants = Tenants(store, ManualClock())
    for name in ("t1", "t10", "t2", "t100", "t11"):
        await tenants.create(name, by="ana")
    assert [one.tenant for one in await tenants.all()] == ["t1", "t10", "t100", "t11", "t2"]
    assert [one.tenant for one in await tenants.page(after="t10", limit=2)] == ["t100", "t11"]
    found = await tenants.find("t1")
    assert found is not None
    assert found.tenant == "t1"
    assert await tenants.find("t") is None


def test_a_tenant_that_only_a_credential_has_named_gets_upkeep_too(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")

    async def named() -> None:
        async with build_engine(Settings(store=store)) as engine:
            await Tenancy(engine).tenant_state("umbra")

    in_thread(named)
    result = CliRunner().invoke(cli, ["--store", store, "work", "--once"], prog_name="mnemic")
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["upkeep of default", "upkeep of umbra"]


def test_a_worker_brings_to_a_copy_what_others_have_left_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.bootstrap.build_embedder", lambda settings, clock: WordEmbedder())
    plain = f"sqlite:///{tmp_path}/s.db"

    def run(*words: str, store: str) -> Result:
        result = CliRunner().invoke(cli, ["--store", store, "--user", "ana", *words], prog_name="mnemic")
        assert result.exit_code == 0, result.output
        return result

    with running(AzureSearchServer()) as service:
        copied = f"{plain}?copy=" + service.endpoint.replace("http://", f"azure-search://:{KEY}@") + "/memories"

        def indexed() -> set[str]:
            return {document["content"] for document in service.documents.values()}

        run("add", "The first boat.", store=plain)
        run("maintain", "--rebuild", "search_index", store=copied)
        run("add", "The second boat.", store=plain)
        assert indexed() == {"The first boat."}
        run("work", "--once", store=copied)
        assert indexed() == {"The first boat.", "The second boat."}
