"""Keys on the command line: made, used, sealed with, rotated, and what is said without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.cli.terminal import Exit
from tests.e2e.conftest import Call

CANARY = "canary.jane@acme-mail.com"
POLICY = '[redaction]\nreveal = ["privacy_officer"]\n[redaction.entities]\nEMAIL = "tokenise"\n'


@pytest.fixture
def keyed(mnemic: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    monkeypatch.setenv("MNEMIC_KEY_FILE", str(tmp_path / "keys" / "master.key"))
    (tmp_path / "keys").mkdir()
    assert mnemic("keys", "init").exit_code == Exit.OK
    return mnemic


def shown(mnemic: Call, *words: str) -> dict[str, object]:
    result = mnemic("--json", *words)
    assert result.exit_code == Exit.OK, result.stderr
    parsed: dict[str, object] = json.loads(result.stdout)
    return parsed


def test_a_tokenised_value_is_shown_to_the_role_and_to_no_other(keyed: Call, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    policy = ("--policy", str(tmp_path / "policy.toml"))
    added = shown(keyed, *policy, "add", f"Write to {CANARY}")
    memory_id = str(added["memory_id"])
    assert CANARY not in keyed(*policy, "get", memory_id).stdout
    revealed = shown(keyed, *policy, "reveal", memory_id, "--role", "privacy_officer")
    assert revealed["content"] == f"Write to {CANARY}"
    denied = keyed(*policy, "reveal", memory_id, "--role", "reader")
    assert denied.exit_code == Exit.REFUSED
    assert "reveal_denied:role" in denied.stderr
    assert CANARY not in denied.output


def test_what_policy_blocks_is_not_said_again(mnemic: Call, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text('[redaction.entities]\nSSN = "block"\n', encoding="utf-8")
    refused = mnemic("--policy", str(tmp_path / "policy.toml"), "add", "my ssn is 536-90-4399")
    assert "pii_blocked:SSN" in refused.output
    assert "4399" not in refused.output


def test_a_plain_store_is_sealed_searched_and_its_key_rotated(
    keyed: Call, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed("add", "The zwieback is in the blue tin")
    assert b"zwieback" in store.read_bytes()
    assert "nothing is encrypted" in keyed("doctor").stdout
    monkeypatch.setenv("MNEMIC_SEAL", "1")
    assert keyed("doctor").exit_code == Exit.STORE
    assert shown(keyed, "keys", "seal") == {"sealed": 1}
    assert keyed("doctor").exit_code == Exit.OK
    files = [file for file in store.parent.glob(f"{store.name}*") if file.is_file()]
    assert [file.name for file in files if b"zwieback" in file.read_bytes()] == []
    told = shown(keyed, "keys", "rotate")
    assert (told["keys"], told["destroyed"], told["wrapped_anew"]) == (1, 0, 2), "the audit's key is wrapped too"
    assert "blue tin" in keyed("search", "zwieback").stdout
    assert shown(keyed, "keys", "rotate", "--data", "--subject", "nobody")["subjects"] == 0
    told = shown(keyed, "keys", "rotate", "--data")
    assert (told["subjects"], told["resealed"], told["destroyed"]) == (1, 1, 1)
    assert shown(keyed, "keys", "status")["being_rotated"] == 0
    assert "blue tin" in keyed("search", "zwieback").stdout
    assert keyed("keys", "status", "--data").exit_code == Exit.USAGE


def test_a_sealed_backup_is_restored_without_whom_was_erased_since(
    keyed: Call, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MNEMIC_SEAL", "1")
    for user, said in (("ana", "The zwieback is in the blue tin"), ("ben", "The heron is on the roof")):
        assert keyed("add", said, user=user).exit_code == Exit.OK
    assert keyed("backup", str(store.parent / "monday")).exit_code == Exit.OK
    assert keyed("erase", "ana", "--yes", user="ben").exit_code == Exit.OK
    restored = ("--to", str(store.parent / "restored.db"), "--erasures", str(store))
    told = keyed("restore", str(store.parent / "monday"), *restored)
    assert told.exit_code == Exit.OK, told.stderr
    copy = ("--store", str(store.parent / "restored.db"))
    assert "heron" in keyed(*copy, "list", user="ben").stdout
    assert "erased" not in keyed(*copy, "list", user="ana").stdout


def test_without_the_key_it_is_said_and_nothing_is_shown(keyed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_SEAL", "1")
    keyed("add", "The zwieback is in the blue tin")
    monkeypatch.delenv("MNEMIC_SEAL")
    monkeypatch.delenv("MNEMIC_KEY_FILE")
    listed = keyed("list")
    assert listed.exit_code == Exit.STORE
    assert "key_failed:missing" in listed.stderr
    told = keyed("doctor")
    assert told.exit_code == Exit.STORE
    assert "no master key is named" in told.stdout


def test_keys_need_a_file_and_never_write_over_one(mnemic: Call, keyed: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "invalid_config:key_file" in keyed("keys", "init").stderr
    monkeypatch.setenv("MNEMIC_SEAL", "1")
    monkeypatch.delenv("MNEMIC_KEY_FILE")
    for words in (["keys", "status"], ["add", "x"]):
        result = mnemic(*words)
        assert result.exit_code == Exit.INPUT
        assert "invalid_config:" in result.stderr
