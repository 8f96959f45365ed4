"""Lineage, uses, undo, rollback, reveal; policy, quotas, overview; imports; runs; changes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import httpx
import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, AuditEvent, Deadline, Vector
from mnemic.write.pipeline import BATCH
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys
from mnemic_server.problems import Refusal
from mnemic_server.request_limits import RequestLimits
from mnemic_server.streams import Streams, changes
from tests.unit.server.conftest import Running

SEATS = ("aisle", "window", "exit row")


async def post(running: Running, path: str, body: Any, headers: dict[str, str]) -> Any:
    answer = await running.client.post(path, json=body, headers=headers)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def get(running: Running, path: str, headers: dict[str, str]) -> Any:
    answer = await running.client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def seats(running: Running, headers: dict[str, str]) -> list[str]:
    """Three values under one key, each in the place of the one before."""
    receipts = []
    for seat in SEATS:
        receipts.append(await post(running, "/v1/memories", {"content": seat, "key": "seat"}, headers))
        running.tick()
    return [receipt["memory_id"] for receipt in receipts]


async def test_lineage_goes_back_and_on(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    first, second, third = await seats(running, ana)
    middle = await get(running, f"/v1/memories/{second}/lineage", ana)
    assert middle["memory"]["content"] == "window"
    assert [one["memory_id"] for one in middle["earlier"]] == [first]
    assert [one["memory_id"] for one in middle["later"]] == [third]
    last = await get(running, f"/v1/memories/{third}/lineage", ana)
    assert [one["content"] for one in last["earlier"]] == ["window", "aisle"]
    assert last["complete"] is True
    foreign = await running.client.get(
        f"/v1/memories/{third}/lineage", headers=await running.caller("reader", user="ben")
    )
    assert foreign.status_code == 404


async def test_uses_tell_who_wrote_and_which_run_had_it(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    *_, third = await seats(running, ana)
    ran = await post(running, "/v1/runs", {"goal": "Which seat do I like?"}, ana)
    found = await get(running, f"/v1/memories/{third}/uses", ana)
    assert [one["action"] for one in found["uses"]] == ["injected", "created"]
    assert found["uses"][0]["run_id"] == ran["run_id"]
    assert found["next"] is None
    page = await get(running, f"/v1/memories/{third}/uses?limit=1", ana)
    behind = await get(running, f"/v1/memories/{third}/uses?limit=1&before={page['next']}", ana)
    assert behind["uses"] == found["uses"][1:]


async def test_a_run_can_be_followed_from_what_was_found_to_what_was_verified(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", user="ben")
    *_, third = await seats(running, ana)
    ran = await post(running, "/v1/runs", {"goal": "Which seat do I like?"}, ana)
    listed = await get(running, "/v1/runs", ana)
    assert [one["run_id"] for one in listed["runs"]] == [ran["run_id"]]
    one = await get(running, f"/v1/runs/{ran['run_id']}", ana)
    assert one["retrieved"] == one["injected"] == [third]
    assert [step["phase"] for step in one["steps"]] == ["retrieve", "apply"]
    assert [memory["content"] for memory in one["memories"]] == ["exit row"]
    assert "Which seat" not in json.dumps([one, listed])
    assert (await get(running, "/v1/runs", ben))["runs"] == []
    assert (await running.client.get(f"/v1/runs/{ran['run_id']}", headers=ben)).status_code == 404


async def test_a_turn_tells_its_steps_as_they_end(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    await seats(running, ana)
    answer = await running.client.post("/v1/runs/stream", json={"goal": "Which seat do I like?"}, headers=ana)
    events = [block.split("\n") for block in answer.text.strip().split("\n\n")]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert [lines[0] for lines in events] == ["event: step", "event: step", "event: report"]
    report = json.loads(events[-1][1].removeprefix("data: "))
    assert report["trace"][-1]["phase"] == json.loads(events[1][1].removeprefix("data: "))["phase"] == "apply"
    refused = await running.client.post("/v1/runs/stream", json={}, headers=ana)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:run")


async def test_a_turn_that_is_told_as_it_goes_is_not_cut_off_at_the_deadline_of_an_answer() -> None:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    transport = httpx.ASGITransport(app=create_app(engine, bounds=RequestLimits(seconds=1e-9)))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        _, text = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=["writer"], user="ana")
        headers, turn = {"Authorization": f"Bearer {text}"}, {"goal": "Which seat do I like?"}
        at_once = await client.post("/v1/runs", json=turn, headers=headers)
        told = await client.post("/v1/runs/stream", json=turn, headers=headers)
    assert at_once.json()["reason"] == "max_seconds"
    assert told.text.strip().split("\n\n")[-1].startswith("event: report")


async def test_a_batch_that_takes_too_long_says_what_is_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rather than to end with 503 and a part that is stored, without a word of which."""
    clock = ManualClock()
    monkeypatch.setattr("mnemic_server.request_limits.monotonic", clock.monotonic)

    class Slow(WordEmbedder):
        async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
            clock.advance(timedelta(seconds=13))
            return await super().embed(texts, deadline=deadline)

    engine = MemoryEngine(store=InProcessStore(), embedder=Slow())
    transport = httpx.ASGITransport(app=create_app(engine, bounds=RequestLimits(seconds=30)))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        _, text = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=["writer"], user="ana")
        batch = {"memories": [{"content": f"Parcel {number} is for Oslo."} for number in range(3 * BATCH)]}
        answer = await client.post("/v1/memories/batch", json=batch, headers={"Authorization": f"Bearer {text}"})
        held = await engine.count(actor=Actor(tenant="acme", user="ana"))
    told = Counter((one["outcome"], one["reason"]) for one in answer.json()["receipts"])
    assert told.keys() == {("created", None), ("blocked", "embedder_failed:timeout"), ("blocked", "max_seconds")}
    assert told.total() == len(batch["memories"])
    assert held == told["created", None] >= BATCH


async def test_a_change_is_taken_back_and_a_version_said_again(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    _, second, third = await seats(running, ana)
    undone = await post(running, f"/v1/memories/{third}/undo", None, ana)
    assert undone["restored"] == [second]
    await running.client.patch(f"/v1/memories/{second}", json={"content": "middle"}, headers=ana)
    rolled = await post(running, f"/v1/memories/{second}/rollback", {"version": 1}, ana)
    assert rolled["memory_id"] == second
    assert (await get(running, f"/v1/memories/{second}", ana))["content"] == "window"
    again = await running.client.post(f"/v1/memories/{second}/rollback", json={"version": 99}, headers=ana)
    assert (again.status_code, again.json()["reason"]) == (422, "invalid_input:version")


async def test_history_and_lists_tell_what_was_believed_and_true_then(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    before = running.clock.now().isoformat()
    running.tick()
    first, *_ = await seats(running, ana)
    then = {"known_at": before}
    assert (await running.client.get("/v1/memories", params=then, headers=ana)).json()["memories"] == []
    assert (await running.client.get(f"/v1/memories/{first}", params=then, headers=ana)).status_code == 404
    versions = (await get(running, f"/v1/memories/{first}/history", ana))["versions"]
    known = {"known_at": versions[0]["created_at"]}
    past = await running.client.get(f"/v1/memories/{first}/history", params=known, headers=ana)
    assert [one["status"] for one in past.json()["versions"]] == ["active"]
    found = await post(running, "/v1/search", {"query": "seat", **known}, ana)
    assert [hit["memory"]["content"] for hit in found["hits"]] == ["aisle"]


async def test_a_search_counts_days_from_when_it_is_asked(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    said = [
        {"role": "user", "content": "Bought a lamp.", "session": f"s{day}", "sent_at": f"2024-05-{day:02}T09:00:00Z"}
        for day in (20, 6, 1)
    ]
    await post(running, "/v1/messages", {"messages": said}, ana)
    for asked, day in (("2024-05-20T12:00:00Z", "06"), ("2024-05-15T12:00:00Z", "01")):
        wanted = {"query": "Which lamp did I buy two weeks ago?", "asked_at": asked}
        found = await post(running, "/v1/search", wanted, ana)
        assert found["hits"][0]["memory"]["occurred_at"].startswith(f"2024-05-{day}"), asked
    for asked in ("2024-05-20T12:00:00", "2024-05-20"):
        refused = await running.client.post("/v1/search", json={**wanted, "asked_at": asked}, headers=ana)
        assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:asked_at"), asked


async def test_reveal_is_for_the_roles_that_the_policy_names(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    *_, third = await seats(running, ana)
    answer = await running.client.post(f"/v1/memories/{third}/reveal", headers=ana)
    assert answer.status_code == 501  # without a key file nothing is sealed
    assert answer.json()["reason"] == "not_supported:reveal"


async def test_a_policy_is_read_and_another_one_tried_without_changing_anything(running: Running) -> None:
    ana, olga = await running.caller("reader", "writer"), await running.caller("operator", user="olga")
    *_, third = await seats(running, ana)
    await post(running, "/v1/memories", {"content": "Kayaks are fun."}, ana)
    present = await get(running, "/v1/policy", olga)
    assert present["levels"] == ["agent", "session", "user", "workspace"]
    same = await post(running, "/v1/policy/trial", {"policy": present}, olga)
    assert (same["looked_at"], same["refused"], same["changed"]) == (4, {}, [])

    stricter = await post(running, "/v1/policy/trial", {"policy": {"keys": {"diet": {}}}}, olga)
    assert stricter["refused"] == {"memory_key_not_allowed_policy:seat": 3, "invalid_memory_candidates:missing_keys": 1}
    assert third in {one["memory_id"] for one in stricter["changed"]}
    assert await get(running, "/v1/policy", olga) == present
    wrong = await running.client.post("/v1/policy/trial", json={"policy": {"kees": {}}}, headers=olga)
    assert (wrong.status_code, wrong.json()["reason"]) == (422, "invalid_config:policy:kees")
    first = await post(running, "/v1/policy/trial?limit=3", {"policy": {}}, olga)
    rest = await post(running, f"/v1/policy/trial?limit=3&cursor={first['next']}", {"policy": {}}, olga)
    assert (rest["looked_at"], rest["next"]) == (1, None)


async def test_quotas_kinds_and_the_overview_count_what_is_there(running: Running) -> None:
    ana, olga = await running.caller("reader", "writer"), await running.caller("operator", user="olga")
    await seats(running, ana)
    for query in ("seat", "seat"):
        await post(running, "/v1/search", {"query": query}, ana)
    await post(running, "/v1/search", {"query": "seat", "kinds": ["episodic"]}, ana)
    quotas = await get(running, "/v1/quotas", ana)
    assert quotas["quotas"][0]["used"] == {"user.rows": 0.3}
    assert quotas["held"]["long_term"]["rows"] == 3
    assert (await get(running, "/v1/tenant/quotas", olga))["quotas"] == []
    kinds = {one["kind"]: one for one in (await get(running, "/v1/kinds", ana))["kinds"]}
    assert len(kinds) == 7
    assert (kinds["long_term"]["held"], kinds["long_term"]["retention_days"]) == (3, None)

    overview = await get(running, "/v1/overview", olga)
    assert overview["held"]["long_term"] == {**overview["held"]["long_term"], "rows": 3, "recent": 3}
    assert overview["process"]["searches"] == {"found": 2, "empty": 1, "hit_rate": 0.6667}
    assert overview["process"]["models"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    search = next(one for one in overview["process"]["latency"] if one["route"] == "/v1/search")
    assert search["count"] == 3
    assert 0 < search["p50_ms"] <= search["p99_ms"]


async def test_an_import_goes_on_where_it_stopped(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    told = [{"content": f"The boat number {n} has {n} oars."} for n in range(5)]
    assert (await running.client.get("/v1/imports/boats", headers=ana)).status_code == 404
    first = await post(running, "/v1/imports/boats", {"at": 0, "memories": told[:2]}, ana)
    assert (first["taken"], first["outcomes"]) == (2, {"created": 2})
    gap = await running.client.post("/v1/imports/boats", json={"at": 3, "memories": told[3:]}, headers=ana)
    assert (gap.status_code, gap.json()["reason"]) == (422, "invalid_input:import:gap")
    overlapping = await post(running, "/v1/imports/boats", {"at": 0, "memories": told}, ana)
    assert (overlapping["taken"], len(overlapping["receipts"])) == (5, 3)
    again = await post(running, "/v1/imports/boats", {"at": 0, "memories": told}, ana)
    assert (again["taken"], again["receipts"]) == (5, [])
    assert (await get(running, "/v1/imports/boats", ana))["outcomes"] == {"created": 5}
    held = (await get(running, "/v1/memories", ana))["memories"]
    assert {one["source"]["origin"] for one in held} == {"import"}
    assert len(held) == 5
    assert (await running.client.get("/v1/imports/boats", headers=ben)).status_code == 404
    assert (await running.client.post("/v1/imports/boats/undo", headers=ben)).status_code == 422
    undone = await post(running, "/v1/imports/boats/undo", {}, ana)
    assert (len(undone["forgotten"]), undone["changed_since"]) == (5, [])
    assert (await get(running, "/v1/memories", ana))["memories"] == []

    subject = await running.caller("subject")
    await running.erased(subject)
    later = await running.caller("reader", "writer")
    assert (await running.client.get("/v1/imports/boats", headers=later)).status_code == 404


async def told(stream: AsyncIterator[bytes], count: int) -> list[tuple[str, Any]]:
    """The next `count` changes: their ids and data."""
    found = []
    while len(found) < count:
        lines = (await anext(stream)).decode().split("\n")
        if "event: change" in lines:
            found.append((lines[0].removeprefix("id: "), json.loads(lines[2].removeprefix("data: "))))
    return found


async def test_changes_are_told_in_order_and_taken_up_again(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    store, scope = running.engine.store, (await running.keys.all())[0].principal.actor.scope("user")
    streams = Streams(poll_seconds=0.001)

    async def allowed() -> bool:
        return True

    def own(event: AuditEvent) -> dict[str, Any] | None:
        return {"memory_id": event.memory_id, "action": event.action} if event.scope == scope else None

    def watched(after: int | None) -> AsyncIterator[bytes]:
        return changes(store, "acme", own, streams, after=after, still_allowed=allowed)

    first = watched(None)
    assert (await anext(first)).startswith(b": from ")
    await post(running, "/v1/memories", {"content": "Kayaks are Ben's."}, ben)
    ids = await seats(running, ana)
    seen = await told(first, 3)
    assert [one["memory_id"] for _, one in seen] == [ids[0], ids[0], ids[1]]
    assert [one["action"] for _, one in seen] == ["created", "superseded", "created"]
    again = await told(watched(int(seen[0][0])), 2)
    assert again == seen[1:]
    streams.stopping.set()
    assert [one async for one in watched(2**40)] == [b": from 1099511627776\n\n"]


async def test_a_stream_ends_when_its_credential_does(running: Running) -> None:
    streams = Streams(poll_seconds=0.001, alive_seconds=0.001)

    async def revoked() -> bool:
        return False

    stream = changes(running.engine.store, "acme", lambda _: None, streams, after=0, still_allowed=revoked)
    assert [one async for one in stream] == [b": from 0\n\n"]


def test_one_caller_has_a_bounded_number_of_streams() -> None:
    streams = Streams(most=3, per_caller=2)
    with streams.place("a", "a"), streams.place("a", "a"):
        with pytest.raises(Refusal, match="too_many_streams"), streams.place("a", "a"):
            pass
        with streams.place("b", "b"), pytest.raises(Refusal), streams.place("c", "c"):
            pass
    with streams.place("a", "a"):
        pass


def test_one_tenant_does_not_take_every_stream() -> None:
    streams = Streams(most=8, per_caller=2)
    with ExitStack() as listening:
        for number in range(7):
            listening.enter_context(streams.place(f"caller {number}", "rival"))
        with pytest.raises(Refusal, match="too_many_streams"), streams.place("another", "rival"):
            pass
        with streams.place("ana", "acme"):
            pass


async def test_stewards_see_the_tenant_and_others_do_not(running: Running) -> None:
    running.streams.stopping.set()
    for roles, status in ((("reader",), 403), (("reviewer",), 200), (("operator",), 200)):
        headers = await running.caller(*roles)
        answer = await running.client.get("/v1/changes?whole_tenant=true&after=0", headers=headers)
        assert answer.status_code == status
    await seats(running, await running.caller("writer"))
    answer = await running.client.get(
        "/v1/changes", params={"whole_tenant": True, "after": 0}, headers=await running.caller("operator", user="olga")
    )
    assert answer.text.count("event: change") == 5
    assert "aisle" not in answer.text
    own = await running.client.get("/v1/changes?after=0", headers=await running.caller("reader", user="ben"))
    assert "event: change" not in own.text
