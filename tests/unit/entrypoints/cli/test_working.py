"""`mnemic work`: whose upkeep it does."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine.tenancy import Tenancy
from mnemic.entrypoints.cli import cli
from mnemic_server.credentials import ApiKeys
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
    assert [line.partition(":")[0] for line in told] == [f"upkeep of {name}" for name in ("acme", "default", "zeta")]


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
