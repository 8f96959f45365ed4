"""What the command line tells people, where that was once not what had happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Call, complaint


def test_a_redacted_memory_is_not_told_as_it_was_typed(mnemic: Call) -> None:
    told = mnemic("add", "Write to ana@example.org.").stdout
    assert "ana@example.org" not in told
    assert told.startswith("created")
    assert "redacted: EMAIL:1" in told
    memory_id = told.split()[1]
    told = mnemic("update", memory_id, "Write to ana@example.net.").stdout
    assert "ana@example.net" not in told
    assert "redacted: EMAIL:1" in told
    told = mnemic("add", "bo@example.org", "--key", "mail").stdout
    assert "bo@example.org" not in told
    assert "  mail  " in told


def test_what_a_policy_blocks_is_not_repeated(mnemic: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[redaction.entities]\nEMAIL = "block"\n', encoding="utf-8")
    told = mnemic("add", "Write to ana@example.org.", "--policy", str(policy)).stdout
    assert (told.split(), "ana@" in told) == (["blocked", "pii_blocked:EMAIL"], False)


def test_a_closed_policy_says_how_to_write_without_a_key(mnemic: Call, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text("[keys.seat]\n", encoding="utf-8")
    said = complaint(mnemic("add", "I like tea.", "--policy", str(policy)))
    assert said.startswith("invalid_memory_candidates:missing_keys - ")
    assert "keyless = true" in said
    policy.write_text("keyless = true\n[keys.seat]\n", encoding="utf-8")
    assert mnemic("add", "I like tea.", "--policy", str(policy)).exit_code == 0


def test_the_upkeep_is_told_in_words(mnemic: Call) -> None:
    mnemic("add", "I like tea.")
    told = mnemic("maintain", "--consolidate", "rules").stdout
    rows = dict(line.split(maxsplit=1) for line in told.splitlines())
    assert rows["expired"] == "0"
    assert not any(sign in told for sign in "{}'")
    assert "None" not in told
    assert "False" not in told
    assert "dry run" not in told
    assert mnemic("maintain", "--dry-run").stdout.split()[:3] == ["dry", "run", "yes"]


def test_a_model_without_a_key_costs_no_statement_and_says_what_is_missing(
    mnemic: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_MODEL", "gpt-4.1-mini")
    told = mnemic("capture", "I live in Oslo.")
    assert (told.exit_code, "home_city  Oslo" in told.stdout) == (0, True)
    assert "MNEMIC_API_KEY" in complaint(told)


def test_a_model_that_does_not_answer_is_told_beside_what_the_rules_read(
    mnemic: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_MODEL", "own")
    monkeypatch.setenv("MNEMIC_MODEL_URL", "http://127.0.0.1:9/v1")
    told = mnemic("capture", "I live in Oslo.")
    assert (told.exit_code, "home_city  Oslo" in told.stdout) == (0, True)
    assert complaint(told).startswith("degraded:llm_unavailable - only the rules read it; asked own at ")


def test_a_missing_folder_of_an_output_is_named(mnemic: Call, tmp_path: Path) -> None:
    mnemic("add", "I like tea.")
    assert f"the folder {tmp_path / 'no'} does not exist" in complaint(mnemic("export", "--output", "no/all.jsonl"))


def test_one_memory_is_one(mnemic: Call) -> None:
    mnemic("add", "I like tea.")
    assert "exported  1 memory to all.jsonl" in mnemic("export", "--output", "all.jsonl").stdout


def test_a_store_without_copies_says_so(mnemic: Call) -> None:
    mnemic("add", "I like tea.")
    said = complaint(mnemic("maintain", "--rebuild", "graph"))
    assert said == "invalid_input:projection - this store feeds no copy"


def test_only_its_owner_can_read_a_new_memory_file(mnemic: Call, store: Path) -> None:
    mnemic("add", "I like tea.")
    assert store.stat().st_mode & 0o077 == 0
    store.chmod(0o640)
    mnemic("add", "I like coffee.")
    assert store.stat().st_mode & 0o077 == 0o040
