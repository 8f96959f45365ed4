"""The whole of mnemic on three servers behind the double of a router, through its address alone."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from mnemic.bootstrap import build_store
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic.runtime.clock import SystemClock
from mnemic.testing.record_store import EMBEDDER
from mnemic_server.credentials import ApiKeys, Role
from mnemic_server.webhooks import Webhooks
from tests.routed import SERVERS, RoutedServers


def run(location: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mnemic", "--store", location, "--user", "ana", "--json", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=False)


def test_the_command_line_works_behind_a_router(routed_servers: RoutedServers, tmp_path: Path) -> None:
    location = routed_servers.location(tmp_path)
    for tenant in ("acme", "rival"):
        added = run(location, tmp_path, "--tenant", tenant, "add", f"My sister at {tenant} lives in Bergen")
        assert (added.returncode, json.loads(added.stdout)["outcome"]) == (0, "created"), added.stderr
    found = run(location, tmp_path, "--tenant", "rival", "search", "Where does the sister live?")
    assert ("at rival" in found.stdout, "at acme" in found.stdout) == (True, False)
    checked = run(location, tmp_path, "--tenant", "acme", "doctor")
    shown = {one["check"]: one for one in json.loads(checked.stdout)["checks"]}
    assert (checked.returncode, shown["memories"]["total"], shown["audit"]["ok"]) == (0, 1, True), checked.stdout
    erased = run(location, tmp_path, "--tenant", "acme", "erase", "ana", "--yes")
    assert json.loads(erased.stdout)["complete"] is True, erased.stderr
    refused = run(location, tmp_path, "backup", str(tmp_path / "copy"))
    assert "not_supported:backup:router" in refused.stderr
    assert routed_servers.router.refused == []


async def test_keys_and_webhooks_are_kept_on_one_server_and_told_on_the_other(
    routed_servers: RoutedServers, tmp_path: Path
) -> None:
    routed_servers.database(tmp_path)
    routed_servers.router.homes |= {"acme": 0, SERVICE_TENANT: 1}
    store = build_store(routed_servers.location(tmp_path), durability="durable")
    await store.open(EMBEDDER.space)
    keys, clock = ApiKeys(store, SystemClock()), SystemClock()
    key, shown = await keys.create(tenant="acme", user="ana", roles=[Role.WRITER])
    principal = await keys.authenticate(shown)
    assert principal is not None
    assert principal.tenant == "acme"
    await keys.rotate(key.key_id, grace=timedelta(0))
    await keys.revoke(key.key_id)
    webhooks = Webhooks(store, clock)
    webhook = await webhooks.create("acme", "https://example.com/told")
    await webhooks.delete("acme", webhook.webhook_id)
    actions = [line.action for line in await store.audit("acme")]
    assert actions == ["api_key_created", "api_key_rotated", "api_key_revoked", "webhook_created", "webhook_deleted"]
    assert await store.audit(SERVICE_TENANT) == []
    assert (await store.broken_audit("acme"))[1] is None
    marks = [routed_servers.sql(number, "SELECT DISTINCT tenant FROM mnemic.mark") for number in range(SERVERS)]
    assert marks[1] == [(SERVICE_TENANT,)]
    assert (SERVICE_TENANT,) not in marks[0]
    assert routed_servers.router.refused == []
    await store.close()
