"""`mnemic tenants end`: a customer who leaves is gone from the store, and no other is affected."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mnemic.bootstrap import build_engine
from mnemic.cli import cli
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.tenant_registry import Tenants
from mnemic.types import Actor, Candidate, Status
from mnemic_server.credentials import ApiKeys
from mnemic_server.webhooks import Webhooks
from tests.servers import in_thread

CANARY = "Zyxwvutsrq9876543210canary"


async def fill(engine: MemoryEngine, tenant: str) -> str:
    """Give a tenant two users, a shared memory, a key and a webhook; return the text of the key."""
    await Tenants(engine.store, engine.clock).create(tenant, by="root")
    rules, levels = engine.rules, frozenset({"user", "workspace"})
    shared = engine.under(
        policy=rules.policy, grant=replace(rules.grant, levels=levels), budget=rules.budget, limits=rules.limits
    )
    for user in ("ana", "ben"):
        actor = Actor(tenant=tenant, user=user, workspace="office")
        await engine.add(f"{user} of {tenant} hides a {CANARY}.", actor=actor)
        await engine.add(Candidate(content=f"{CANARY} diet of {user}", key="diet"), actor=actor)
        told = await shared.add(f"{user} says {CANARY} at the office of {tenant}.", actor=actor, level="workspace")
        assert told.memory_id is not None
    await Webhooks(engine.store, engine.clock).create(tenant, "https://app.example.com/hooks")
    _, text = await ApiKeys(engine.store, engine.clock).create(tenant=tenant, roles=["reader"], user="ana")
    return text


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "s.db")


@pytest.fixture
def keys(store: str) -> dict[str, str]:
    async def filled() -> dict[str, str]:
        async with build_engine(Settings(store=store)) as engine:
            return {tenant: await fill(engine, tenant) for tenant in ("acme", "zeta")}

    return in_thread(filled)


def run(store: str, *arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(cli, ["--store", store, "--json", "tenants", *arguments], prog_name="mnemic", input=said)


def test_a_tenant_that_ends_leaves_nothing_and_takes_nobody_along(
    store: str, keys: dict[str, str], tmp_path: Path
) -> None:
    receipts = tmp_path / "receipts.json"
    result = run(store, "end", "acme", "--yes", "--receipts", str(receipts))
    assert result.exit_code == 0, result.stderr
    ended = json.loads(result.stdout)
    assert (ended["memories"], ended["keys"], ended["webhooks"], ended["complete"]) == (6, 1, 1, True)
    written = [ErasureReceipt.from_dict(one) for one in json.loads(receipts.read_text())["receipts"]]
    assert len(written) == ended["erasures"] >= 3

    async def looked() -> None:
        async with build_engine(Settings(store=store)) as engine:
            every = list(Status)
            assert await engine.store.scan("acme", statuses=every, limit=99) == []
            assert len(await engine.store.scan("zeta", statuses=every, limit=99)) == 6
            known = ApiKeys(engine.store, engine.clock)
            assert await known.authenticate(keys["acme"]) is None
            assert await known.authenticate(keys["zeta"]) is not None
            assert [one.tenant for one in await Webhooks(engine.store, engine.clock).all()] == ["zeta"]
            tenant = await Tenants(engine.store, engine.clock).find("acme")
            assert tenant is not None
            assert tenant.suspended_at is not None
            for receipt in written:
                assert not any((await engine.verify_erasure(receipt)).values())
            actions = [line.action for line in await engine.audit(actor=Actor(tenant="acme", user="root"))]
            assert {"tenant_suspended", "api_key_revoked", "webhook_deleted", "erased"} <= set(actions)
            assert (await engine.verify_audit(actor=Actor(tenant="acme", user="root"))).broken_at is None

    in_thread(looked)
    again = json.loads(run(store, "end", "acme", "--yes").stdout)
    assert (again["memories"], again["keys"], again["complete"]) == (0, 0, True)


def test_nothing_ends_unasked_or_under_a_wrong_name(store: str, keys: dict[str, str]) -> None:
    refused = run(store, "end", "acme", said="n\n")
    assert refused.exit_code == 1
    assert "not_confirmed" in refused.stderr
    assert run(store, "end", "nobody", "--yes").exit_code != 0

    async def held() -> list[int]:
        async with build_engine(Settings(store=store)) as engine:
            return [len(await engine.store.scan(one, statuses=list(Status), limit=99)) for one in ("acme", "zeta")]

    assert in_thread(held) == [6, 6]
