"""`mnemic work`: whose upkeep it does."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine.tenancy import Tenancy
from mnemic.maintain.tenants import Tenants
from mnemic.stores.in_process import InProcessStore
from mnemic_cli import cli
from mnemic_server.credentials import ApiKeys
from mnemic_server.maintenance_claims import claim
from mnemic_testing.clock import ManualClock
from mnemic_testing.embedder import WordEmbedder
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
    assert [line.partition(":")[0] for line in told] == [f"upkeep of {name}" for name in ("default", "acme", "zeta")]


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
    for wrong in ("0/3", "4/3", "a/3", "3", "1/0"):
        run = CliRunner().invoke(cli, ["--store", store, "work", "--once", "--part", wrong], prog_name="mnemic")
        assert run.exit_code == 2, wrong


async def test_an_upkeep_is_one_workers_until_it_is_due_again() -> None:
    clock = ManualClock()
    store = InProcessStore()
    await store.open(WordEmbedder().space)
    hour = timedelta(hours=1)
    assert await claim(store, clock, "acme", hour)
    assert not await claim(store, clock, "acme", hour)
    assert await claim(store, clock, "acme2", hour)
    assert await claim(store, clock, "acme", timedelta(0))
    clock.advance(hour)
    assert await claim(store, clock, "acme", hour)


async def test_tenants_are_read_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.maintain.tenants.PAGE", 2)
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
            await Tenancy(engine).of("umbra")

    in_thread(named)
    result = CliRunner().invoke(cli, ["--store", store, "work", "--once"], prog_name="mnemic")
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["upkeep of default", "upkeep of umbra"]


def test_a_worker_brings_to_a_copy_what_others_have_left_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.bootstrap.build_embedder", lambda settings, clock: WordEmbedder())
    plain = f"sqlite:///{tmp_path}/s.db"
    copied = f"{plain}?copy=jsonl://{tmp_path}/log"

    def run(*words: str, store: str) -> Result:
        result = CliRunner().invoke(cli, ["--store", store, "--user", "ana", *words], prog_name="mnemic")
        assert result.exit_code == 0, result.output
        return result

    def logged() -> str:
        return "".join(path.read_text() for path in (tmp_path / "log").rglob("*") if path.is_file())

    run("add", "The first boat.", "--kind", "episodic", store=copied)
    run("add", "The second boat.", "--kind", "episodic", store=plain)
    assert ("first boat" in logged(), "second boat" in logged()) == (True, False)
    run("work", "--once", store=copied)
    assert "second boat" in logged()
