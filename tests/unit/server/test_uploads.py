"""Files that are uploaded, the activity of the last days, and the settings in force."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.import_dry_run import rehearse_beside
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.importers.conversation_files import read_bytes
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Origin
from mnemic.write.draft import WriteRules
from mnemic_server.routes import uploads
from mnemic_server.service_settings import ServiceSettings
from mnemic_server.settings_in_force import SET, settings_in_force

from .conftest import Running

CHAT = "\n".join(
    json.dumps(one)
    for one in (
        {"role": "user", "content": "I prefer aisle seats.", "timestamp": "2026-01-05T10:00:00Z"},
        {"role": "assistant", "content": "Noted.", "timestamp": "2026-01-05T10:00:05Z"},
        {"role": "system", "content": "Be kind."},
    )
)


async def sent(running: Running, headers: dict[str, str], **piece: Any) -> dict[str, Any]:
    answer = await running.client.post("/v1/uploads", json={"name": "chat.jsonl", **piece}, headers=headers)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()
    return result


async def test_a_file_is_counted_taken_in_and_found_and_a_second_time_changes_nothing(running: Running) -> None:
    ana = await running.caller("writer", "reader")
    rehearsed = await sent(running, ana, text=CHAT, dry_run=True)
    assert (rehearsed["messages"], rehearsed["recorded"], rehearsed["captured"]) == (2, 0, {"seat": 1})
    assert (await running.client.get("/v1/memories", headers=ana)).json()["memories"] == []
    first = await sent(running, ana, text=CHAT)
    assert (first["recorded"], first["skipped"]["small_talk"]) == (1, 1)
    assert (first["captured"], first["left_out"]) == (rehearsed["captured"], rehearsed["left_out"])
    assert [one["content"] for one in rehearsed["learnt"]] == [one["content"] for one in first["learnt"]]
    assert (first["learnt"][0]["change"], first["learnt"][0]["key"]) == ("new", "seat")
    again = await sent(running, ana, text=CHAT)
    assert (again["recorded"], again["refreshed"]) == (0, first["recorded"])
    held = (await running.client.get("/v1/memories", headers=ana)).json()["memories"]
    assert "I prefer aisle seats." in [one["content"] for one in held]
    undone = await running.client.post(f"/v1/imports/{first['import_id']}/undo", headers=ana)
    assert len(undone.json()["forgotten"]) == len(held)
    assert (await running.client.get("/v1/memories", headers=ana)).json()["memories"] == []


async def test_a_chat_named_after_the_other_person_knows_the_user_as_on_the_command_line(running: Running) -> None:
    ana = await running.caller("writer", "reader")
    said = "12/03/2024, 21:15 - Ana: I am vegetarian.\n12/03/2024, 21:16 - Ben: I prefer aisle seats.\n"
    known = await sent(running, ana, name="WhatsApp Chat with Ben.txt", text=said)
    assert (known["captured"], known["speakers"]) == ({"diet": 1}, [])


async def test_a_chat_that_does_not_say_who_the_user_is_tells_its_speakers(running: Running) -> None:
    ana = await running.caller("writer", "reader")
    said = "[12/03/2024, 21:15:42] Ana: I am vegetarian.\n[12/03/2024, 21:16:42] Ben: I prefer aisle seats.\n"
    unknown = await sent(running, ana, name="_chat.txt", text=said)
    assert (unknown["recorded"], unknown["captured"], unknown["speakers"]) == (2, {}, ["Ana", "Ben"])
    named = await sent(running, ana, name="_chat.txt", text=said, me="ana")
    assert (named["captured"], named["speakers"]) == ({"diet": 1}, [])


async def test_a_text_that_is_read_whole_is_taken_in_by_several_requests(running: Running) -> None:
    """The dates of a chat are read by the whole of it, and what went before is the context of a message."""
    ana = await running.caller("writer", "reader")
    chat = "".join(
        f"0{day}/02/2024, 9:15 PM - {who}: Good morning!\n" for day, who in enumerate(("Ana", "Ben", "Ana"), 1)
    )
    chat += "13/02/2024, 9:15 PM - Ben: I am vegetarian.\nReally.\n"
    parts = [await sent(running, ana, name="_chat.txt", text=chat, me="Ben", start=at, most=1) for at in range(4)]
    assert [(one["entries"], one["messages"], one["recorded"]) for one in parts] == [(4, 1, 1)] * 4
    assert [one["captured"] for one in parts] == [{}, {}, {}, {"diet": 1}]
    again = await sent(running, ana, name="_chat.txt", text=chat, me="Ben")
    assert (again["messages"], again["recorded"], again["refreshed"]) == (4, 0, 4)
    held = (await running.client.get("/v1/memories", params={"kinds": "episodic"}, headers=ana)).json()["memories"]
    assert {one["occurred_at"][:10] for one in held} == {"2024-02-01", "2024-02-02", "2024-02-03", "2024-02-13"}


async def test_an_imported_value_that_waits_for_review_is_counted(running: Running) -> None:
    """An import is trusted less than what the user has said, so its other value of a key waits for a person."""
    ana = await running.caller("writer", "reader")
    body = {"content": "Lisbon", "key": "home_city"}
    assert (await running.client.post("/v1/memories", json=body, headers=ana)).status_code == 201
    said = json.dumps({"role": "user", "content": "I live in Porto."})
    taken = await sent(running, ana, text=said)
    assert (taken["captured"], taken["waiting"]) == ({"home_city": 1}, 1)
    assert (await sent(running, ana, text=said))["waiting"] == 0


async def test_what_cannot_be_read_is_told_with_its_place(running: Running) -> None:
    ana = await running.caller("writer")
    mixed = await sent(running, ana, text=CHAT + '\n{"role": "user", "content": 5}')
    assert len(mixed["failed"]) == 1
    refused = await running.client.post("/v1/uploads", json={"name": "x.json", "text": "{}"}, headers=ana)
    assert (refused.status_code, refused.json()["reason"]) == (422, "invalid_input:file:format")
    unknown = {"name": "x", "text": CHAT, "format": "nothing"}
    assert (await running.client.post("/v1/uploads", json=unknown, headers=ana)).status_code == 422


@pytest.mark.parametrize("role", ["reader", "subject", "reviewer", "operator", "admin"])
async def test_only_writers_upload_and_for_themselves_alone(running: Running, role: str) -> None:
    headers = await running.caller(role, user="ben")
    refused = await running.client.post("/v1/uploads", json={"name": "x", "text": CHAT}, headers=headers)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role_required:writer")
    await sent(running, await running.caller("writer", user="ana"), text=CHAT)
    ben = await running.caller("reader", user="ben")
    assert (await running.client.get("/v1/memories", headers=ben)).json()["memories"] == []


async def test_days_count_what_happened_and_only_in_the_tenant(running: Running) -> None:
    ana, olga = await running.caller("writer"), await running.caller("operator", user="olga")
    other = await running.caller("writer", tenant="other")
    for headers in (ana, other):
        await running.client.post("/v1/memories", json={"content": "I prefer aisle seats."}, headers=headers)
    running.clock.advance(timedelta(days=2))
    made = await running.client.post("/v1/memories", json={"content": "The cat is called Miso."}, headers=ana)
    await running.client.delete(f"/v1/memories/{made.json()['memory_id']}", headers=ana)
    shown = (await running.client.get("/v1/overview/days?days=4", headers=olga)).json()
    assert [one["written"] for one in shown["days"]] == [0, 1, 0, 1]
    assert [one["forgotten"] for one in shown["days"]] == [0, 0, 0, 1]
    assert [one["tokens"] for one in shown["days"]] == [0, 0, 0, 0]
    await running.client.post("/v1/context", json={"query": "Which seat do I prefer?"}, headers=ana)
    run = (await running.client.get("/v1/runs", headers=ana)).json()["runs"][0]
    today = (await running.client.get("/v1/overview/days?days=1", headers=olga)).json()["days"][0]
    assert (today["used"], today["tokens"]) == (1, run["tokens"])
    assert run["tokens"] > 0
    assert shown["complete"] is True
    assert (shown["period"]["written"], shown["period_before"]) == (2, None), "there is nothing older to compare with"
    last = (await running.client.get("/v1/overview/days?days=1", headers=olga)).json()
    assert (last["period"]["used"], last["period_before"]["used"]) == (1, 0)
    assert last["period"]["slow_ms"] >= last["period"]["typical_ms"] >= 0, "the clock of this service stands still"
    refused = await running.client.get("/v1/overview/days", headers=ana)
    assert refused.json()["reason"] == "role_required:operator"


async def test_settings_are_the_service_admins_and_no_secret_is_among_them(running: Running, tmp_path: Path) -> None:
    settings = Settings.load(store="postgresql://me:hush@db/x", api_key="sk-hush", max_tokens=500)
    shown = settings_in_force(settings, ServiceSettings.load(port=9000, client_secret="hush"))
    by_name = {one["name"]: one for one in shown}
    assert by_name["MNEMIC_STORE"]["value"] == by_name["MNEMIC_SERVICE_CLIENT_SECRET"]["value"] == SET
    assert (by_name["MNEMIC_SERVICE_PORT"]["value"], by_name["MNEMIC_SERVICE_PORT"]["is_default"]) == ("9000", False)
    assert by_name["MNEMIC_MAX_TOKENS"]["value"] == "500"
    assert "hush" not in str(shown)
    for role in ("reader", "operator", "admin"):
        answer = await running.client.get("/v1/settings", headers=await running.caller(role, user="ben"))
        assert answer.status_code == 403
    root = await running.caller("admin", user="root", tenant="root")
    assert (await running.client.get("/v1/settings", headers=root)).status_code == 200


async def test_a_piece_is_read_beside_the_event_loop(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    read_in: list[bool] = []
    read_bytes = uploads.read_bytes

    def noted(*arguments: Any) -> Any:
        read_in.append(threading.current_thread() is threading.main_thread())
        return read_bytes(*arguments)

    monkeypatch.setattr(uploads, "read_bytes", noted)
    assert (await sent(running, await running.caller("writer"), text=CHAT, dry_run=True))["messages"] == 2
    assert read_in == [False]


async def test_a_piece_of_too_many_entries_is_refused(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_ENTRIES", 2)
    piece = {"name": "chat.jsonl", "text": CHAT + "\nnothing\nnothing\n"}
    answer = await running.client.post("/v1/uploads", json=piece, headers=await running.caller("writer"))
    assert (answer.status_code, answer.json()["reason"]) == (422, "invalid_input:text:too_many")


async def test_a_dry_run_follows_the_rules_of_the_service() -> None:
    waits = WriteRules(reviewed_categories=frozenset({"preference"}), reviewed_origins=frozenset(Origin))
    facts = []
    for rules in (None, waits):
        async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), rules=rules) as engine:
            items = list(read_bytes(CHAT.encode()))
            found = await rehearse_beside(engine, items, Actor(user="ana"), extract=True)
            facts.append([one["content"] for one in found.facts])
    assert facts == [["aisle"], []], "under these rules a preference waits for a person"
