"""Every command does what its help says, for people and as JSON."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.cli import COMMANDS, cli
from mnemic.stores.sqlite import SqliteStore
from tests.e2e.conftest import Call, complaint


def data(mnemic: Call, *words: str, **options: Any) -> Any:
    result = mnemic(*words, "--json", **options)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def added(mnemic: Call, *words: str) -> str:
    return str(data(mnemic, "add", *words)["memory_id"])


def test_every_listed_command_says_how_it_is_used(mnemic: Call) -> None:
    failed = {name: run.stderr for name in COMMANDS if (run := mnemic(name, "--help")).exit_code}
    assert failed == {}


def test_add_then_find(mnemic: Call) -> None:
    receipt = data(mnemic, "add", "The cat is called Miso.")
    found = data(mnemic, "search", "what is the cat called?")

    assert receipt["outcome"] == "created"
    assert [step["name"] for step in receipt["steps"]]
    (hit,) = found["hits"]
    assert hit["memory"]["memory_id"] == receipt["memory_id"]
    assert hit["memory"]["content"] == "The cat is called Miso."
    assert hit["ranks"]
    assert found["errors"] == {}


def test_people_read_what_was_found_and_why(mnemic: Call) -> None:
    memory_id = added(mnemic, "The cat is called Miso.")
    shown = mnemic("search", "cat").stdout

    assert "1. The cat is called Miso." in shown
    assert "score" in shown
    assert memory_id in shown


def test_add_takes_every_field(mnemic: Call) -> None:
    words = ("aisle", "--key", "seat", "--category", "travel", "--data", '{"row": 12}', "--ttl", "30d")
    memory_id = added(mnemic, *words, "--confidence", "0.9", "--occurred-at", "2026-03-04T09:30:00+01:00")
    memory = data(mnemic, "get", memory_id)

    assert (memory["key"], memory["content"], memory["category"], memory["data"]) == (
        "seat",
        "aisle",
        "travel",
        {"row": 12},
    )
    assert memory["confidence"] == 0.9
    assert memory["occurred_at"] == "2026-03-04T08:30:00+00:00"
    assert memory["expires_at"] is not None


def test_ten_years_a_day_and_no_end_at_all(mnemic: Call) -> None:
    for wish, days in (("10y", 3650), ("P1D", 1), ("never", None)):
        memory = data(mnemic, "get", added(mnemic, f"Kept {wish}.", "--ttl", wish))
        told, ends = (memory[name] and datetime.fromisoformat(memory[name]) for name in ("created_at", "expires_at"))
        assert ends == (None if days is None else told + timedelta(days=days))


def test_the_same_thing_twice_is_one_memory(mnemic: Call) -> None:
    first, second = (data(mnemic, "add", "The cat is called Miso.") for _ in range(2))
    assert second["outcome"] == "refreshed"
    assert second["memory_id"] == first["memory_id"]
    assert data(mnemic, "list")["total"] == 1


def test_an_idempotency_key_writes_once(mnemic: Call) -> None:
    first, second = (data(mnemic, "add", "Miso is a cat.", "--idempotency-key", "k1") for _ in range(2))
    assert (second["memory_id"], second["replayed"]) == (first["memory_id"], True)
    assert complaint(mnemic("add", "Another.", "--idempotency-key", "k1")).startswith("idempotency_key_reused")


def test_standard_input_is_a_dash(mnemic: Call) -> None:
    memory_id = str(data(mnemic, "add", "-", stdin="Zürich is where I was born.\n")["memory_id"])
    assert data(mnemic, "get", memory_id)["content"] == "Zürich is where I was born."


def test_capture_says_what_it_remembered_and_what_it_left_out(mnemic: Call) -> None:
    report = data(mnemic, "capture", "I am vegetarian and I live in Oslo. Book me a table for tonight.")
    state = {entry["key"]: entry["value"] for entry in report["memory_state"]}

    assert report["status"] == "ok"
    assert state["home_city"] == "Oslo"
    assert "transient" in {entry["reason"] for entry in report["skipped"]}
    assert "home_city" in mnemic("capture", "I live in Bergen now.").stdout


def test_capture_shows_the_words_of_each_line_it_prints(mnemic: Call) -> None:
    lines = mnemic("capture", "I live in Oslo. My cat is called Miso. Book me a table for tonight.").stdout.splitlines()
    assert [line.split()[:3] for line in lines[:1]] == [["created", "home_city", "Oslo"]]
    assert "My cat is called Miso." in lines[1]
    assert lines[2].split(maxsplit=1)[1].strip() == "Book me a table for tonight.  transient"


def test_words_that_could_end_two_memories_end_neither_and_are_kept(mnemic: Call) -> None:
    for said in ("I have a cat called Mia.", "I have a cat called Tom."):
        mnemic("capture", said)
    shown = mnemic("capture", "My cat died.")

    assert shown.exit_code == 0
    assert "My cat died." in shown.stdout
    held = mnemic("list").stdout
    assert all(name in held for name in ("Mia", "Tom", "My cat died."))


def test_an_option_that_cannot_be_read_is_named_as_it_was_written(mnemic: Call) -> None:
    for words in (("search", "cat"), ("list",), ("forget",)):
        refused = mnemic(*words, "--since", "soonish").stderr
        assert refused.startswith("mnemic: invalid_input:since - expected a date such as")
    told = mnemic("add", "cat", "--data", "{bad").stderr
    assert told == "mnemic: invalid_input:data - not JSON\n"


def test_capture_carries_out_what_is_asked_of_memory_once_it_is_confirmed(
    mnemic: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    added(mnemic, "My sister keeps bees in Ystad.")
    forget = ("capture", "Forget what I told you about my sister.")
    (asked,) = data(mnemic, *forget)["asked"]
    assert (asked["kind"], asked["subject"], len(asked["memory_ids"])) == ("forget", "my sister", 1)
    assert "not confirmed: nothing was done" in mnemic(*forget).stdout
    monkeypatch.setattr("mnemic.cli.write_commands.at_terminal", lambda: True)
    assert "nothing was done" in mnemic(*forget, stdin="n\n").stdout
    assert data(mnemic, "list")["total"] == 1
    asking = mnemic(*forget, stdin="y\n")
    assert "My sister keeps bees in Ystad." in asking.stderr
    assert "forgotten  1 memory" in asking.stdout
    assert data(mnemic, "list")["total"] == 0


def test_capture_shows_what_is_known_and_erases_it(mnemic: Call) -> None:
    added(mnemic, "My sister keeps bees in Ystad.")
    assert "My sister keeps bees in Ystad." in mnemic("capture", "What do you know about me?").stdout
    assert "erased  1 memory" in mnemic("capture", "Delete everything you know about me!", "--yes").stdout
    assert data(mnemic, "list")["total"] == 0
    assert "nothing is known" in mnemic("capture", "What do you know about me?").stdout
    (done,) = data(mnemic, "capture", "Delete everything you know about me!", "-y")["carried_out"]
    assert done["erasure"]["complete"] is True


def test_update_keeps_the_old_version(mnemic: Call) -> None:
    memory_id = added(mnemic, "The cat is called Miso.")
    receipt = data(mnemic, "update", memory_id, "The cat is called Tofu.", "--expected-version", "1")
    versions = data(mnemic, "history", memory_id)["versions"]

    assert receipt["version"] == 2
    assert [version["content"] for version in versions] == ["The cat is called Miso.", "The cat is called Tofu."]
    assert "Tofu" in mnemic("history", memory_id).stdout
    stale = mnemic("update", memory_id, "The cat is called Rice.", "--expected-version", "1")
    assert stale.exit_code == 1
    assert complaint(stale).startswith("version_conflict")


def test_one_version_of_a_memory_at_most_is_in_force_for_people(mnemic: Call) -> None:
    added(mnemic, "aisle", "--key", "seat")
    changed = mnemic("add", "window", "--key", "seat").stdout
    memory_id = data(mnemic, "list")["memories"][0]["memory_id"]
    revised = mnemic("update", memory_id, "exit row").stdout

    assert changed.startswith(f"changed  {memory_id}  seat: window  (in place of ")
    assert revised == f"revised  {memory_id}  seat: exit row\n"
    lines = [line.split("  ") for line in mnemic("history", "seat").stdout.splitlines()]
    told = [[part.strip() for part in line if part.strip()] for line in lines]
    assert [(number, status, value) for number, _, status, value in told] == [
        ("1", "superseded", "seat: aisle"),
        ("2", "earlier", "seat: window"),
        ("3", "active", "seat: exit row"),
    ]
    held = [when for _, when, *_ in told]
    assert [" to " in when for when in held] == [True, True, False]
    assert held[2].startswith("since ")


def test_the_history_of_a_key_shows_all_its_values(mnemic: Call) -> None:
    data(mnemic, "add", "aisle", "--key", "seat")
    second = data(mnemic, "add", "window", "--key", "seat")["memory_id"]
    values = data(mnemic, "history", "seat")["versions"]
    assert [(one["content"], one["status"]) for one in values][0::2] == [("aisle", "active"), ("window", "active")]
    assert {one["content"] for one in values if one["status"] == "superseded"} == {"aisle"}
    told = data(mnemic, "history", second)
    assert [one["content"] for one in told["versions"]] == ["window"]
    assert [one["content"] for one in told["earlier"]] == ["aisle"]
    assert told["later"] == []
    shown = mnemic("history", second).stdout.splitlines()
    assert ["aisle" in line for line in shown] == [True, False]
    assert complaint(mnemic("history", "shoe_size")).startswith("memory_not_found")


def test_forget_asks_first(mnemic: Call) -> None:
    memory_id = added(mnemic, "The cat is called Miso.")

    refused = mnemic("forget", memory_id, stdin="n\n")
    assert refused.exit_code == 1
    assert "Miso" in refused.stderr
    assert data(mnemic, "list")["total"] == 1

    assert mnemic("forget", memory_id, stdin="y\n").exit_code == 0
    assert data(mnemic, "list")["total"] == 0
    assert complaint(mnemic("get", memory_id)).startswith("memory_not_found")


def test_forget_needs_an_answer_or_yes(mnemic: Call) -> None:
    memory_id = added(mnemic, "The cat is called Miso.")
    assert mnemic("forget", memory_id).exit_code == 2
    assert data(mnemic, "forget", "--yes", memory_id) == {"forgotten": [memory_id]}


def test_a_key_is_no_identifier_and_the_refusal_says_what_to_type(mnemic: Call) -> None:
    added(mnemic, "aisle", "--key", "seat")
    refused = mnemic("update", "seat", "window")
    assert complaint(refused) == 'memory_not_found - seat is a key: mnemic add "..." --key seat'


def test_forget_says_what_it_needs(mnemic: Call) -> None:
    added(mnemic, "aisle", "--key", "seat")
    assert "which memories?" in complaint(mnemic("forget")).casefold()
    assert complaint(mnemic("forget", "seat")) == "memory_not_found - seat is a key: mnemic forget --key seat"
    unknown = "memory_not_found - this user has no memory of that id; `search` and `list` show ids"
    assert complaint(mnemic("forget", "0197f3c2")) == unknown
    assert complaint(mnemic("get", "0197f3c2")) == unknown


def test_a_service_that_does_not_answer_is_named(mnemic: Call) -> None:
    said = complaint(mnemic("list", "--store", "http://127.0.0.1:9"))
    assert said.startswith("service_refused:unreachable - nothing answers at http://127.0.0.1:9 ")


def test_list_pages(mnemic: Call) -> None:
    for number in range(6):
        added(mnemic, f"Note number {number} about topic {number * 7}.")
    first = data(mnemic, "list", "--limit", "3")
    second = data(mnemic, "list", "--limit", "3", "--before", first["next"])

    seen = [memory["content"] for memory in first["memories"] + second["memories"]]
    assert first["total"] == 6
    assert second["next"] is None
    assert len(set(seen)) == 6
    assert "--before" in mnemic("list", "--limit", "3").stderr
    assert mnemic("list", "--before", second["memories"][-1]["memory_id"]).stdout == "nothing more\n"
    assert mnemic("list", "--category", "none").stdout == "nothing meets that\n"


def test_a_filter_on_data(mnemic: Call) -> None:
    for year, told in ((2025, "We took the train to Turin."), (2026, "A week of sailing.")):
        assert mnemic("add", told, "--data", f'{{"year": {year}}}').exit_code == 0
    where = '{"year": {"$gt": 2025}}'
    assert [one["data"] for one in data(mnemic, "list", "--where", where)["memories"]] == [{"year": 2026}]
    found = data(mnemic, "search", "trip", "--where", where)
    assert [hit["memory"]["data"] for hit in found["hits"]] == [{"year": 2026}]
    assert mnemic("list", "--where", "{bad").exit_code == 3
    assert "invalid_input:operator" in mnemic("search", "trip", "--where", '{"$like": 1}').stderr


def test_an_empty_query_lists_the_newest(mnemic: Call) -> None:
    added(mnemic, "First thing.")
    added(mnemic, "Second thing.")
    assert [hit["memory"]["content"] for hit in data(mnemic, "search", "")["hits"]] == ["Second thing.", "First thing."]


def test_search_filters(mnemic: Call) -> None:
    added(mnemic, "aisle", "--key", "seat", "--category", "travel")
    added(mnemic, "The aisle was full of people.", "--kind", "episodic", "--occurred-at", "2020-05-01")

    def found(*words: str) -> list[str]:
        return [hit["memory"]["content"] for hit in data(mnemic, "search", "aisle", *words)["hits"]]

    assert len(found()) == 2
    assert found("--key", "seat") == ["aisle"]
    assert found("--category", "travel") == ["aisle"]
    assert found("--kind", "episodic") == ["The aisle was full of people."]
    assert found("--until", "2021-01-01") == ["The aisle was full of people."]
    assert found("--since", "2021-01-01") == ["aisle"]
    page = data(mnemic, "list", "--since", "2021-01-01", "--until", "2030-01-01")
    assert ([one["content"] for one in page["memories"]], page["total"], page["next"]) == (["aisle"], 1, None)
    assert data(mnemic, "count", "--category", "travel")["count"] == 1
    refused = mnemic("list", "--since", "2021-01-01", "--until", "2020-01-01")
    assert (refused.exit_code, refused.stderr) == (3, "mnemic: invalid_input:window - it has to end after it begins\n")
    assert data(mnemic, "forget", "--until", "2021-01-01", "--dry-run")["would_forget"]
    assert len(found("--top-k", "1")) == 1


def test_users_share_nothing(mnemic: Call) -> None:
    memory_id = added(mnemic, "The cat is called Miso.")
    assert data(mnemic, "search", "cat", user="bob")["hits"] == []
    assert mnemic("get", memory_id, user="bob").exit_code == 1
    assert mnemic("forget", "--yes", memory_id, user="bob").exit_code == 1
    assert data(mnemic, "list")["total"] == 1


def test_common_options_stand_before_or_after_the_command(mnemic: Call, store: Path) -> None:
    added(mnemic, "The cat is called Miso.")
    other = mnemic("list", "--user", "bob", "--json")
    assert json.loads(other.stdout)["total"] == 0
    assert json.loads(mnemic("--json", "list").stdout)["total"] == 1


def test_the_environment_names_store_and_user(mnemic: Call, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added(mnemic, "The cat is called Miso.")
    environment = {"MNEMIC_STORE": str(store), "MNEMIC_USER": "ana"}
    assert "Miso" in CliRunner().invoke(cli, ["list"], env=environment).stdout


def test_export_then_import_into_another_store(mnemic: Call, tmp_path: Path) -> None:
    added(mnemic, "oslo", "--key", "home_city")
    added(mnemic, "The cat is called Miso.")
    file = tmp_path / "all.jsonl"

    assert data(mnemic, "export", "--output", str(file))["exported"] == 2
    assert file.stat().st_mode & 0o777 == 0o600
    assert [json.loads(line) for line in mnemic("export").stdout.splitlines()] == [
        json.loads(line) for line in file.read_text().splitlines()
    ]
    assert complaint(mnemic("export", "--output", str(file))).startswith("invalid_input:file:exists")
    assert mnemic("export", "--output", "-").stdout == mnemic("export").stdout
    assert not Path("-").exists()

    summary = data(mnemic, "--store", str(tmp_path / "other.db"), "import", str(file))
    assert (summary["recorded"], summary["failed"]) == (2, [])
    shown = data(mnemic, "--store", str(tmp_path / "other.db"), "list")["memories"]
    assert {memory["content"] for memory in shown} == {"oslo", "The cat is called Miso."}


TALK = [
    {"role": "user", "content": "I live in Oslo.", "timestamp": "2026-01-02T10:00:00Z", "session": "s1"},
    {"role": "assistant", "content": "Lovely city!", "timestamp": "2026-01-02T10:01:00Z", "session": "s1"},
    {"role": "user", "content": "I moved to Bergen.", "timestamp": "2026-03-02T10:00:00Z", "session": "s2"},
    {"role": "system", "content": "Be kind."},
]


def talk(folder: Path, *more: str) -> str:
    file = folder / "talk.jsonl"
    file.write_text("\n".join([*(json.dumps(message) for message in TALK), *more]) + "\n")
    return str(file)


def test_import_a_conversation_and_ask_about_it(mnemic: Call, tmp_path: Path) -> None:
    summary = data(mnemic, "import", talk(tmp_path))
    found = data(mnemic, "search", "moved to Bergen", "--kind", "episodic")["hits"]

    assert summary["recorded"] == 2
    assert summary["skipped"] == {"system_message": 1, "small_talk": 1}
    assert summary["captured"]["home_city"] >= 1
    assert found[0]["memory"]["content"] == "I moved to Bergen."
    assert found[0]["memory"]["occurred_at"] == "2026-03-02T10:00:00+00:00"


def test_importing_twice_changes_nothing(mnemic: Call, tmp_path: Path) -> None:
    data(mnemic, "import", talk(tmp_path))
    before = mnemic("export").stdout
    again = data(mnemic, "import", talk(tmp_path))

    assert mnemic("export").stdout == before
    assert (again["recorded"], again["refreshed"], again["captured"]) == (0, 2, {})


def test_a_dry_run_counts_as_captured_what_the_import_captures(mnemic: Call, tmp_path: Path) -> None:
    said = ("I live in Leeds.", "I'm vegetarian.", "I moved to York two weeks ago, the flat is tiny but nice.")
    file = tmp_path / "moves.jsonl"
    lines = [json.dumps({"role": "user", "content": text, "session": "s"}) for text in said]
    file.write_text("\n".join(lines), encoding="utf-8")
    dry = data(mnemic, "import", "--dry-run", str(file))["facts"]
    told = mnemic("import", "--dry-run", str(file)).stdout
    assert data(mnemic, "import", str(file))["captured"] == dry["captured"]
    made = sum(dry["captured"].values())
    assert made > len(dry["kept"])
    assert f"captured  {made}, {len(dry['kept'])} of them in force at the end" in told


def test_import_without_capturing(mnemic: Call, tmp_path: Path) -> None:
    assert data(mnemic, "import", "--no-extract", talk(tmp_path))["captured"] == {}
    assert {memory["kind"] for memory in data(mnemic, "list")["memories"]} == {"episodic"}


def test_a_bad_line_is_told_with_its_number_and_stops_no_other(mnemic: Call, tmp_path: Path) -> None:
    lines = ("{broken", '{"role": "user", "content": "one\\u0000 and the other"}', json.dumps(TALK[1]))
    result = mnemic("import", talk(tmp_path, *lines))

    assert result.exit_code == 3
    assert "mnemic: invalid_input:file:json - line 5" in result.stderr
    assert "one and the other" in {memory["content"] for memory in data(mnemic, "list")["memories"]}


def test_strict_stops_at_the_first_bad_line(mnemic: Call, tmp_path: Path) -> None:
    result = mnemic("import", "--strict", talk(tmp_path, "{broken"))
    assert result.exit_code == 3
    assert "line 5" in result.stderr


def test_forgotten_messages_come_back_only_when_asked_for(mnemic: Call, tmp_path: Path) -> None:
    data(mnemic, "import", "--no-extract", talk(tmp_path))
    memory_id = data(mnemic, "list", "--limit", "1")["memories"][0]["memory_id"]
    mnemic("forget", "--yes", memory_id)

    data(mnemic, "import", "--no-extract", talk(tmp_path))
    assert data(mnemic, "list")["total"] == 1
    data(mnemic, "import", "--no-extract", "--again", talk(tmp_path))
    assert data(mnemic, "list")["total"] == 2


def test_a_message_too_long_for_one_memory_becomes_several(mnemic: Call, tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    told = " ".join(f"This is sentence {number}." for number in range(900))
    file.write_text(json.dumps({"role": "assistant", "content": told}))
    assert data(mnemic, "import", str(file))["recorded"] == 3


def test_run_remembers_answers_and_audits(mnemic: Call, tmp_path: Path) -> None:
    context = tmp_path / "context.json"
    context.write_text('{"severity": "P1", "gateway_status": "degraded"}')
    mnemic("run", "--message", "Please write in English and use email as the primary channel.")
    report = data(mnemic, "run", "--goal", "Draft the incident update.", "--context", str(context), "--preference-bias")

    assert (report["status"], report["stop_reason"]) == ("ok", "success")
    assert "P1" in report["answer"]
    assert {step["phase"] for step in report["trace"]} == {"retrieve", "apply"}
    assert "status" in mnemic("run", "--goal", "Draft the incident update.", "--context", str(context)).stdout


def test_a_run_that_stops_says_why_and_fails(mnemic: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('on_violation = "stop"\n[keys.seat]\n[budget]\nmax_seconds = 25\n')
    result = mnemic("add", "oslo", "--key", "home_city", "--policy", str(policy))
    assert result.exit_code == 1
    assert complaint(result).startswith("memory_key_not_allowed_policy:home_city")


def test_what_the_runtime_does_not_grant_is_blocked(mnemic: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[keys.declared_tier]\nsensitive = true\n")
    result = mnemic("add", "enterprise", "--key", "declared_tier", "--policy", str(policy))
    assert result.exit_code == 1
    assert "blocked" in result.stdout
    assert "key_denied_execution" in result.stdout


def test_doctor_finds_all_well(mnemic: Call) -> None:
    added(mnemic, "The cat is called Miso.")
    report = data(mnemic, "doctor")
    checks = {check["check"]: check for check in report["checks"]}

    assert report["ok"] is True
    assert checks["memories"]["counts"] == [{"kind": "long_term", "status": "active", "count": 1}]
    assert checks["audit"]["lines"] == 1
    assert checks["model"]["configured"] is False
    assert "all is well" in mnemic("doctor").stdout


def test_doctor_says_who_waits_for_the_outbox(mnemic: Call, store: Path) -> None:
    def outbox() -> dict[str, Any]:
        (found,) = [check for check in data(mnemic, "doctor")["checks"] if check["check"] == "outbox"]
        return dict(found)

    async def register() -> None:
        opened = SqliteStore(store)
        await opened.open(None)
        await opened.register("hot_set")
        await opened.close()

    added(mnemic, "The cat is called Miso.")
    alone = outbox()
    assert (alone["pending"], alone["kept"], alone["projections"]) == (0, 1, {})
    shown = mnemic("doctor").stdout
    assert "copies  " in shown
    assert not {"outbox", "junk", "projection"} & set(shown.split())
    asyncio.run(register())
    fed = outbox()
    assert (fed["pending"], fed["kept"], fed["projections"]) == (1, 1, {"hot_set": 1})
    assert "hot_set has 1 changes to take" in mnemic("doctor").stdout


def test_what_is_printed_cannot_control_the_terminal(mnemic: Call, tmp_path: Path) -> None:
    evil = "\x1b[31mEve\x07 \u202egnp.exe\x9b2J"
    file = tmp_path / "evil.jsonl"
    file.write_text(json.dumps({"role": "user", "content": f"safe {evil}", "speaker": evil, "session": evil}))
    mnemic("import", str(file))
    memory, *_ = data(mnemic, "list")["memories"]

    for words in (["list"], ["search", "safe"], ["get", memory["memory_id"]], ["list", "--json"], ["export"]):
        shown = mnemic(*words)
        assert shown.exit_code == 0
        assert shown.stdout
        assert not set(evil[:1] + "\x07\u202e\x9b") & set(shown.stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(mnemic: Call, shell: str) -> None:
    script = mnemic("completion", shell).stdout
    assert f"_MNEMIC_COMPLETE={shell}_complete" in script


def test_what_stands_in_every_answer_does_not_stand_before_what_was_searched(mnemic: Call) -> None:
    added(mnemic, "Always sign with my initials.", "--category", "instruction")
    added(mnemic, "The cat is called Miso.")
    found = data(mnemic, "search", "cat")["hits"]
    assert found[0]["memory"]["content"] == "The cat is called Miso."
    assert {hit["reason"] for hit in found} == {"relevance"}


def test_captured_facts_have_the_time_of_their_message(mnemic: Call, tmp_path: Path) -> None:
    """However the file is ordered, what was said last is what holds, and what held before can be asked for."""
    file = tmp_path / "talk.jsonl"
    file.write_text("".join(f"{json.dumps(message)}\n" for message in reversed(TALK)))
    data(mnemic, "import", str(file))

    def lives(*words: str) -> list[str]:
        found = data(mnemic, "search", "home city", "--key", "home_city", *words)["hits"]
        return [hit["memory"]["content"] for hit in found]

    assert lives() == ["Bergen"]
    assert lives("--as-of", "2026-02-01") == ["Oslo"]


@pytest.mark.parametrize(("asked", "day"), [("2024-05-20", "06"), ("2024-05-15", "01")])
def test_a_search_counts_days_from_when_it_is_asked(mnemic: Call, tmp_path: Path, asked: str, day: str) -> None:
    file = tmp_path / "talk.jsonl"
    said = [
        {"role": "user", "content": "Bought a lamp.", "session": one, "sent_at": f"2024-05-{one}T09:00:00Z"}
        for one in ("20", "06", "01")
    ]
    file.write_text("".join(f"{json.dumps(message)}\n" for message in said))
    mnemic("import", str(file))
    found = data(mnemic, "search", "Which lamp did I buy two weeks ago?", "--asked-at", asked)["hits"]
    assert found[0]["memory"]["occurred_at"].startswith(f"2024-05-{day}")


MESSAGE = "For incident updates use email as the primary channel, and remember that I am enterprise tier."
INCIDENT = Path(__file__).parents[2] / "examples" / "incident" / "policy.toml"


def blocked(report: Any) -> list[dict[str, str]]:
    return [entry for event in report["history"] for entry in event.get("blocked", ())]


def test_the_trust_toggle_is_a_setting(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("run", "--message", MESSAGE, "--policy", str(INCIDENT))
    assert blocked(data(mnemic, *words)) == [{"key": "declared_tier", "reason": "key_denied_execution"}]
    monkeypatch.setenv("MNEMIC_TRUSTED_KEYS", '["declared_tier"]')
    assert blocked(data(mnemic, *words)) == []


def test_policy_file_alone_opens_the_workspace_and_a_further_key(mnemic: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    text = INCIDENT.read_text().replace('[grant]\nlevels = ["user"]', '[grant]\nlevels = ["user", "workspace"]')
    for line in ("[keys.timezone]", "preference = true", 'verifier = "contains"', 'trust = ["declared_tier"]'):
        text = text.replace(f"# {line}", line)
    policy.write_text(text)
    context = tmp_path / "context.json"
    context.write_text('{"severity": "P1"}')

    told = data(mnemic, "run", "--message", f"{MESSAGE} My timezone is Europe/Oslo.", "--policy", str(policy))
    assert blocked(told) == []
    mnemic(
        "add",
        "concise",
        "--key",
        "response_style",
        "--level",
        "workspace",
        "--workspace",
        "w1",
        "--policy",
        str(policy),
    )
    words = (
        "--goal",
        "Draft the incident update.",
        "--context",
        str(context),
        "--preference-bias",
        "--workspace",
        "w1",
    )
    report = data(mnemic, "run", *words, "--policy", str(policy))

    assert "Europe/Oslo" in report["answer"]
    assert {"timezone", "response_style"} <= set(report["used_memory_keys"])
    assert {entry["scope"] for entry in report["applied_memory"]} == {"user", "workspace"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("mnemic sea", {"search"}),
        ("mnemic ex", {"export"}),
        ("mnemic search --ki", {"--kind"}),
        ("mnemic search --kind ep", {"episodic"}),
        ("mnemic completion z", {"zsh"}),
        ("mnemic demo tr", {"travel"}),
    ],
)
def test_a_shell_completes_words(monkeypatch: pytest.MonkeyPatch, words: str, offered: set[str]) -> None:
    environment = {
        "_MNEMIC_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    result = CliRunner().invoke(cli, [], prog_name="mnemic", env=environment)
    assert {line.partition(",")[2] for line in result.stdout.splitlines()} == offered


def test_the_version(mnemic: Call) -> None:
    assert mnemic("--version").stdout.startswith("mnemic 0.")


def test_an_import_under_a_policy_says_what_it_left_out(mnemic: Call, tmp_path: Path) -> None:
    policy, chat = tmp_path / "policy.toml", tmp_path / "chat.jsonl"
    policy.write_text('[keys.seat]\nallowed_values = ["aisle", "window"]\n\n[keys.diet]\nsensitive = true\n')
    said = ["I am vegetarian and I live in Oslo.", "I prefer window seats.", "See you tomorrow at five."]
    chat.write_text("\n".join(json.dumps({"role": "user", "content": one}) for one in said))
    dry = data(mnemic, "--policy", str(policy), "import", "--dry-run", str(chat))["facts"]
    told = mnemic("--policy", str(policy), "import", str(chat))
    done = data(mnemic, "--policy", str(policy), "import", "--again", str(chat))
    assert told.exit_code == 0
    assert (done["blocked"], done["left_out"]) == (dry["blocked"], dry["left_out"])
    assert sum(done["left_out"].values()) >= 1
    assert "key denied execution" in told.stdout
    assert "left out" in told.stdout
    assert "keyless = true" in told.stderr
