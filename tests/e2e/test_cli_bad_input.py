"""Whatever goes wrong: one clear line, the documented exit code, no traceback, and nothing lost."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner

from mnemic.cli import COMMANDS, cli
from mnemic.cli.terminal import Exit
from tests.e2e.conftest import Call, complaint

NAN = '{"a": NaN}'


@pytest.fixture
def kept(mnemic: Call) -> str:
    """One memory that must survive whatever the test does."""
    return str(json.loads(mnemic("add", "The cat is called Miso.", "--json").stdout)["memory_id"])


def assert_kept(mnemic: Call, memory_id: str) -> None:
    assert json.loads(mnemic("get", memory_id, "--json").stdout)["content"] == "The cat is called Miso."
    assert json.loads(mnemic("list", "--json").stdout)["total"] == 1


def test_reading_writes_into_no_empty_file(mnemic: Call, store: Path) -> None:
    store.touch()
    assert complaint(mnemic("list")).startswith("store_unavailable:missing")
    assert store.stat().st_size == 0
    assert mnemic("add", "The cat is called Miso.").exit_code == Exit.OK


def test_a_message_with_a_strange_role_names_the_roles(mnemic: Call, tmp_path: Path) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text(
        '{"role": "user", "content": "I live in Oslo."}\n{"role": "pope", "content": "x"}\n', encoding="utf-8"
    )
    for more in ([], ["--dry-run"]):
        told = mnemic("import", str(chat), *more).stderr
        assert "invalid_input:message:role - line 2: one of user, assistant, tool, system, participant\n" in told


def test_a_question_that_nobody_can_answer_ends_its_line(mnemic: Call) -> None:
    assert mnemic("add", "The cat is called Miso.").exit_code == Exit.OK
    told = mnemic("erase", "ana", "--force").stderr.splitlines()
    assert told[-1].startswith("mnemic: usage: cannot ask for confirmation without a terminal; add --yes")


def test_a_text_of_no_known_format_is_called_that(mnemic: Call, tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("Buy milk.\n", encoding="utf-8")
    told = complaint(mnemic("import", str(note)))
    assert told.startswith("invalid_input:file:json")
    assert "no text of a format that is known" in told


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (["add", ""], Exit.INPUT, "invalid_"),
        (["add", " \n\t"], Exit.INPUT, "invalid_"),
        (["add", "x" * 9000], Exit.INPUT, "invalid_"),
        (["add", "x", "--key", ""], Exit.INPUT, "invalid_"),
        (["add", "x", "--key", "a\u200bb"], Exit.INPUT, "invalid_"),
        (["add", "x", "--key", "k" * 200], Exit.INPUT, "invalid_"),
        (["add", "x", "--kind", "nonsense"], Exit.INPUT, "invalid_input:kind"),
        (["add", "x", "--kind", "working"], Exit.INPUT, "invalid_"),
        (["add", "x", "--level", "galaxy"], Exit.INPUT, "invalid_input:level"),
        (["add", "x", "--level", "workspace"], Exit.REFUSED, None),
        (["add", "x", "--confidence", "nan"], Exit.INPUT, "invalid_"),
        (["add", "x", "--confidence", "high"], Exit.USAGE, "usage"),
        (["add", "x", "--ttl", "soon"], Exit.INPUT, "invalid_input:ttl"),
        (["add", "x", "--data", NAN], Exit.INPUT, "invalid_input:data"),
        (["add", "x", "--data", "[1]"], Exit.INPUT, "invalid_input:data"),
        (["add", "x", "--data", '{"a":1,"a":2}'], Exit.INPUT, "invalid_input:data"),
        (["add", "x", "--data", '{"a":' * 40 + "1" + "}" * 40], Exit.INPUT, "invalid_input:data"),
        (["add", "x", "--occurred-at", "yesterday"], Exit.INPUT, "invalid_input:occurred_at"),
        (["add", "x", "--idempotency-key", "k" * 600], Exit.INPUT, "invalid_input:idempotency_key"),
        (["add", "a\ud800b"], Exit.INPUT, "invalid_input:argument:encoding"),
        (["capture", ""], Exit.INPUT, "invalid_input:message:empty"),
        (["search", "cat", "--top-k", "0"], Exit.INPUT, "invalid_input:top_k"),
        (["search", "cat", "--top-k", "101"], Exit.INPUT, "invalid_input:top_k"),
        (["search", "cat", "--kind", "nonsense"], Exit.INPUT, "invalid_input:kind"),
        (["search", "cat", "--level", "workspace"], Exit.REFUSED, "scope_denied:workspace"),
        (["search", "cat", "--since", "2026-13-01"], Exit.INPUT, "invalid_input:since"),
        (["get", "no-such-memory"], Exit.REFUSED, "memory_not_found"),
        (["get", "' OR 1=1 --"], Exit.REFUSED, "memory_not_found"),
        (["history", "no-such-memory"], Exit.REFUSED, "memory_not_found"),
        (["update", "no-such-memory", "x"], Exit.REFUSED, "memory_not_found"),
        (["forget", "--yes", "no-such-memory"], Exit.REFUSED, "memory_not_found"),
        (["run"], Exit.USAGE, "usage"),
        (["run", "--goal", ""], Exit.INPUT, "invalid_input:goal:empty"),
        (["run", "--goal", "x", "--context", "absent.json"], Exit.INPUT, "invalid_input:file:missing"),
        (["run", "--goal", "x", "--context", "."], Exit.INPUT, "invalid_input:file:directory"),
        (["import", "absent.jsonl"], Exit.INPUT, "invalid_input:file:missing"),
        (["import", "."], Exit.INPUT, "invalid_input:file:directory"),
        (["import", "x", "--format", "docx"], Exit.INPUT, "invalid_input:format"),
        (["export", "--output", "."], Exit.INPUT, "invalid_input:file:directory"),
        (["export", "--output", "absent/x"], Exit.INPUT, "invalid_input:file:unwritable"),
        (["list", "--policy", "absent.toml"], Exit.INPUT, "invalid_config:policy_file"),
        (["list", "--tenant", "../other"], Exit.INPUT, "invalid_input:tenant"),
        (["list", "--user", ""], Exit.INPUT, "invalid_input:user"),
        (["nonsense"], Exit.USAGE, "usage"),
        (["add"], Exit.USAGE, "usage"),
        (["add", "x", "--nonsense"], Exit.USAGE, "usage"),
        (["demo", "--keep", "/dev/null/x"], Exit.INPUT, "invalid_input:keep"),
    ],
    ids=lambda value: " ".join(value)[:40].encode("ascii", "replace").decode() if isinstance(value, list) else None,
)
def test_bad_words(mnemic: Call, kept: str, words: list[str], code: Exit, reason: str | None) -> None:
    result = mnemic(*words)

    assert result.exit_code == code, result.stderr
    if reason is not None:
        assert complaint(result).startswith(reason)
    assert "Traceback" not in result.output
    assert_kept(mnemic, kept)


@pytest.mark.parametrize(
    ("stdin", "reason"),
    [
        (b"", "invalid_"),
        (b"a\0b", "invalid_"),
        (b"caf\xe9", "invalid_input:stdin:encoding"),
        (b"\xed\xa0\x80", "invalid_input:stdin:encoding"),
        (b"x" * (2 * 1024 * 1024), "invalid_input:stdin:too_large"),
    ],
    ids=["empty", "NUL", "latin-1", "surrogate", "too large"],
)
def test_bad_standard_input(mnemic: Call, kept: str, stdin: bytes, reason: str) -> None:
    result = mnemic("add", "-", stdin=stdin)

    assert result.exit_code == Exit.INPUT
    assert complaint(result).startswith(reason)
    assert_kept(mnemic, kept)


@pytest.mark.parametrize(
    ("data", "reason"),
    [(b"{", "file:json"), (NAN.encode(), "file:json"), (b"[1]", "file:json"), (b"\xff\xfe{}", "file:encoding")],
)
def test_bad_context_file(mnemic: Call, tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "context.json").write_bytes(data)
    result = mnemic("run", "--goal", "x", "--context", "context.json")
    assert result.exit_code == Exit.INPUT
    assert complaint(result).startswith(f"invalid_input:{reason}")


def _random_bytes(file: Path) -> None:
    file.write_bytes(random.Random(7).randbytes(20_000))


def _truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _damaged(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[100:4000] = bytes(3900)
    file.write_bytes(data)


def _text(file: Path) -> None:
    file.write_text("Dear diary, today I was not a database.\n" * 200)


def _other_program(file: Path) -> None:
    file.unlink()
    with apsw.Connection(str(file)) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")


@pytest.mark.parametrize("damage", [_random_bytes, _truncated, _damaged, _text, _other_program])
def test_a_file_that_is_no_store(mnemic: Call, kept: str, store: Path, damage: Callable[[Path], None]) -> None:
    damage(store)
    before = store.read_bytes()
    for words in (["add", "x"], ["list"], ["search", "cat"], ["export"]):
        result = mnemic(*words)
        assert result.exit_code == Exit.STORE, (words, result.output)
        assert complaint(result).startswith("store_corrupt")
    assert mnemic("doctor").exit_code == Exit.STORE
    assert store.read_bytes() == before


def test_a_newer_schema_is_left_alone(mnemic: Call, kept: str, store: Path) -> None:
    with apsw.Connection(str(store)) as connection:
        version = connection.pragma("user_version")
        connection.pragma("user_version", 999)
    connection.close()
    for words in (["add", "x"], ["list"], ["search", "cat"]):
        result = mnemic(*words)
        assert result.exit_code == Exit.STORE
        assert complaint(result).startswith("store_newer")
    with apsw.Connection(str(store)) as connection:
        connection.pragma("user_version", version)
    connection.close()
    assert_kept(mnemic, kept)


def test_an_older_mnemic_s_folder_is_not_a_store(mnemic: Call, tmp_path: Path) -> None:
    result = mnemic("add", "x", "--store", str(tmp_path))
    assert result.exit_code == Exit.STORE
    assert complaint(result).startswith("store_unavailable")


def test_reading_what_is_not_there_makes_nothing(mnemic: Call, store: Path) -> None:
    for words in (["list"], ["search", "x"], ["export"], ["get", "x"], ["forget", "--yes", "x"], ["doctor"]):
        assert mnemic(*words).exit_code == Exit.STORE
    assert not store.exists()


def test_another_vector_space_is_refused(mnemic: Call, kept: str, store: Path) -> None:
    with apsw.Connection(str(store)) as connection:
        connection.execute("UPDATE space SET model = 'another'")
    connection.close()
    result = mnemic("search", "cat")
    assert result.exit_code == Exit.MODEL
    assert complaint(result).startswith("embedding_space_mismatch - ")
    assert mnemic("doctor").exit_code == Exit.MODEL


def test_a_memory_that_was_tampered_with_is_seen_by_the_doctor(mnemic: Call, kept: str, store: Path) -> None:
    with apsw.Connection(str(store)) as connection:
        connection.execute("DROP TRIGGER audit_is_never_changed")
        connection.execute("UPDATE audit SET event = replace(event, 'ana', 'eve')")
    connection.close()
    result = mnemic("doctor")
    assert result.exit_code == Exit.STORE
    assert "broken at line 1" in result.stdout


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MNEMIC_DURABILITY", "maybe"),
        ("MNEMIC_MAX_SECONDS", "nan"),
        ("MNEMIC_TRUSTED_KEYS", "not json"),
        ("MNEMIC_STORE", "oracle://nowhere/x"),
    ],
)
def test_a_bad_setting(mnemic: Call, monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(variable, value)
    result = CliRunner().invoke(cli, ["--user", "ana", "add", "x"])
    assert result.exit_code == Exit.INPUT
    assert complaint(result).startswith("invalid_config:")


# ---------------------------------------------------------------- real processes


def test_bytes_that_are_no_text(process: Callable[..., subprocess.CompletedProcess[bytes]]) -> None:
    run = process("add", b"caf\xe9")
    assert run.returncode == Exit.INPUT
    assert run.stderr.startswith(b"mnemic: invalid_input:argument:encoding")
    assert run.stderr.count(b"\n") == 1


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is not measured: on a full disk it could not write down which lines it ran either, and says so."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


@pytest.mark.usefixtures("unmeasured")
def test_a_full_disk(process: Callable[..., subprocess.CompletedProcess[bytes]], mnemic: Call, store: Path) -> None:
    """A write that finds no room leaves one line, and everything acknowledged before it."""
    acknowledged = json.loads(process("add", "The cat is called Miso.", "--json").stdout)["memory_id"]

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))

    full = process("add", "A long story about cats. " * 300, preexec_fn=no_room)
    assert full.returncode == Exit.STORE
    assert full.stderr.startswith(b"mnemic: ")
    assert full.stderr.count(b"\n") == 1
    assert b"Traceback" not in full.stderr

    shown = json.loads(process("get", acknowledged, "--json").stdout)
    assert shown["content"] == "The cat is called Miso."
    assert process("doctor").returncode == Exit.OK
    assert json.loads(process("list", "--json").stdout)["total"] == 1


@pytest.mark.usefixtures("unmeasured")
def test_an_import_on_a_full_disk_goes_on_later(
    process: Callable[..., subprocess.CompletedProcess[bytes]], store: Path, tmp_path: Path
) -> None:
    """What was taken in before the disk was full stays; the same command takes in the rest, once."""
    process("add", "The cat is called Miso.")
    talk = tmp_path / "talk.jsonl"
    said = [{"role": "assistant", "content": f"Chapter {number}. " + f"word{number} " * 600} for number in range(240)]
    talk.write_text("".join(f"{json.dumps(message)}\n" for message in said))

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_600_000, 1_600_000))

    full = process("import", str(talk), "--json", preexec_fn=no_room)
    assert full.returncode == Exit.STORE
    assert full.stderr.count(b"\n") == 1
    taken = json.loads(full.stdout)["recorded"]
    assert 0 < taken < 240

    rest = json.loads(process("import", str(talk), "--json").stdout)
    assert rest["recorded"] + rest["refreshed"] == 240
    assert rest["recorded"] <= 240 - taken
    assert json.loads(process("list", "--json").stdout)["total"] == 241


def test_a_reader_that_goes_away(process: Callable[..., subprocess.CompletedProcess[bytes]], store: Path) -> None:
    process("add", "The cat is called Miso.")
    command = [sys.executable, "-m", "mnemic", "--store", str(store), "--user", "ana", "export"]
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, timeout=60)
    os.close(writing)
    assert (run.returncode, run.stderr) == (Exit.PIPE_CLOSED, b"")


_INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts its background jobs deaf to it

class Waiting:
    class buffer:
        def read(size):
            print("ready", flush=True)
            signal.pause()

sys.stdin = Waiting
from mnemic.cli import main
main()
"""


def test_an_interrupt(store: Path) -> None:
    command = [sys.executable, "-c", _INTERRUPTED, "--store", str(store), "--user", "ana", "add", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"ready\n"
        run.send_signal(signal.SIGINT)
        _, complaints = run.communicate(timeout=60)
    assert run.returncode == Exit.INTERRUPTED
    assert complaints.strip() == b"mnemic: interrupted"


def test_output_that_cannot_be_written(process: Callable[..., Any], store: Path) -> None:
    process("add", "The cat is called Miso.")
    command = [sys.executable, "-m", "mnemic", "--store", str(store), "--user", "ana", "list"]
    with Path("/dev/full").open("wb") as full:
        run = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert run.returncode == Exit.REFUSED
    assert run.stderr.startswith(b"mnemic: output_failed:ENOSPC")


def test_a_narrow_terminal_encoding_loses_no_line(process: Callable[..., Any]) -> None:
    process("add", "Zürich 東京 🎉")
    run = process("list", env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert run.returncode == Exit.OK
    assert rb"\u6771\u4eac" in run.stdout
    assert "Zürich".encode("latin-1") in run.stdout


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help_for_a_stranger(mnemic: Call, name: str) -> None:
    shown = mnemic(name, "--help")
    assert shown.exit_code == 0
    assert "Usage: mnemic" in shown.stdout
    assert COMMANDS[name].line.split()[0].rstrip(".") in shown.stdout or len(shown.stdout.splitlines()) > 8


def test_without_words_it_shows_its_help(mnemic: Call) -> None:
    result = CliRunner().invoke(cli, [])
    assert result.exit_code == Exit.USAGE
    assert "\nMemories:\n" in result.stderr
