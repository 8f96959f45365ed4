"""Blocks of the pages about the service, beside its first recipe: each runs as it stands but for addresses."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.e2e.test_blocks_with_servers import block_with
from tests.e2e.test_further_blocks import run
from tests.identity_provider import CLIENT_ID, SECRET, running
from tests.service import serving

HERE, STORE = "http://127.0.0.1:8377", {"MNEMIC_STORE": "s.db"}


def test_the_console_opens_with_the_key_of_its_page(tmp_path: Path) -> None:
    key = run(block_with("docs/console.md", "apikeys create"), tmp_path, **STORE).strip()
    with serving(tmp_path) as served, httpx.Client(base_url=served.address) as browser:
        assert "text/html" in browser.get("/console").headers["content-type"]
        assert browser.post("/console/session", json={"api_key": key}).status_code == 200
        who = browser.get("/console/session").json()
        assert (who["user"], sorted(who["roles"])) == ("ana", ["reader", "subject", "writer"])


def test_people_sign_in_at_the_provider_that_the_settings_name(tmp_path: Path) -> None:
    (tmp_path / "console").write_text(SECRET, encoding="utf-8")
    with running() as provider:
        block = block_with("docs/service.md", "MNEMIC_SERVICE_CLIENT_ID")
        block = block.replace("https://login.example.com", provider.address)
        block = block.replace("/run/secrets/console", str(tmp_path / "console"))
        told = run(f"set -a\n{block}\nenv", tmp_path)
        given = dict(re.findall(r"^(MNEMIC_SERVICE_\w+)=(.*)$", told, re.MULTILINE))
        assert given["MNEMIC_SERVICE_CLIENT_ID"] == CLIENT_ID
        with serving(tmp_path, **given) as served, httpx.Client() as browser:
            begun = browser.get(f"{served.address}/console/sign-on")
            asked = dict(parse_qsl(urlsplit(begun.headers["location"]).query))
            assert asked["redirect_uri"] == "https://memory.example.com/console/sign-on/callback"
            back = urlsplit(provider.agreed(asked))
            cookie = begun.headers["set-cookie"].partition(";")[0]
            at = f"{served.address}{back.path}?{back.query}"
            answer = browser.get(at, headers={"Cookie": cookie})
            session = re.findall(r"__Host-mnemic_session=[^;]+", str(answer.headers.get_list("set-cookie")))
            who = browser.get(f"{served.address}/console/session", headers={"Cookie": session[0]}).json()
    assert (who["user"], who["roles"]) == ("ana", ["reader", "subject"])


def test_a_tenant_is_created_limited_suspended_and_ended(tmp_path: Path) -> None:
    block = block_with("docs/service.md", "mnemic tenants create")
    lines = re.sub(r"^(mnemic tenants end .*?)( *#.*)?$", r"\1 --yes", block, flags=re.MULTILINE).splitlines()
    states = []
    for line in lines:
        run(line, tmp_path, **STORE)
        listed = json.loads(run("mnemic tenants list --json", tmp_path, **STORE))["tenants"]
        states += [next(tenant for tenant in listed if tenant["tenant"] == "acme")]
    limits = [{quota["per"]: quota["rows"] for quota in state["quotas"]} for state in states]
    assert limits[:3] == [{"tenant": 100_000, "user": 5_000}] * 2 + [{"tenant": 200_000, "user": 5_000}]
    assert limits[3] == {"tenant": 200_000}
    assert [state["suspended_at"] is not None for state in states] == [False] * 4 + [True] * 2
    receipts = json.loads((tmp_path / "acme.json").read_text(encoding="utf-8"))["receipts"]
    assert {(receipt["tenant"], receipt["complete"]) for receipt in receipts} == {("acme", True)}


def test_a_webhook_is_created_for_two_actions(tmp_path: Path) -> None:
    secret = run(block_with("docs/service.md", "mnemic webhooks create"), tmp_path, **STORE)
    assert "whsec_" in secret
    (kept,) = json.loads(run("mnemic webhooks list --json", tmp_path, **STORE))["webhooks"]
    assert (kept["url"], kept["actions"]) == ("https://app.example.com/hooks/memory", ["created", "superseded"])


def test_a_program_moves_to_the_service_by_its_store(tmp_path: Path) -> None:
    block = block_with("docs/service.md", "https://memory.example.org", "python")
    with serving(tmp_path) as served:
        key = served.key("reader", "writer")
        (tmp_path / "block.py").write_text(
            block.replace("https://memory.example.org", served.address).replace("mnk_...", key), encoding="utf-8"
        )
        run(f"{sys.executable} block.py", tmp_path)
        given = {"headers": {"Authorization": f"Bearer {key}"}, "timeout": 60}
        kept = httpx.get(f"{served.address}/v1/memories", **given).json()["memories"]
    assert {memory["content"] for memory in kept} == {"vegetarian", "aisle"}


def test_an_operator_puts_a_policy_in_force_by_curl(tmp_path: Path) -> None:
    block = block_with("docs/policy.md", "/v1/policy")
    with serving(tmp_path) as served:
        key = served.key("operator")
        run(block.replace(HERE, served.address), tmp_path, KEY=key)
        answer = httpx.get(f"{served.address}/v1/policy", headers={"Authorization": f"Bearer {key}"}, timeout=60)
    assert answer.json()["keys"]["seat"]["ttl_days"] == 365
