"""`mnemic work`: whose upkeep it does."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.entrypoints.cli import cli
from mnemic.entrypoints.rest.credentials import ApiKeys
from mnemic.tenancy import Tenancy
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
    assert [line.partition(":")[0] for line in told] == [f"upkeep of {name}" for name in ("acme", "default", "zeta")]


def test_a_tenant_that_only_a_credential_has_named_gets_upkeep_too(tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")

    async def named() -> None:
        async with build_engine(Settings(store=store)) as engine:
            await Tenancy(engine).of("umbra")

    in_thread(named)
    result = CliRunner().invoke(cli, ["--store", store, "work", "--once"], prog_name="mnemic")
    assert [line.partition(":")[0] for line in result.stderr.splitlines()] == ["upkeep of default", "upkeep of umbra"]
