"""review, consent, erase, audit and maintain, as typed."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.cli import cli
from tests.scripted_model import ScriptedModelServer

Run = Callable[..., tuple[int, Any]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a command on one file; its exit code and its JSON."""

    def run(*words: str, user: str = "ana") -> tuple[int, Any]:
        common = ["--store", str(tmp_path / "m.db"), "--user", user, "--json"]
        result = CliRunner().invoke(cli, [*words, *common], prog_name="mnemic")
        return result.exit_code, json.loads(result.stdout) if result.stdout.startswith("{") else result.stdout

    return run


def test_what_people_share_is_reviewed_by_somebody_else(run: Run, tmp_path: Path) -> None:
    policy = tmp_path / "shared.toml"
    policy.write_text('[grant]\nlevels = ["user", "workspace"]\n')
    shared = ("--level", "workspace", "--workspace", "w", "--policy", str(policy))
    run("add", "The office is open on Sundays.", *shared)
    code, flagged = run("add", "The office is not open on Sundays.", *shared)
    assert (code, flagged["outcome"]) == (0, "pending_review")
    code, queue = run("review", "list")
    assert [one["memory"]["memory_id"] for one in queue["waiting"]] == [flagged["memory_id"]]
    assert queue["waiting"][0]["proposer"] == "ana"
    code, told = run("review", "approve", flagged["memory_id"])
    assert (code, told["failed"][0]["reason"]) == (1, "review_denied:proposer")
    code, told = run("review", "approve", flagged["memory_id"], user="ben")
    assert (code, told["receipts"][0]["outcome"]) == (0, "superseded")
    assert run("review", "list")[1] == {"waiting": []}
    assert run("review", "reject", "--older-than", "0")[1]["receipts"] == []
    assert run("review", "approve")[0] == 2
    assert run("review", "approve", "a", "b", "--content", "x")[0] == 2


def test_the_author_settles_a_change_of_their_own_reviewed_key(run: Run, tmp_path: Path) -> None:
    policy = tmp_path / "reviewed.toml"
    policy.write_text('open_keys = true\n[keys.seat]\non_change = "review"\n')
    told = ("--policy", str(policy))
    run("add", "aisle", "--key", "seat", *told)
    flagged = run("add", "window", "--key", "seat", *told)[1]
    assert (flagged["outcome"], flagged["reason"]) == ("pending_review", "key_needs_review")
    code, approved = run("review", "approve", flagged["memory_id"], *told)
    assert (code, approved["receipts"][0]["outcome"]) == (0, "superseded")
    assert [memory["content"] for memory in run("list")[1]["memories"]] == ["window"]
    again = run("add", "middle", "--key", "seat", *told)[1]
    assert run("review", "reject", again["memory_id"], *told)[0] == 0
    assert run("review", "list")[1] == {"waiting": []}


def test_a_replacement_is_taken_back(run: Run) -> None:
    old = run("add", "Berlin", "--key", "home_city")[1]
    new = run("add", "Munich", "--key", "home_city")[1]
    code, told = run("undo", new["memory_id"])
    assert (code, told["status"], told["restored"]) == (0, "rejected", [old["memory_id"]])
    assert [memory["content"] for memory in run("list")[1]["memories"]] == ["Berlin"]
    assert run("undo", old["memory_id"])[0] == 3
    assert run("undo", new["memory_id"])[0] == 1


def test_consent_is_taken_back(run: Run) -> None:
    run("add", "vegan", "--key", "diet")
    code, told = run("consent", "revoke", "diet")
    assert (code, told["consents"][0]["hidden"]) == (0, 1)
    assert run("list")[1]["memories"] == []
    code, refused = run("add", "omnivore", "--key", "diet")
    assert (code, refused["reason"]) == (1, "consent_required:diet")
    assert run("consent", "list")[1] == {"consents": [{"key": "diet", "granted": False}]}
    run("consent", "grant", "diet")
    assert len(run("list")[1]["memories"]) == 1
    assert run("consent", "revoke", "diet", "--erase")[1]["consents"][0]["erased"]["complete"] is True
    assert run("consent", "grant")[0] == 2


def test_erasure_is_proven_by_its_receipt(run: Run, tmp_path: Path) -> None:
    run("add", "The Zyxwvutcanary sings.")
    receipt = tmp_path / "receipt.json"
    code, told = run("erase", "ana", "--yes", "--receipt", str(receipt), user="ben")
    assert (code, told["complete"], told["counts"]["memories"]) == (0, True, 1)
    assert b"Zyxwvutcanary" not in (tmp_path / "m.db").read_bytes()
    job = tmp_path / "job.json"
    job.write_text(json.dumps({"state": "done", "erased": json.loads(receipt.read_text())}))
    assert run("erase", "--verify", str(job))[0] == 0
    code, told = run("erase", "--verify", str(receipt))
    assert (code, told["holds"]) == (0, True)
    assert run("erase")[0] == 2
    receipt.write_text("{}", encoding="utf-8")
    assert run("erase", "--verify", str(receipt))[0] == 3


@pytest.mark.parametrize("place", ["receipt.json", "absent/receipt.json"])
def test_a_receipt_that_cannot_be_kept_stops_the_erasure_before_it_begins(run: Run, tmp_path: Path, place: str) -> None:
    run("add", "The cat is called Miso.")
    (tmp_path / "receipt.json").write_text("the receipt of somebody else", encoding="utf-8")
    assert run("erase", "ana", "--yes", "--receipt", str(tmp_path / place), user="ben")[0] == 3
    assert (tmp_path / "receipt.json").read_text(encoding="utf-8") == "the receipt of somebody else"
    assert len(run("list")[1]["memories"]) == 1


def test_a_person_is_told_how_much_was_erased(run: Run, tmp_path: Path) -> None:
    def said(*words: str) -> str:
        return CliRunner().invoke(cli, [*words, "--store", str(tmp_path / "m.db"), "--user", "ana"]).stdout

    run("add", "vegan", "--key", "diet")
    assert said("consent", "revoke", "diet", "--erase").split() == ["diet", "revoked,", "1", "memory", "erased"]
    run("add", "The sea is calm.")
    shown = said("erase", "ana", "--yes")
    assert shown.startswith("erased\n")
    assert ["memories", "1"] in [line.split() for line in shown.splitlines()]
    assert not {"vault", "outbox", "facet"} & set(shown.split())
    assert said("erase", "ana", "--yes").startswith("nothing was held about this user\n")


def test_what_was_undone_is_told_in_words(run: Run, tmp_path: Path) -> None:
    old = run("add", "Berlin", "--key", "home_city")[1]["memory_id"]
    new = run("add", "Munich", "--key", "home_city")[1]["memory_id"]
    shown = CliRunner().invoke(cli, ["undo", new, "--store", str(tmp_path / "m.db"), "--user", "ana"]).stdout
    assert shown == f"undone  {new}  (active again: {old})\n"


def test_a_mistyped_name_is_not_taken_for_an_erased_person(run: Run, tmp_path: Path) -> None:
    run("add", "The sea is calm.")
    words = ["erase", "anna", "--yes", "--receipt", str(tmp_path / "r.json"), "--store", str(tmp_path / "m.db")]
    refused = CliRunner().invoke(cli, [*words, "--user", "ben"], prog_name="mnemic")
    assert refused.exit_code == 3
    assert "subject:unknown" in refused.stderr
    assert "nobody of the name 'anna' is known here; did you mean ana?" in refused.stderr
    assert not (tmp_path / "r.json").exists()
    assert run("erase", "anna", "--yes", "--force")[1]["counts"].get("memories", 0) == 0
    assert len(run("list")[1]["memories"]) == 1


def test_a_receipt_is_for_its_owner_alone(run: Run, tmp_path: Path) -> None:
    run("add", "The sea is calm.")
    run("erase", "ana", "--yes", "--receipt", str(tmp_path / "r.json"), user="ben")
    assert stat.S_IMODE((tmp_path / "r.json").stat().st_mode) == 0o600


def test_the_jobs_and_the_audit(run: Run) -> None:
    run("add", "The sea is calm.")
    code, told = run("maintain", "--dry-run")
    assert (code, told["dry_run"], told["behind"]) == (0, True, {"outbox": 1})
    code, told = run("maintain", "--vacuum")
    assert (told["expired"], told["clock_confirmed_at"]) == (0, None)
    code, told = run("audit", "verify")
    assert (code, told["holds"], told["lines"]) == (0, True, 1)
    code, told = run("audit", "list")
    assert [event["action"] for event in told["events"]] == ["created"]
    run("add", "The wind is strong.")
    assert [event["sequence"] for event in run("audit", "list", "-n", "1")[1]["events"]] == [2]
    assert [event["sequence"] for event in run("audit", "list", "-n", "1", "--after", "0")[1]["events"]] == [1]


def test_what_was_said_is_drawn_together_where_that_is_asked_for(run: Run, tmp_path: Path) -> None:
    lines = [
        {"role": "user", "content": text, "session": "trip", "timestamp": f"2024-05-01T10:0{place}:00Z"}
        for place, text in enumerate(
            ["We fly to Lisbon in May.", "The hotel is called Aurora.", "It has a garden."] * 2
        )
    ]
    chat = tmp_path / "chat.jsonl"
    chat.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert run("import", str(chat))[0] == 0
    assert "consolidated" not in run("maintain")[1]
    code, told = run("maintain", "--consolidate", "rules")
    assert (code, told["consolidated"]["made"], told["consolidated"]["complete"]) == (0, {"summary": 1}, True)
    assert told["consolidated"]["cost"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0}
    assert run("maintain", "--consolidate", "model")[1]["consolidated"]["degraded"] == {"no_model": 1}
    code, told = run("list")
    assert [one["category"] for one in told["memories"]].count("summary") == 1


def test_everything_about_somebody_is_written_for_machines_and_people(run: Run, tmp_path: Path) -> None:
    run("add", "vegan", "--key", "diet")
    run("add", "Ben's own affair.", user="ben")
    code, told = run("export", "--subject", "ana", user="zoe")
    assert (code, told["subject"], [one["content"] for one in told["memories"]]) == (0, "ana", ["vegan"])
    page = tmp_path / "ana.html"
    assert run("export", "--subject", "ana", "--page", "--output", str(page))[0] == 0
    assert "vegan" in (text := page.read_text(encoding="utf-8"))
    assert "own affair" not in text
    assert run("export", "--page")[0] == 2
    assert run("export", "--subject", "ana", "--values", user="zoe")[0] == 1


def test_an_archive_goes_round(run: Run, tmp_path: Path) -> None:
    run("add", "Berlin", "--key", "home_city")
    run("add", "Munich", "--key", "home_city")
    run("consent", "grant", "diet")
    file = tmp_path / "archive.jsonl"
    assert run("export", "--all", "--output", str(file))[1]["exported"] == 3
    (tmp_path / "m.db").rename(tmp_path / "old.db")
    assert run("import", str(file), "--own")[1]["recorded"] == 3
    assert [run("import", str(file))[1][name] for name in ("recorded", "refreshed")] == [0, 3]
    (munich,) = run("list")[1]["memories"]
    assert munich["content"] == "Munich"
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"format": "mnemic-archive/1", "versions": []}\n')
    code, told = run("import", str(file))
    assert (code, told["failed"]) == (3, [{"place": "line 4", "reason": "invalid_input:archive:versions"}])


def test_to_another_embedder(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("add", "The sea is calm.")
    assert run("maintain", "--reembed", "--dry-run")[0] == 2
    with ScriptedModelServer(dimension=768) as server:
        monkeypatch.setenv("MNEMIC_EMBEDDER", "http")
        monkeypatch.setenv("MNEMIC_EMBEDDER_URL", server.base_url)
        monkeypatch.setenv("MNEMIC_EMBEDDER_MODEL", "scripted")
        monkeypatch.setenv("MNEMIC_EMBEDDER_DIMENSION", "768")
        assert run("search", "calm sea")[0] == 5
        code, told = run("maintain", "--reembed")
        assert (code, told["reembedded"], told["expired"]) == (0, 1, 0)
        code, told = run("search", "calm sea")
        assert (code, told["hits"][0]["memory"]["content"]) == (0, "The sea is calm.")
        assert run("maintain", "--reembed")[1]["reembedded"] == 0


def test_an_operator_needs_no_name_but_a_memory_does(tmp_path: Path) -> None:
    """A container may run under a number that no file of names has."""

    def nameless(*words: str) -> Any:
        unnamed = {"LOGNAME": " ", "MNEMIC_USER": None}
        return CliRunner().invoke(cli, [*words, "--store", str(tmp_path / "m.db")], prog_name="mnemic", env=unnamed)

    assert nameless("apikeys", "create", "--role", "reader").exit_code == 0
    assert nameless("maintain").exit_code == 0
    assert nameless("audit", "verify").exit_code == 0
    assert nameless("export", "--subject", "ana").exit_code == 0
    assert nameless("add", "I ski.", "--user", "ana").exit_code == 0
    assert nameless("erase", "ana", "--yes").exit_code == 0
    listed = json.loads(nameless("audit", "list", "--json").stdout)
    assert f"uid:{os.getuid()}" in {line["actor"] for line in listed["events"]}
    for personal in (["add", "I ski."], ["list"], ["export"], ["serve", "--open"]):
        refused = nameless(*personal)
        assert refused.exit_code == 2
        assert "whose memory is it?" in refused.stderr


def test_the_first_start_of_a_service_prints_a_key_that_opens_it_and_later_ones_none(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[object] = []
    monkeypatch.setattr("mnemic_server.server.serve", lambda *given, **further: served.append(given))
    first = run("serve", "--host", "0.0.0.0", "--first-key")
    later = run("serve", "--host", "0.0.0.0", "--first-key")
    _, listed = run("apikeys", "list")

    assert first[0] == 0
    assert first[1].startswith("mnk_")
    assert later == (0, "")
    assert len(served) == 2  # otherwise the service would have refused the address: nobody could sign in
    assert [key["roles"] for key in listed["keys"]] == [["admin"]]
    assert listed["keys"][0]["expires_at"] is not None
