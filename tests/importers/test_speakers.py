"""Speakers of an export, and the user among them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.cli import cli
from mnemic.cli.terminal import Exit
from mnemic.importers.conversation_files import read_conversation
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.speakers import speakers_in, with_user
from mnemic.types import Message
from tests.service import MNEMIC

CHAT = (
    "[12/03/2024, 21:15:42] Ana: I am vegetarian and I live in Oslo.\n"
    "[12/03/2024, 21:16:42] Ben King: I prefer aisle seats.\n"
    "[12/03/2024, 21:16:50] Ben King: \u200eimage omitted\n"
    "[12/03/2024, 21:19:42] Ana: See you tomorrow at five.\n"
)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """Chat as WhatsApp names it: the file does not name its owner."""
    path = tmp_path / "_chat.txt"
    path.write_text(CHAT, encoding="utf-8")
    return path


def run(chat: Path, *words: str, store: str = "m.db", answer: str | None = None) -> tuple[int, str, str]:
    common = ["--store", str(chat.with_name(store)), "--user", "ana"]
    result = CliRunner().invoke(cli, ["import", str(chat), *words, *common], prog_name="mnemic", input=answer)
    return result.exit_code, result.stdout, result.stderr


def piped(chat: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Import the chat from the standard input of a process."""
    common = ["--format", "whatsapp", "--store", str(chat.with_name("m.db")), "--user", "ana"]
    return subprocess.run(
        [*MNEMIC, "import", "-", *words, *common], input=CHAT, capture_output=True, text=True, encoding="utf-8"
    )


def kept(chat: Path) -> dict[str, str]:
    listed = CliRunner().invoke(cli, ["--json", "--store", str(chat.with_name("m.db")), "--user", "ana", "list"])
    return {one["key"]: one["content"] for one in json.loads(listed.stdout)["memories"] if one["key"]}


def test_a_chat_that_does_not_say_who_the_user_is_is_not_imported_in_silence(chat: Path) -> None:
    code, _, told = run(chat)
    assert code == Exit.INPUT
    assert "invalid_input:speaker:unknown" in told
    assert "Ana, Ben King" in told
    assert not chat.with_name("m.db").exists()


def test_the_user_is_named_by_an_option(chat: Path) -> None:
    code, told, _ = run(chat, "--me", " ben  KING ")
    assert code == 0, told
    assert kept(chat) == {"seat": "aisle"}


def test_a_name_that_nobody_bears_is_told_with_those_that_are_there(chat: Path) -> None:
    code, _, told = run(chat, "--me", "Anna")
    assert (code, "invalid_input:speaker -" in told, "Ana, Ben King" in told) == (Exit.INPUT, True, True)


def test_messages_alone_need_no_user(chat: Path) -> None:
    code, told, _ = run(chat, "--no-extract")
    assert (code, "recorded  3" in told) == (0, True)
    assert kept(chat) == {}


def test_whoever_sits_at_a_terminal_is_asked(chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.cli.export_import.at_terminal", lambda: True)
    code, _, told = run(chat, answer="Ana\n")
    assert (code, "Which of Ana, Ben King are you" in told) == (0, True)
    assert set(kept(chat)) == {"diet", "home_city"}


def test_an_export_that_knows_its_user_asks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Ben King.txt"
    path.write_text(CHAT, encoding="utf-8")
    assert run(path)[0] == 0
    assert set(kept(path)) == {"diet", "home_city"}


@pytest.mark.parametrize(("words", "asked"), [((), True), (("--me", "Nobody"), True), (("--me", "Ana"), False)])
@pytest.mark.parametrize("way", [(), ("--dry-run",)])
def test_standard_input_says_afterwards_that_nobody_is_known_to_be_the_user(
    chat: Path, words: tuple[str, ...], way: tuple[str, ...], asked: bool
) -> None:
    result = piped(chat, *words, *way)
    assert result.returncode == 0
    assert ("which of Ana, Ben King are you? --me NAME says so" in result.stderr) == asked


def test_a_chat_from_standard_input_can_be_imported_again_with_its_user(chat: Path) -> None:
    piped(chat)
    piped(chat, "--me", "Ana")
    assert set(kept(chat)) == {"diet", "home_city"}


def test_an_export_is_read_for_its_user_only_up_to_the_first_of_his_messages() -> None:
    said = [Message(role=role, content="Hello.", speaker=role) for role in ("participant", "user", "participant")]
    items = [Item(conversation="c", place=f"{number}", content=one) for number, one in enumerate(said)]
    assert (speakers_in(items).items, speakers_in(items, whole=False).items) == (3, 2)


def test_naming_the_user_turns_the_others_into_participants(tmp_path: Path) -> None:
    path = tmp_path / "WhatsApp Chat with Ben King.txt"
    path.write_text(CHAT, encoding="utf-8")
    items = list(with_user(read_conversation(path), "Ben King"))
    roles = [(one.content.speaker, one.content.role) for one in items if isinstance(one.content, Message)]
    assert roles == [("Ana", "participant"), ("Ben King", "user"), ("Ana", "participant")]
    assert speakers_in(items).knows_user


# -- dry run -----------------------------------------------------------------------------------------------------------


def rehearsed(chat: Path, *words: str) -> dict[str, Any]:
    code, told, _ = run(chat, "--dry-run", "--json", *words)
    assert code == 0
    shown: dict[str, Any] = json.loads(told)
    return shown


def test_a_dry_run_shows_what_would_be_kept_and_what_not(chat: Path) -> None:
    shown = rehearsed(chat, "--me", "Ana")
    assert shown["roles"] == {"user": 2, "participant": 1}
    assert {one["key"]: one["content"] for one in shown["facts"]["kept"]} == {"diet": "vegetarian", "home_city": "Oslo"}
    assert shown["facts"]["left_out"] == {"transient": 1}
    assert shown["skipped"] == {"media": 1}
    assert [(one["kind"], one["by"]) for one in shown["samples"]] == [
        ("user", "Ana"),
        ("participant", "Ben King"),
        ("user", "Ana"),
    ]
    assert not chat.with_name("m.db").exists()


def test_a_dry_run_is_read_by_people(chat: Path) -> None:
    _, told, _ = run(chat, "--dry-run", "--me", "Ana")
    for line in ("  diet: vegetarian", "  2024-03-12  Ben King: I prefer aisle seats.", "skipped   1 (1 media)"):
        assert line in told
    assert told.endswith("nothing was imported\n")


def test_a_dry_run_says_that_nobody_is_known_to_be_the_user(chat: Path) -> None:
    code, told, remark = run(chat, "--dry-run")
    assert (code, "facts" in told, "Ana, Ben King" in remark) == (0, False, True)


def test_a_dry_run_asks_no_model_and_no_server(chat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MNEMIC_MODEL_URL", "MNEMIC_EMBEDDER_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:1/v1")  # where nothing answers
    monkeypatch.setenv("MNEMIC_MODEL", "m")
    monkeypatch.setenv("MNEMIC_EMBEDDER", "http")
    monkeypatch.setenv("MNEMIC_EMBEDDER_MODEL", "e")
    monkeypatch.setenv("MNEMIC_EMBEDDER_DIMENSION", "8")
    assert len(rehearsed(chat, "--me", "Ana")["facts"]["kept"]) == 2


def test_a_dry_run_of_memories_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text("# Trip\n\nThe ferry leaves at nine.\n\n---\n", encoding="utf-8")
    shown = rehearsed(path)
    assert (shown["memories"], shown["samples"][0]["content"]) == (1, "The ferry leaves at nine.")


def test_a_dry_run_goes_by_the_policy(chat: Path) -> None:
    policy = chat.with_name("policy.toml")
    policy.write_text("open_keys = false\n[keys.diet]\n", encoding="utf-8")
    shown = rehearsed(chat, "--me", "Ana", "--policy", str(policy))
    assert [one["key"] for one in shown["facts"]["kept"]] == ["diet"]
