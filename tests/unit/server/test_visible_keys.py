"""A credential that opens somebody's memories is never made behind their back: they and their tenant can see it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import StoreFull
from mnemic.types import AuditEvent
from mnemic.write.limiter import subject_token
from tests.unit.server.conftest import Running

ASKED = {"user": "ana", "roles": ["reader"]}


async def _lines(running: Running, action: str) -> list[AuditEvent]:
    return [line for line in await running.engine.store.audit("acme") if line.action == action]


async def _told(running: Running, user: str) -> list[dict[str, Any]]:
    """Lines of the audit in the document of a person's own."""
    headers = await running.caller("subject", user=user)
    lines: list[dict[str, Any]] = (await running.client.get("/v1/export/subject", headers=headers)).json()["audit"]
    return lines


async def _application(running: Running) -> tuple[str, dict[str, str]]:
    """Return the id of an application's key that an operator has made, and headers with it."""
    operator = await running.caller("operator", user="olga")
    made = (await running.client.post("/v1/keys", json={"roles": ["reader"]}, headers=operator)).json()
    return made["key_id"], {"Authorization": f"Bearer {made['api_key']}"}


async def _issue(running: Running, headers: dict[str, str], **wanted: Any) -> None:
    answer = await running.client.post("/v1/tokens", json={**ASKED, **wanted}, headers=headers)
    assert answer.status_code == 201, answer.text


async def test_a_key_that_an_operator_makes_for_a_person_is_in_what_is_held_about_them(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    made = (await running.client.post("/v1/keys", json=ASKED, headers=operator)).json()
    (line,) = [one for one in await _told(running, "ana") if one["detail"].get("key_id") == made["key_id"]]
    assert (line["action"], line["by"]) == ("api_key_created", "another")
    assert made["key_id"] not in str(await _told(running, "ben"))


async def test_a_token_that_an_application_issues_for_a_person_is_in_the_audit(running: Running) -> None:
    key_id, application = await _application(running)
    await _issue(running, application)
    (line,) = await _lines(running, "token_issued")
    token = await subject_token(running.engine.store, "acme", "ana")
    assert (line.actor, dict(line.detail)) == (key_id, {"key_id": key_id, "roles": ("reader",), "subject": token})
    assert [one["by"] for one in await _told(running, "ana") if one["action"] == "token_issued"] == ["another"]
    assert "token_issued" not in str(await _told(running, "ben"))


async def test_tokens_of_one_person_are_one_line_a_day(running: Running) -> None:
    _, application = await _application(running)
    for _ in range(3):
        await _issue(running, application)
    await _issue(running, application, user="ben")
    assert len(await _lines(running, "token_issued")) == 2
    running.clock.advance(timedelta(days=1))
    await _issue(running, application)
    assert len(await _lines(running, "token_issued")) == 3


async def test_further_roles_are_a_further_line(running: Running) -> None:
    operator = await running.caller("operator", user="olga")
    made = (await running.client.post("/v1/keys", json={"roles": ["reader", "writer"]}, headers=operator)).json()
    application = {"Authorization": f"Bearer {made['api_key']}"}
    await _issue(running, application)
    await _issue(running, application, roles=["reader", "writer"])
    assert [line.detail["roles"] for line in await _lines(running, "token_issued")] == [
        ("reader",),
        ("reader", "writer"),
    ]


async def test_where_nothing_can_be_written_a_token_is_issued_and_told_later(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, application = await _application(running)
    await _issue(running, application, user="ben")

    async def full(*_: object) -> None:
        raise StoreFull

    with monkeypatch.context() as patched:
        patched.setattr("mnemic_server.token_audit.apply", full)
        await _issue(running, application)
    assert len(await _lines(running, "token_issued")) == 1
    await _issue(running, application)
    assert len(await _lines(running, "token_issued")) == 2
