"""The conversation in progress over HTTP, what goes across kinds, and upkeep by rules."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.models.openai_completer import OpenAICompleter
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.types import Actor
from mnemic_server.session_names import in_session
from tests.scripted_model import ScriptedModelServer
from tests.unit.server.conftest import Running

IN_TRIP = {"Mnemic-Session": "trip"}


async def refused(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["reason"]


async def test_messages_are_kept_in_the_callers_own_session(running: Running) -> None:
    running.engine.sessions = InProcessSessions(running.clock)
    ana = await running.caller("reader", "writer") | IN_TRIP
    ben = await running.caller("reader", user="ben") | IN_TRIP
    said = {"role": "user", "content": "My card is 4111 1111 1111 1111."}
    made = await running.client.post("/v1/session/messages", json=said, headers=ana)
    assert "4111" not in made.json()["content"]
    kept = (await running.client.get("/v1/session/messages", headers=ana)).json()["messages"]
    assert kept == [made.json()]
    assert (await running.client.get("/v1/session/messages", headers=ben)).json() == {"messages": []}
    done = await running.client.post("/v1/session/compaction", json={}, headers=ana)
    assert (done.json()["summary"], done.json()["folded"]) == (None, 0)
    assert await refused(await running.client.delete("/v1/session", headers=ben)) == (403, "role_required:writer")
    assert (await running.client.delete("/v1/session", headers=ana)).status_code == 204
    assert (await running.client.get("/v1/session/messages", headers=ana)).json() == {"messages": []}


async def test_without_a_session_or_a_store_for_it_there_is_no_conversation(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    assert await refused(await running.client.get("/v1/session/messages", headers=ana | IN_TRIP)) == (
        501,
        "not_supported:short_term",
    )
    running.engine.sessions = InProcessSessions(running.clock)
    assert await refused(await running.client.get("/v1/session/messages", headers=ana)) == (
        422,
        "invalid_input:scope:session",
    )


def test_a_session_is_its_users_and_that_of_a_token_stays() -> None:
    ana, ben = Actor(user="ana"), Actor(user="ben")
    assert in_session(ana, None) is ana
    own = in_session(ana, "trip%20%C3%A9/1").session
    assert own is not None
    assert own.startswith("trip1@")
    assert own == in_session(ana, "trip%20%C3%A9/1").session != in_session(ben, "trip%20%C3%A9/1").session
    token = Actor(user="ana", session="of-the-token")
    assert in_session(token, "trip") is token
    assert in_session(Actor(user='a","b'), "c").session != in_session(Actor(user="a"), 'b","c').session


async def test_what_is_found_across_kinds_is_the_callers(running: Running) -> None:
    running.engine.sessions = InProcessSessions(running.clock)
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", user="ben")
    await running.client.post("/v1/memories", json={"content": "I enjoy skiing."}, headers=ana)
    said = {"content": "Skiing in May?"}
    await running.client.post("/v1/session/messages", json=said, headers=ana | IN_TRIP)
    wanted = {"query": "skiing"}
    found = (await running.client.post("/v1/retrieve", json=wanted, headers=ana | IN_TRIP)).json()
    assert {(one["kind"], one["memory"] is None) for one in found["hits"]} == {
        ("long_term", False),
        ("short_term", True),
    }
    plain = (await running.client.post("/v1/retrieve", json=wanted, headers=ana)).json()
    assert ([one["kind"] for one in plain["hits"]], plain["errors"]) == (["long_term"], {})
    assert (await running.client.post("/v1/retrieve", json=wanted, headers=ben | IN_TRIP)).json()["hits"] == []
    asked = wanted | {"kinds": ["short_term"]}
    assert await refused(await running.client.post("/v1/retrieve", json=asked, headers=ana)) == (
        422,
        "invalid_input:scope:session",
    )


async def test_a_text_is_redacted_and_not_kept(running: Running) -> None:
    ana = await running.caller("reader")
    told = await running.client.post("/v1/redactions", json={"text": "Write to ana@example.org."}, headers=ana)
    assert "ana@example.org" not in told.json()["text"]
    assert (await running.client.get("/v1/memories", headers=ana)).json()["memories"] == []


async def test_many_messages_are_captured_in_one_call(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    said = [{"content": "I live in Oslo."}, {"role": "assistant", "content": "Nice."}, {"content": "I am vegetarian."}]
    body = {"messages": said, "idempotency_keys": ["a", None, "b"]}
    reports = (await running.client.post("/v1/capture/batch", json=body, headers=ana)).json()["reports"]
    assert [None if one is None else [each["key"] for each in one["receipts"]] for one in reports] == [
        ["home_city"],
        None,
        ["diet"],
    ]
    short = body | {"idempotency_keys": ["a"]}
    assert await refused(await running.client.post("/v1/capture/batch", json=short, headers=ana)) == (
        422,
        "invalid_input:idempotency_keys",
    )


async def test_upkeep_takes_rules_from_operators_alone(running: Running) -> None:
    olga, ana = await running.caller("operator", user="olga"), await running.caller("reader", "writer")
    rules = {"grace": "P1D", "hard_kinds": ["episodic"]}
    done = await running.client.post("/v1/expiry", json={"rules": rules, "dry_run": True}, headers=olga)
    assert (done.json()["dry_run"], done.json()["purged"]) == (True, 0)
    wrong = await running.client.post("/v1/expiry", json={"rules": {"grace": "soon"}}, headers=olga)
    assert await refused(wrong) == (422, "invalid_input:grace")
    for place in ("/v1/expiry", "/v1/consolidations"):
        assert await refused(await running.client.post(place, json={}, headers=ana)) == (403, "role_required:operator")
    bare = await running.client.post("/v1/consolidations", headers=olga)  # as callers of earlier releases ask
    assert (bare.status_code, bare.json()["cost"]["calls"]) == (200, 0)


@pytest.mark.parametrize(("by", "calls"), [("rules", 0), ("model", 1)])
async def test_a_model_writes_what_is_drawn_together_where_the_rules_say_so(
    running: Running, by: str, calls: int
) -> None:
    olga, ana = await running.caller("operator", user="olga"), await running.caller("reader", "writer")
    said = [{"content": f"On day {day} we sailed to Bergen.", "session": "s1"} for day in range(1, 9)]
    await running.client.post("/v1/messages", json={"messages": said}, headers=ana)
    for _ in range(7200):
        running.tick()
    with ScriptedModelServer([{"lines": ["They sailed to Bergen."]}] * 4) as server:
        running.engine.completer = OpenAICompleter(model="scripted", base_url=server.base_url, api_key="test")
        body = {"rules": {"by": by, "most": 1, "quiet": "PT1H"}}
        done = await running.client.post("/v1/consolidations", json=body, headers=olga)
        assert done.status_code == 200, done.text
        assert (len(server.requests) > 0) is (calls > 0)
        await running.engine.completer.close()


async def test_the_document_of_a_person_is_theirs_or_an_operators(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer", "subject"), await running.caller("subject", user="ben")
    olga, app = await running.caller("operator", user="olga"), await running.caller("operator", user=None)
    await running.client.post("/v1/memories", json={"content": "I like sailing."}, headers=ana)
    own = await running.client.get("/v1/export/subject", headers=ana)
    assert (own.headers["content-type"], own.json()["format"]) == ("application/json", "mnemic-subject/1")
    assert [one["content"] for one in own.json()["memories"]] == ["I like sailing."]
    page = await running.client.get("/v1/export/subject?form=html", headers=ana)
    assert page.headers["content-type"].startswith("text/html")
    assert "I like sailing." in page.text
    other = await running.client.get("/v1/export/subject?subject=ana", headers=olga)
    assert other.json()["memories"] == own.json()["memories"]
    assert await refused(await running.client.get("/v1/export/subject?subject=ana", headers=ben)) == (
        403,
        "role_required:operator",
    )
    assert await refused(await running.client.get("/v1/export/subject", headers=app)) == (422, "invalid_input:subject")
    assert await refused(await running.client.get("/v1/export/subject?subject=ana&values=true", headers=olga)) == (
        403,
        "reveal_denied:subject",
    )
    asked = [one.action for one in await running.engine.audit(actor=Actor(tenant="acme", user="olga"))]
    assert asked.count("exported") == 3
