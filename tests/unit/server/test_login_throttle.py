"""Wrong credentials are throttled by address, and who signed in or was refused is in the audit and in the log."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest

from mnemic.errors import StoreFull
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic_server.login_throttle import BURST
from mnemic_server.logs import RequestLog
from mnemic_server.observability import Observation
from tests.unit.server.conftest import Running

WRONG = {"Authorization": f"Bearer mnk_01890a5d-ac96-774b-bcce-b302099a8057_{'a' * 43}"}


async def asked(running: Running, headers: dict[str, str]) -> tuple[int, str | None]:
    answer = await running.client.get("/v1/memories", headers=headers)
    return answer.status_code, answer.json().get("reason")


async def test_wrong_credentials_make_an_address_wait_but_nobody_with_a_right_one(running: Running) -> None:
    ana, ben = await running.caller("reader"), await running.caller("reader", user="ben")
    assert (await asked(running, ana))[0] == 200
    assert {await asked(running, WRONG) for _ in range(BURST)} == {(401, "unauthenticated")}
    late = await running.client.get("/v1/memories", headers=WRONG)
    assert (late.status_code, late.json()["reason"]) == (429, "too_many_failures")
    assert late.headers["retry-after"] == "3"
    assert (await asked(running, ana))[0] == 200
    assert (await asked(running, ben))[0] == 200
    sign_in = await running.client.post("/console/session", json={"api_key": WRONG["Authorization"][7:]})
    assert sign_in.json()["reason"] == "too_many_failures"
    running.clock.advance(timedelta(seconds=2))
    assert await asked(running, WRONG) == (401, "unauthenticated")


async def test_a_request_without_a_credential_is_no_wrong_one(running: Running) -> None:
    assert {await asked(running, {}) for _ in range(2 * BURST)} == {(401, "unauthenticated")}
    assert await running.engine.store.audit(SERVICE_TENANT) == []


async def test_failed_authentication_is_in_the_audit_once_a_minute(running: Running) -> None:
    for _ in range(5):
        await asked(running, WRONG)
    running.clock.advance(timedelta(minutes=1))
    await asked(running, WRONG)
    lines = await running.engine.store.audit(SERVICE_TENANT)
    assert [(line.action, line.actor, line.detail["times"]) for line in lines] == [
        ("authentication_failed", "unknown", 1),
        ("authentication_failed", "unknown", 5),
    ]
    assert lines[0].detail["address"] == "127.0.0.1"
    assert "aaaa" not in str(lines)


async def test_refusals_and_sign_ins_are_in_the_tenants_audit(running: Running) -> None:
    key, text = await running.keys.create(tenant="acme", roles=["reader"], user="ana")
    headers = {"Authorization": f"Bearer {text}"}
    for _ in range(3):
        await running.client.get("/v1/audit", headers=headers)
    operator = await running.caller("operator", user="olga")
    await running.client.post("/v1/keys", json={"roles": ["admin"]}, headers=operator)
    signed_in = await running.client.post("/console/session", json={"api_key": text})
    token = {"X-CSRF-Token": signed_in.json()["csrf_token"]}
    assert (await running.client.delete("/console/session", headers=token)).status_code == 204
    lines = [line for line in await running.engine.store.audit("acme") if not line.action.startswith("api_key")]
    assert [(line.action, line.actor) for line in lines] == [
        ("refused", "ana"),
        ("refused", "olga"),
        ("signed_in", "ana"),
        ("signed_out", "ana"),
    ]
    assert lines[0].detail == {
        "reason": "role_required:operator",
        "address": "127.0.0.1",
        "key_id": key.key_id,
        "times": 1,
    }
    assert lines[1].detail["reason"] == "role_required:admin"


async def test_who_is_refused_stays_refused_where_nothing_can_be_written(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_: object, **__: object) -> None:
        raise StoreFull

    monkeypatch.setattr(running.engine.store, "transact", full)
    assert await asked(running, WRONG) == (401, "unauthenticated")


def test_the_log_says_who_and_from_where(caplog: pytest.LogCaptureFixture) -> None:
    log = RequestLog(slow_ms=1000, all_of_them=False)
    with caplog.at_level(logging.INFO, logger="mnemic.service"):
        for status in (200, 401, 403, 404):
            log.on_end(
                Observation(
                    method="GET",
                    route="/v1/audit",
                    status=status,
                    began=0,
                    ended=1,
                    caller="key-1",
                    address="192.0.2.1",
                )
            )
    told = [(vars(line)["status"], vars(line)["caller"], vars(line)["address"]) for line in caplog.records]
    assert told == [(401, "key-1", "192.0.2.1"), (403, "key-1", "192.0.2.1")]
