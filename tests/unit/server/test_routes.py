"""Every verb over HTTP, and what each role may not do."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.unit.server.conftest import Running

SEAT = {"content": "aisle", "key": "seat"}


async def added(running: Running, headers: dict[str, str], **memory: Any) -> str:
    answer = await running.client.post("/v1/memories", json={**SEAT, **memory}, headers=headers)
    assert answer.status_code in (200, 201), answer.text
    memory_id: str = answer.json()["memory_id"]
    return memory_id


@pytest.mark.parametrize(
    ("told", "days"),
    [({"ttl": "10y"}, 3650), ({"ttl": "P30D"}, 30), ({"ttl": "400d"}, 400), ({"ttl": "never"}, None), ({}, None)],
)
async def test_a_time_to_live_may_be_long_or_have_no_end(
    running: Running, told: dict[str, Any], days: int | None
) -> None:
    ana = await running.caller("reader", "writer")
    made = await running.client.post("/v1/memories", json={**SEAT, **told}, headers=ana)
    memory = (await running.client.get(f"/v1/memories/{made.json()['memory_id']}", headers=ana)).json()
    began, ends = (memory[name] and datetime.fromisoformat(memory[name]) for name in ("created_at", "expires_at"))
    assert ends == (None if days is None else began + timedelta(days=days))


async def test_remember_find_correct_forget(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    made = await running.client.post("/v1/memories", json=SEAT, headers=ana)
    again = await running.client.post("/v1/memories", json=SEAT, headers=ana)
    assert (made.status_code, made.json()["outcome"]) == (201, "created")
    assert (again.status_code, again.json()["outcome"]) == (200, "refreshed")
    memory_id = made.json()["memory_id"]

    found = await running.client.post("/v1/search", json={"query": "which seat?"}, headers=ana)
    assert [hit["memory"]["memory_id"] for hit in found.json()["hits"]] == [memory_id]
    assert found.json()["degraded"] is False
    assert "vector" not in found.json()["hits"][0]["memory"]

    one = await running.client.get(f"/v1/memories/{memory_id}", headers=ana)
    version = one.json()["version"]
    assert one.headers["etag"] == f'"{version}"'
    stale = await running.client.patch(
        f"/v1/memories/{memory_id}", json={"content": "window"}, headers={**ana, "If-Match": '"99"'}
    )
    assert (stale.status_code, stale.json()["reason"]) == (412, "version_conflict")
    fresh = await running.client.patch(
        f"/v1/memories/{memory_id}", json={"content": "window"}, headers={**ana, "If-Match": one.headers["etag"]}
    )
    assert (fresh.status_code, fresh.json()["version"]) == (200, version + 1)
    history = await running.client.get(f"/v1/memories/{memory_id}/history", headers=ana)
    assert [entry["content"] for entry in history.json()["versions"]][-1] == "window"

    assert (await running.client.delete(f"/v1/memories/{memory_id}", headers=ana)).status_code == 204
    gone = await running.client.get(f"/v1/memories/{memory_id}", headers=ana)
    assert (gone.status_code, gone.json()["reason"]) == (404, "memory_not_found")


async def test_an_idempotency_key_makes_one_memory_and_refuses_another_request(running: Running) -> None:
    ana = {**await running.caller("reader", "writer"), "Idempotency-Key": "k1"}
    first = await running.client.post("/v1/memories", json=SEAT, headers=ana)
    second = await running.client.post("/v1/memories", json=SEAT, headers=ana)
    other = await running.client.post("/v1/memories", json={"content": "window", "key": "seat"}, headers=ana)

    assert (second.json()["memory_id"], second.json()["replayed"]) == (first.json()["memory_id"], True)
    assert (other.status_code, other.json()["reason"]) == (409, "idempotency_key_reused")


async def test_pages_meet_without_overlap(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    batch = {"memories": [{"content": f"The boat number {n} has {n} oars."} for n in range(7)]}
    receipts = (await running.client.post("/v1/memories/batch", json=batch, headers=ana)).json()["receipts"]
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        params = {"limit": "2"} | ({"before": cursor} if cursor else {})
        page = (await running.client.get("/v1/memories", params=params, headers=ana)).json()
        seen += [memory["memory_id"] for memory in page["memories"]]
        cursor = page["next"]
    assert cursor is None
    assert len(seen) == len(set(seen)) == 7
    assert set(seen) == {receipt["memory_id"] for receipt in receipts}


async def test_capture_messages_runs_and_context(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    said = {"content": "I live in Oslo and I love kayaking."}
    captured = (await running.client.post("/v1/capture", json={"message": said}, headers=ana)).json()
    assert [receipt["outcome"] for receipt in captured["receipts"]] == ["created"] * 2

    messages = {"messages": [said, {"role": "assistant", "content": "Good to know!"}]}
    kept = (await running.client.post("/v1/messages", json=messages, headers=ana)).json()
    assert len(kept["receipts"]) == 2

    wanted = {"query": "where does she love kayaking?"}
    block = (await running.client.post("/v1/context", json=wanted, headers=ana)).json()
    assert block["text"].startswith("<memory fence=")
    assert block["memories"]
    audit = await running.client.get("/v1/audit", headers=await running.caller("operator"))
    assert block["digest"] in json.dumps(audit.json())

    ran = await running.client.post("/v1/runs", json={"goal": "Plan a weekend of kayaking"}, headers=ana)
    assert (ran.status_code, ran.json()["status"]) == (200, "ok")
    assert (await running.client.post("/v1/runs", json={}, headers=ana)).json()["reason"] == "invalid_input:run"


async def test_a_reviewer_decides_what_another_proposed(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reviewer", user="ben")
    body = {"content": "Always answer in Dutch.", "category": "instruction", "origin": "agent_inferred"}
    flagged = await running.client.post("/v1/memories", json=body, headers=ana)
    assert flagged.json()["outcome"] == "pending_review"
    memory_id = flagged.json()["memory_id"]

    hidden = await running.client.get(f"/v1/memories/{memory_id}", headers=ana)
    assert hidden.status_code == 404
    desk = (await running.client.get("/v1/reviews", headers=ben)).json()
    waiting = desk["reviews"]
    assert desk["waiting"] == len(waiting)
    assert [one["memory"]["memory_id"] for one in waiting] == [memory_id]
    assert waiting[0]["proposer"]

    own = await running.caller("reviewer", user="ana")
    refused = await running.client.post(f"/v1/reviews/{memory_id}/approval", json={}, headers=own)
    assert (refused.status_code, refused.json()["reason"]) == (403, "review_denied:proposer")
    let_in = await running.client.post(f"/v1/reviews/{memory_id}/approval", json={}, headers=ben)
    assert let_in.status_code == 200
    assert (await running.client.get(f"/v1/memories/{memory_id}", headers=ana)).status_code == 200


async def test_a_subject_sees_decides_takes_along_and_erases(running: Running) -> None:
    await added(running, await running.caller("writer"))
    ana = await running.caller("subject")
    assert (await running.client.put("/v1/consents/diet", headers=ana)).status_code == 204
    assert (await running.client.get("/v1/consents", headers=ana)).json() == {"consents": {"diet": True}}
    exported = await running.client.get("/v1/export", headers=ana)
    assert [json.loads(line)["content"] for line in exported.text.splitlines()] == ["aisle"]

    somebody_else = await running.client.post("/v1/erasures", json={"subject": "ben"}, headers=ana)
    assert somebody_else.json()["reason"] == "role_required:operator"
    receipt = await running.erased(ana)
    assert receipt["complete"] is True
    operator = await running.caller("operator", user="olga")
    verified = await running.client.post("/v1/erasures/verification", json=receipt, headers=operator)
    assert verified.json()["complete"] is True
    assert (await running.client.get("/v1/memories", headers=ana)).json()["memories"] == []


async def test_an_application_issues_tokens_for_its_users(running: Running) -> None:
    application = await running.caller("reader", "writer", user=None)
    alone = await running.client.get("/v1/memories", headers=application)
    assert (alone.status_code, alone.json()["reason"]) == (403, "user_required")
    assert "POST /v1/tokens" in alone.json()["detail"]
    issued = await running.client.post("/v1/tokens", json={"user": "ana", "ttl_seconds": 60}, headers=application)
    ana = {"Authorization": f"Bearer {issued.json()['token']}"}
    await added(running, ana)
    running.clock.advance(timedelta(seconds=60))
    assert (await running.client.get("/v1/memories", headers=ana)).status_code == 401
    of_a_user = await running.client.post("/v1/tokens", json={"user": "eve"}, headers=await running.caller("writer"))
    assert of_a_user.json()["reason"] == "application_required"


async def test_an_operator_makes_keys_for_the_own_tenant_and_no_administrators(running: Running) -> None:
    operator, admin = await running.caller("operator"), await running.caller("admin", tenant="root")
    made = await running.client.post("/v1/keys", json={"roles": ["reader"], "user": "ben"}, headers=operator)
    assert (made.status_code, made.json()["tenant"]) == (201, "acme")
    for wanted in ({"roles": ["admin"]}, {"roles": ["reader"], "tenant": "other"}):
        refused = await running.client.post("/v1/keys", json=wanted, headers=operator)
        assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:admin")
    other = await running.client.post("/v1/keys", json={"roles": ["reader"], "tenant": "other"}, headers=admin)
    assert other.status_code == 201
    listed = (await running.client.get("/v1/keys", headers=operator)).json()["keys"]
    assert {key["tenant"] for key in listed} == {"acme"}
    assert "digest" not in json.dumps(listed)

    key_id = made.json()["key_id"]
    assert (await running.client.delete(f"/v1/keys/{other.json()['key_id']}", headers=operator)).status_code == 404
    rotated = await running.client.post(f"/v1/keys/{key_id}/rotation?grace_seconds=0", headers=operator)
    old = {"Authorization": f"Bearer {made.json()['api_key']}"}
    new = {"Authorization": f"Bearer {rotated.json()['api_key']}"}
    assert (await running.client.get("/v1/memories", headers=old)).status_code == 401
    assert (await running.client.get("/v1/memories", headers=new)).status_code == 200


FORBIDDEN = [
    ("reader", "POST", "/v1/memories", SEAT),
    ("reader", "POST", "/v1/capture", {"message": "I live in Oslo."}),
    ("subject", "POST", "/v1/runs", {"goal": "x"}),
    ("writer", "GET", "/v1/reviews", None),
    ("writer", "POST", "/v1/reviews/x/rejection", None),
    ("reviewer", "GET", "/v1/memories", None),
    ("writer", "GET", "/v1/export", None),
    ("writer", "GET", "/v1/audit", None),
    ("writer", "GET", "/v1/audit/verification", None),
    ("subject", "POST", "/v1/maintenance", None),
    ("writer", "POST", "/v1/erasures", {}),
    ("subject", "GET", "/v1/keys", None),
    ("reader", "POST", "/v1/keys", {"roles": ["reader"]}),
]


@pytest.mark.parametrize(("role", "method", "path", "body"), FORBIDDEN)
async def test_a_role_does_nothing_else(running: Running, role: str, method: str, path: str, body: Any) -> None:
    answer = await running.client.request(method, path, json=body, headers=await running.caller(role))
    assert answer.status_code == 403
    assert answer.json()["reason"].startswith("role_required:")


@pytest.mark.parametrize(
    "header", [None, "", "Basic eDp5", "Bearer", "Bearer mnk_x", "Bearer é", f"Bearer {'a' * 9000}"]
)
async def test_without_a_credential_nothing_is_said(running: Running, header: str | None) -> None:
    headers = {} if header is None else {b"Authorization": header.encode()}
    answer = await running.client.get("/v1/memories", headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("path", "body", "reason"),
    [
        ("/v1/memories", {"content": ""}, "invalid_input:content"),
        ("/v1/memories", {"content": "x", "tenant": "other"}, "invalid_input:tenant"),
        ("/v1/memories", {"content": "x", "user": "ben"}, "invalid_input:user"),
        ("/v1/memories", {"content": "x", "ttl": True}, "invalid_input:ttl"),
        ("/v1/memories", {"content": "x", "ttl": "soon"}, "invalid_input:ttl"),
        ("/v1/memories", {"content": "x", "kind": "working"}, "invalid_input:kind"),
        ("/v1/memories", {"content": "x", "source": {"origin": "operator"}}, "invalid_input:source"),
        ("/v1/search", {"query": "x", "top_k": 1_000_000_000}, "invalid_input:top_k"),
        ("/v1/memories/batch", {"memories": []}, "invalid_input:memories"),
        ("/v1/capture", {"message": ""}, "invalid_input:message"),
        ("/v1/capture", {"message": {"role": "user"}}, "invalid_input:message.content"),
        ("/v1/capture", {"message": {"content": "x", "rol": "user"}}, "invalid_input:message.rol"),
        ("/v1/capture", {"message": {"content": [7]}}, "invalid_input:message.content.0"),
        ("/v1/capture/batch", {"messages": [{"content": "x"}, {"content": 7}]}, "invalid_input:messages.1.content"),
        ("/v1/messages", {"messages": [{"content": [3]}]}, "invalid_input:messages.0.content.0"),
        ("/v1/search", {"query": "x", "kinds": ["long_term", "odd"]}, "invalid_input:kinds.1"),
        ("/v1/search", {"query": "x", "as_of": "soon"}, "invalid_input:as_of"),
    ],
)
async def test_what_does_not_fit_is_refused_by_name(running: Running, path: str, body: Any, reason: str) -> None:
    answer = await running.client.post(path, json=body, headers=await running.caller("writer"))
    assert (answer.status_code, answer.json()["reason"]) == (422, reason)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"{", 400, "invalid_input:json"),
        (b'{"content": NaN}', 400, "invalid_input:json"),
        (b'{"content": "a", "content": "b"}', 400, "invalid_input:json"),
        (b"[" * 64 + b"]" * 64, 400, "invalid_input:json"),
        (b"\xff\xfe", 400, "invalid_input:body:encoding"),
        (b'{"content": "' + b"a" * 100_000 + b'"}', 413, "invalid_input:body:too_large"),
    ],
)
async def test_a_body_is_refused_before_it_is_parsed(running: Running, body: bytes, status: int, reason: str) -> None:
    headers = {**await running.caller("writer"), "Content-Type": "application/json"}
    answer = await running.client.post("/v1/memories", content=body, headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (status, reason)
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/v1/memories?user=ana", "'user'"),
        ("/v1/memories?limits=3", "did you mean limit?"),
        ("/v1/whoami?user=ana", "there are none"),
    ],
)
async def test_a_query_parameter_that_a_route_lacks_is_named(running: Running, path: str, said: str) -> None:
    answer = await running.client.get(path, headers=await running.caller("reader"))
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_input:query:unknown")
    assert said in answer.json()["detail"]


async def test_probes_may_carry_parameters_of_their_own(running: Running) -> None:
    assert (await running.client.get("/healthz?at=3")).status_code == 200


@pytest.mark.parametrize(
    ("address", "body", "hint"),
    [
        ("/v1/memories", {"content": "x", "metadata": {}}, "no field 'metadata' here; did you mean data?"),
        (
            "/v1/memories",
            {"contents": "x"},
            "no field 'contents' here; did you mean content or context?; needed: content",
        ),
        ("/v1/search", {"q": "tea"}, "no field 'q' here; did you mean query?"),
        ("/v1/search", {"query": "tea", "limit": 3}, "no field 'limit' here; did you mean top_k?"),
    ],
)
async def test_a_field_of_another_name_is_told_which_is_meant(
    running: Running, address: str, body: dict[str, Any], hint: str
) -> None:
    answer = await running.client.post(address, json=body, headers=await running.caller("reader", "writer"))
    assert (answer.status_code, answer.json()["detail"]) == (422, hint)


async def test_who_is_unknown_is_told_how_to_be_known_first(running: Running) -> None:
    answer = await running.client.get("/v1/memories?user=ana")
    assert (answer.status_code, answer.json()["reason"]) == (401, "unauthenticated")
    assert "Authorization: Bearer" in answer.json()["detail"]


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "text/plain"}])
async def test_a_body_without_its_type_is_told_which_is_expected(running: Running, headers: dict[str, str]) -> None:
    headers = {**await running.caller("writer"), **headers}
    answer = await running.client.post("/v1/memories", content=b'{"content": "x"}', headers=headers)
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_input:body")
    assert "Content-Type: application/json" in answer.json()["detail"]


async def test_health_and_metrics_name_nobody(running: Running) -> None:
    await added(running, await running.caller("writer"))
    assert (await running.client.get("/healthz")).json() == {"status": "ok"}
    for path in ("/healthz", "/readyz"):
        head = await running.client.head(path)
        assert (head.status_code, head.content) == (200, b"")
    assert (await running.client.get("/readyz")).status_code == 200
    assert (await running.client.get("/metrics")).status_code == 401
    assert (await running.client.get("/metrics", headers=await running.caller("reader", "admin"))).status_code == 403
    metrics = (await running.client.get("/metrics", headers=await running.caller("operator"))).text
    assert 'mnemic_requests_total{method="POST",route="/v1/memories",status="201"} 1.0' in metrics
    assert "ana" not in metrics
    assert "acme" not in metrics


async def test_an_unknown_path_is_a_problem_too(running: Running) -> None:
    answer = await running.client.get("/v1/nothing")
    assert (answer.status_code, answer.json()["reason"]) == (404, "not_found")
    assert "/openapi.json" in answer.json()["detail"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "said",
    [
        {"message": "I live in Oslo."},
        {"message": {"content": "I live in Oslo.", "role": "user"}},
        {"message": "I live in Oslo.", "session": "s-1", "sent_at": "2026-01-02T03:04:05Z"},
    ],
)
async def test_what_was_said_is_a_message_as_in_the_library(running: Running, said: dict[str, Any]) -> None:
    ana = await running.caller("reader", "writer")
    report = (await running.client.post("/v1/capture", json=said, headers=ana)).json()
    assert [receipt["key"] for receipt in report["receipts"]] == ["home_city"]


@pytest.mark.parametrize(
    "said", [{}, {"content": "a"}, {"message": "a", "content": "a"}, {"message": {"role": "user"}}, {"message": 3}]
)
async def test_a_capture_without_a_message_is_refused(running: Running, said: dict[str, Any]) -> None:
    ana = await running.caller("reader", "writer")
    assert (await running.client.post("/v1/capture", json=said, headers=ana)).status_code == 422


async def test_a_list_keeps_to_a_time(running: Running) -> None:
    ana = await running.caller("reader", "writer", "subject")
    await added(running, ana, key=None, content="Went to Oslo.", occurred_at="2024-05-01T00:00:00Z")
    await added(running, ana, key=None, content="Went to Turku.", occurred_at="2024-05-03T00:00:00Z")
    for bounds, words in (
        ({"happened_from": "2024-05-02T00:00:00Z"}, ["Went to Turku."]),
        ({"happened_to": "2024-05-02T02:00:00+02:00"}, ["Went to Oslo."]),
        ({"happened_from": "2024-05-02", "happened_to": "2024-05-03"}, []),
    ):
        page = (await running.client.get("/v1/memories", params=bounds, headers=ana)).json()
        assert [one["content"] for one in page["memories"]] == words
        count = (await running.client.get("/v1/memories/count", params=bounds, headers=ana)).json()
        assert count == {"count": len(words)}
    backwards = {"happened_from": "2024-05-03", "happened_to": "2024-05-02"}
    for refused in (
        await running.client.get("/v1/memories", params=backwards, headers=ana),
        await running.client.get("/v1/memories/count", params=backwards, headers=ana),
        await running.client.post("/v1/search", json={"query": "Oslo", **backwards}, headers=ana),
    ):
        assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:window")
    gone = await running.client.post("/v1/memories/forget", json={"happened_to": "2024-05-02T00:00:00Z"}, headers=ana)
    assert len(gone.json()["memory_ids"]) == 1


async def test_a_time_of_day_without_its_zone_is_refused_as_in_the_library(running: Running) -> None:
    ana, naive = await running.caller("reader", "writer"), "2024-05-02T00:00:00"
    get, post = running.client.get, running.client.post
    for name in ("as_of", "known_at", "happened_from"):
        for refused in (
            await get("/v1/memories", params={name: naive}, headers=ana),
            await post("/v1/search", json={"query": "Oslo", name: naive}, headers=ana),
        ):
            assert (refused.status_code, refused.json()["reason"]) == (422, f"invalid_input:{name}")
            assert "zone" in refused.json()["detail"]
    said = {"message": "I moved to Oslo yesterday.", "sent_at": naive}
    refused = await post("/v1/capture", json=said, headers=ana)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:sent_at")


async def test_a_listing_is_filtered_and_continued(running: Running) -> None:
    ana = await running.caller("reader", "writer", "subject", "operator")
    for number in range(3):
        await added(running, ana, content=f"value {number}", key=f"key_{number}", category="c" if number else "d")
    get = running.client.get
    new = (await get("/v1/memories", params={"categories": "c", "limit": 1}, headers=ana)).json()
    after = (await get("/v1/memories", params={"categories": "c", "before": new["next"]}, headers=ana)).json()
    assert [one["key"] for one in after["memories"]] == ["key_1"]
    lines = (await get("/v1/audit", params={"after": 2}, headers=ana)).json()
    assert len({line["tenant"] for line in lines["events"]}) == 1
    assert (await get("/v1/memories/count", headers=ana)).json() == {"count": 3}
    assert (await get("/v1/whoami", headers=ana)).json()["roles"] == ["operator", "reader", "subject", "writer"]


async def test_a_correction_names_the_version_in_its_body(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    memory_id = await added(running, ana)
    place = f"/v1/memories/{memory_id}"
    told = {"content": "window", "expected_version": 7}
    assert (await running.client.patch(place, json=told, headers=ana)).status_code == 412
    told = {"content": "window", "expected_version": 1, "data": {"row": 12}, "context": "on planes"}
    assert (await running.client.patch(place, json=told, headers=ana)).json()["version"] == 2
    memory = (await running.client.get(place, headers=ana)).json()
    assert (memory["content"], memory["data"], memory["context"]) == ("window", {"row": 12}, "on planes")


async def test_each_of_many_has_its_idempotency_key_or_none_has(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    told = {"memories": [SEAT, {"content": "x"}], "idempotency_keys": ["a"]}
    refused = await running.client.post("/v1/memories/batch", json=told, headers=ana)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:idempotency_keys")


async def test_upkeep_is_for_operators_and_says_all_it_did(running: Running) -> None:
    otto = await running.caller("operator")
    post, get = running.client.post, running.client.get
    report = (await post("/v1/maintenance", params={"dry_run": "true"}, headers=otto)).json()
    assert (report["dry_run"], report["expiry"]["expired"], report["aged"]) == (True, 0, 0)
    assert (await post("/v1/consolidations", params={"dry_run": "true"}, headers=otto)).json()["made"] == {}
    assert (await get("/v1/doctor", headers=otto)).json()["oldest_waiting"] is None
    ana = await running.caller("reader", "writer")
    for call in (post("/v1/consolidations", headers=ana), get("/v1/doctor", headers=ana)):
        assert (await call).status_code == 403


async def test_no_least_relevance_is_as_none_given(running: Running) -> None:
    await added(running, await running.caller("writer"))
    reader = await running.caller("reader")
    answers = [
        await running.client.post("/v1/search", json={"query": "seat", **more}, headers=reader)
        for more in ({}, {"min_score": None})
    ]
    assert [one.status_code for one in answers] == [200, 200]
    assert answers[0].json()["hits"] == answers[1].json()["hits"] != []
