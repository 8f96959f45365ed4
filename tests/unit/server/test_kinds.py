"""Episodes, entities, structured data and personas over HTTP."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import mnemic_travel
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.structured.structured_memory import StructuredMemory
from tests.scripted_model import ScriptedModelServer
from tests.unit.server.conftest import Running

BOATS = {
    "task": "Rent a boat in Bergen",
    "steps": [
        {"action": "call the harbour", "result": "nobody answers", "ok": False},
        {"action": "book online", "result": "confirmed", "ok": True},
    ],
    "outcome": "success",
}
FLIGHT = {
    "@type": "FlightReservation",
    "reservationNumber": "XK4P2Q",
    "reservationFor": {
        "@type": "Flight",
        "airline": {"iataCode": "LH", "name": "Lufthansa"},
        "flightNumber": "430",
        "departureAirport": {"iataCode": "FRA"},
        "arrivalAirport": {"iataCode": "ORD"},
        "departureTime": "2026-12-01T10:35:00+01:00",
    },
}


async def post(running: Running, path: str, body: Any, headers: dict[str, str]) -> Any:
    answer = await running.client.post(path, json=body, headers=headers)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def test_an_episode_is_kept_whole_and_teaches(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    made = await post(running, "/v1/episodes", {**BOATS, "episode_id": "e1"}, ana)
    again = await post(running, "/v1/episodes", {**BOATS, "episode_id": "e1"}, ana)
    assert (again["memory_id"], again["replayed"]) == (made["memory_id"], True)

    await post(running, f"/v1/episodes/{made['memory_id']}/feedback", {"content": "That was quick."}, ana)
    page = (await running.client.get("/v1/episodes", headers=ana)).json()
    assert [(one["task"], one["outcome"], one["feedback"]) for one in page["episodes"]] == [
        ("Rent a boat in Bergen", "success", ["That was quick."])
    ]
    one = (await running.client.get(f"/v1/episodes/{made['memory_id']}", headers=ana)).json()
    assert one == page["episodes"][0]
    lessons = await post(running, "/v1/episodes/lessons", {"task": "rent a boat"}, ana)
    assert [(one["action"], one["worked"]) for one in lessons["lessons"]] == [("call the harbour", "book online")]
    similar = await post(running, "/v1/episodes/similar", {"task": "rent a boat", "outcome": "failure"}, ana)
    assert similar == {"episodes": []}


async def test_episodes_come_in_pages_and_what_is_none_is_not_found(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    for number in range(3):
        await post(running, "/v1/episodes", {**BOATS, "task": f"Rent boat {number}"}, ana)
    first = (await running.client.get("/v1/episodes?limit=2", headers=ana)).json()
    rest = (await running.client.get(f"/v1/episodes?limit=2&cursor={first['next']}", headers=ana)).json()
    assert [one["task"] for one in first["episodes"] + rest["episodes"]] == [f"Rent boat {n}" for n in (2, 1, 0)]
    assert rest["next"] is None
    kept = await post(running, "/v1/memories", {"content": "I like boats."}, ana)
    absent = await running.client.get(f"/v1/episodes/{kept['memory_id']}", headers=ana)
    assert (absent.status_code, absent.json()["reason"]) == (404, "memory_not_found")


async def test_entities_stand_to_each_other_and_belong_to_one_user(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    await post(running, "/v1/entities", {"name": "Robert", "label": "person", "aliases": ["Bob"]}, ana)
    relation = {"source": "me", "relation": "sibling", "target": "Robert"}
    assert (await post(running, "/v1/entities/relations", relation, ana))["outcome"] == "created"
    told = await post(running, "/v1/entities/extract", {"text": "My sister Eva works at Siemens."}, ana)
    assert told["receipts"]

    known = (await running.client.get("/v1/entities", headers=ana)).json()["entities"]
    assert {"Robert", "Eva", "Siemens"} <= {one["name"] for one in known}
    near = (await running.client.get("/v1/entities/neighbours?name=Bob", headers=ana)).json()["neighbours"]
    assert [(one["name"], one["hops"]) for one in near] == [("the user", 1)]
    way = (await running.client.get("/v1/entities/path?source=Bob&target=Siemens", headers=ana)).json()["path"]
    assert way[0]["memory_id"]
    assert len(way) == 3
    ended = await post(running, "/v1/entities/relations/end", relation, ana)
    assert ended["receipt"]["outcome"] == "superseded"
    assert (await running.client.get("/v1/entities/neighbours?name=Bob", headers=ana)).json() == {"neighbours": []}

    assert (await running.client.get("/v1/entities", headers=ben)).json() == {"entities": []}
    assert (await running.client.get("/v1/entities/path?source=me&target=Bob", headers=ben)).json() == {"path": None}


async def test_structured_data_is_checked_found_by_fields_and_revised(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    shapes = (await running.client.get("/v1/structured", headers=ana)).json()["shapes"]
    assert "FlightReservation" in {one["name"] for one in shapes}
    await post(running, "/v1/structured/FlightReservation", {"data": FLIGHT}, ana)
    found = await post(
        running, "/v1/structured/FlightReservation/query", {"where": {"reservationNumber": "XK4P2Q"}}, ana
    )
    assert [one["kind"] for one in found["memories"]] == ["structured"]
    refused = await running.client.post("/v1/structured/Nonsense", json={"data": {}}, headers=ana)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:shape")
    read = await post(running, "/v1/structured/extract", {"text": "Nothing is booked here."}, ana)
    assert read == {"data": [], "degraded": None}


async def test_what_a_package_does_that_is_not_installed_is_not_offered_here(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """501, as for a store that keeps no relations: the request is none that its caller could put right."""
    monkeypatch.setitem(StructuredMemory.__init__.__kwdefaults__, "readers", list)
    answer = await running.client.post(
        "/v1/structured/FlightReservation/query", json={"where": {}}, headers=await running.caller("reader")
    )
    assert (answer.status_code, answer.json()["reason"]) == (501, "missing_extra:travel")


async def test_a_trait_waits_for_review_and_is_then_what_the_agent_is_like(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reviewer", user="ben")
    learnt = await post(running, "/v1/persona/traits", {"trait": "Answers in short sentences."}, ana)
    assert learnt["outcome"] == "pending_review"
    assert (await running.client.get("/v1/persona", headers=ana)).json()["traits"] == []
    await post(running, f"/v1/reviews/{learnt['memory_id']}/approval", {}, ben)
    persona = (await running.client.get("/v1/persona", headers=ana)).json()
    assert (persona["agent"], persona["profile"]["role"]) == ("default", "a travel agent")
    assert [one["content"] for one in persona["traits"]] == ["Answers in short sentences."]
    text = (await running.client.get("/v1/persona/prompt", headers=ana)).json()["text"]
    assert "short sentences" in text
    history = await running.client.get(f"/v1/persona/traits/{learnt['memory_id']}/history", headers=ana)
    assert [one["status"] for one in history.json()["versions"]] == ["pending_review", "active"]


async def test_a_text_is_read_beside_the_event_loop(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    read_in: list[bool] = []
    read_reservations = mnemic_travel.read_reservations

    def noted(*arguments: Any, **named: Any) -> Any:
        read_in.append(threading.current_thread() is threading.main_thread())
        return read_reservations(*arguments, **named)

    monkeypatch.setattr(mnemic_travel, "read_reservations", noted)
    answer = await running.client.post(
        "/v1/structured/extract", json={"text": "x" + "\n" * 1000 + "y"}, headers=await running.caller("reader")
    )
    assert (answer.status_code, answer.json()) == (200, {"data": [], "degraded": None})
    assert read_in == [False]


async def test_what_supports_a_trait_is_its_authors_alone(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", user="ben")
    reviewer = await running.caller("reviewer", user="rita")
    said = {"trait": "Mentions loyalty points.", "evidence": "CANARYevidence my lawyer is Kim"}
    learnt = await post(running, "/v1/persona/traits", said, ana)
    address = f"/v1/persona/traits/{learnt['memory_id']}/history"
    assert (await running.client.get(address, headers=ben)).status_code == 404
    assert "CANARY" in (await running.client.get(address, headers=ana)).text
    await post(running, f"/v1/reviews/{learnt['memory_id']}/approval", {}, reviewer)
    for path in (address, "/v1/persona", f"/v1/memories/{learnt['memory_id']}", "/v1/persona/prompt"):
        answer = await running.client.get(path, headers=ben)
        assert answer.status_code == 200, path
        assert "CANARY" not in answer.text, path
    found = await running.client.post("/v1/search", json={"query": "loyalty points"}, headers=ben)
    assert "loyalty" in found.text
    assert "CANARY" not in found.text


async def test_an_episode_is_walked_step_by_step_by_its_user_alone(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", user="ben")
    made = await post(running, "/v1/episodes", BOATS, ana)
    place = f"/v1/episodes/{made['memory_id']}/walk"
    walked = (await running.client.get(place, headers=ana)).json()["neighbours"]
    assert [one["name"] for one in walked] == ["call the harbour", "book online", "success"]
    assert (await running.client.get(place, headers=ben)).status_code == 404


async def test_two_names_are_joined_and_parted_by_a_writer(running: Running) -> None:
    ana, reader = await running.caller("reader", "writer"), await running.caller("reader")
    for name in ("Robert", "Bob"):
        await post(running, "/v1/entities", {"name": name, "label": "person"}, ana)
    pair = {"name": "Bob", "other": "Robert"}
    assert (await post(running, "/v1/entities/same", pair, ana))["outcome"] == "created"
    known = (await running.client.get("/v1/entities?label=person", headers=ana)).json()["entities"]
    assert [one["name"] for one in known] == ["Robert"]
    assert (await post(running, "/v1/entities/apart", pair, ana))["receipt"]["outcome"] == "superseded"
    assert (await post(running, "/v1/entities/apart", pair, ana)) == {"receipt": None}
    for verb in ("same", "apart"):
        refused = await running.client.post(f"/v1/entities/{verb}", json=pair, headers=reader)
        assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:writer")


async def test_a_message_is_read_as_what_its_role_is(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    said = {"role": "assistant", "content": "My sister Eva works at Siemens."}
    told = await post(running, "/v1/entities/extract", {"message": said}, ana)
    assert told["receipts"] == []
    for body in ({}, {"text": "I know Eva.", "message": said}):
        refused = await running.client.post("/v1/entities/extract", json=body, headers=ana)
        assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:body")


async def test_a_shape_is_told_whole_where_it_is_asked_for(running: Running) -> None:
    ana = await running.caller("reader")
    brief = (await running.client.get("/v1/structured", headers=ana)).json()["shapes"]
    whole = (await running.client.get("/v1/structured?whole=true", headers=ana)).json()["shapes"]
    assert {frozenset(one) for one in brief} == {frozenset({"name", "identity"})}
    (flight,) = (one for one in whole if one["name"] == "FlightReservation")
    assert (flight["person"], flight["modified"]) == ("underName", "modifiedTime")
    assert "reservationNumber" in flight["json_schema"]["properties"]


SLOW = {"type": "object", "properties": {"name": {"type": "string", "pattern": "^(A+)+$"}}}


async def test_a_text_is_read_by_a_schema_of_the_caller_that_nothing_here_runs(running: Running) -> None:
    """The model sees it; its patterns are the caller's to run, for they could take any time."""
    ana = await running.caller("reader", "writer")
    name = "A" * 40 + "!"
    wanted = {"text": f"She is called {name}", "name": "Boat", "json_schema": SLOW}
    absent = await running.client.post("/v1/structured/extract", json=wanted, headers=ana)
    assert (absent.status_code, absent.json()["reason"]) == (501, "not_supported:extract:Boat")
    with ScriptedModelServer([{"found": [{"name": name}]}]) as server:
        running.engine.completer = OpenAICompleter(model="scripted", base_url=server.base_url, api_key="test")
        assert await post(running, "/v1/structured/extract", wanted, ana) == {
            "data": [{"name": name}],
            "degraded": None,
        }
        assert "^(A+)+$" in server.requests[0].user
        await running.engine.completer.close()


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        ({"json_schema": SLOW}, "invalid_input:name"),
        ({"name": "Boat", "json_schema": {"typo": 1}}, "invalid_config:schema:typo"),
        ({"name": "Boat", "json_schema": {"title": "x" * 40_000}}, "invalid_input:json_schema"),
    ],
)
async def test_a_schema_that_cannot_be_used_is_refused(running: Running, wanted: Any, reason: str) -> None:
    ana = await running.caller("reader")
    answer = await running.client.post("/v1/structured/extract", json={"text": "A boat."} | wanted, headers=ana)
    assert (answer.status_code, answer.json()["reason"]) == (422, reason)


async def test_data_of_a_lower_origin_changes_nothing_of_a_higher(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    await post(running, "/v1/structured/FlightReservation", {"data": FLIGHT}, ana)
    other = {**FLIGHT, "reservationStatus": "ReservationCancelled"}
    told = await post(running, "/v1/structured/FlightReservation", {"data": other, "origin": "web"}, ana)
    assert [(one["outcome"], one["reason"]) for one in told["receipts"]] == [("blocked", "lower_trust")]
    read = await post(running, "/v1/structured/capture", {"text": "Nothing.", "name": "TrainReservation"}, ana)
    assert read == {"receipts": [], "degraded": None}


async def _viewed(running: Running, caller: dict[str, str], name: str = "me") -> set[tuple[str, str, str]]:
    """The relations around a name, by the names of their ends."""
    answer = (await running.client.get(f"/v1/entities/graph?name={name}&hops=3", headers=caller)).json()
    named = {one["node"]: one["name"] for one in answer["entities"]}
    steps = [step for one in answer["neighbours"] for step in one["path"]]
    return {(named.get(one["source"], "me"), one["relation"], named.get(one["target"], "me")) for one in steps}


async def test_the_graph_is_there_without_a_line_of_policy_and_nothing_is_stored(running: Running) -> None:
    ana, ben = await running.caller("reader", "writer"), await running.caller("reader", "writer", user="ben")
    for said in ("My sister Emma lives in Madrid.", "I work at Fjordline.", "I think Ben King likes Thursdays."):
        await post(running, "/v1/memories", {"content": said}, ana)
    await post(running, "/v1/memories", {"content": "Oslo", "key": "home_city"}, ana)
    assert await _viewed(running, ana) == {
        ("me", "sister", "Emma"),
        ("Emma", "lives_in", "Madrid"),
        ("me", "works_at", "Fjordline"),
        ("me", "lives_in", "Oslo"),
    }
    assert await _viewed(running, ana, "Madrid") >= {("Emma", "lives_in", "Madrid")}
    assert (await running.client.get("/v1/entities", headers=ana)).json() == {"entities": []}
    assert await _viewed(running, ben) == set()


async def test_the_viewed_graph_follows_the_memories(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    await post(running, "/v1/entities/relations", {"source": "me", "relation": "sister", "target": "Emma"}, ana)
    old = await post(running, "/v1/memories", {"content": "Emma lives in Madrid."}, ana)
    await post(running, "/v1/memories", {"content": "My sister works at Siemens."}, ana)
    assert await _viewed(running, ana) == {
        ("me", "sister", "Emma"),
        ("Emma", "lives_in", "Madrid"),
        ("Emma", "works_at", "Siemens"),
    }
    await running.client.delete(f"/v1/memories/{old['memory_id']}", headers=ana)
    assert ("Emma", "lives_in", "Madrid") not in await _viewed(running, ana)
    await post(running, "/v1/memories", {"content": "Emma lives in Lisbon now."}, ana)
    await post(running, "/v1/messages", {"messages": [{"role": "user", "content": "Emma lives in Porto."}]}, ana)
    homes = {
        target for source, relation, target in await _viewed(running, ana) if (source, relation) == ("Emma", "lives_in")
    }
    assert homes == {"Porto"}


async def test_a_sentence_under_a_key_is_read_and_is_no_name(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    await post(running, "/v1/memories", {"content": "I moved to Lisbon in May.", "key": "home_city"}, ana)
    await post(running, "/v1/memories", {"content": "between two jobs", "key": "employer"}, ana)
    assert await _viewed(running, ana) == {("me", "lives_in", "Lisbon")}


async def test_words_of_others_make_no_relation(running: Running) -> None:
    ana = await running.caller("reader", "writer")
    said = [{"role": "assistant", "content": "Your sister Emma lives in Madrid. Emma lives in Madrid."}]
    await post(running, "/v1/messages", {"messages": said}, ana)
    await post(
        running, "/v1/memories", {"content": "If I lived in Rome, I would eat better. Does Emma live in Paris?"}, ana
    )
    assert await _viewed(running, ana) == set()
