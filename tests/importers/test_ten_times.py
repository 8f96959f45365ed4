"""Ten times the allowed maximum, in the export of every product: a typed refusal by place, and the rest is imported."""

from __future__ import annotations

import gzip
import json
import zipfile
from datetime import UTC, datetime
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.cli.file_import import Intake, Summary
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.importers import entries
from mnemic.importers.conversation_files import read_conversation
from mnemic.importers.file_readers import multi_file_exports
from mnemic.importers.file_readers.item import Item
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.exports import FORMATS, chatgpt, exported, markdown, mem0, whatsapp

file_records = import_module("mnemic.importers.file_readers.records")
LONG = "sea " * 82_000
"""Ten times the characters of a message that is read."""
LONG_NAME = "n" * 10_000
DEEP: Any = 1
for _ in range(320):
    DEEP = {"a": DEEP}
WIDE = {f"n{number}": 1 for number in range(70_000)}
FIRST, LAST = "I live in Oslo.", "The boat is called Wanda."


async def taken(path: Path, **options: Any) -> tuple[Summary, set[str]]:
    """Import the file; return the summary and the stored memories."""
    clock = ManualClock(datetime(2026, 3, 5, tzinfo=UTC))
    ana = Actor(user="ana")
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock) as engine:
        intake = Intake(engine=engine, actor=ana, extract=False, own=True)
        summary = await intake.take(read_conversation(path, **options), lambda _: None)
        return summary, {one.content for one in await engine.list(actor=ana, limit=200)}


@pytest.mark.parametrize("name", FORMATS)
async def test_a_text_that_is_ten_times_too_long_stops_nothing(tmp_path: Path, name: str) -> None:
    summary, kept = await taken(exported(tmp_path, name, FIRST, LONG, LAST), file_format=name)
    assert {FIRST, LAST} <= kept
    assert summary.stopped is None
    parts = [one for one in kept if one.startswith("sea sea")]
    assert parts or [reason for _, reason in summary.failed] == ["invalid_memory_candidates:value_too_long"]


@pytest.mark.parametrize(
    "more", [{"more": DEEP}, {"metadata": DEEP}, {"attributes": DEEP}], ids=lambda one: next(iter(one))
)
@pytest.mark.parametrize("name", [one for one in FORMATS if one not in ("whatsapp", "markdown")])
async def test_a_file_that_is_ten_times_too_deep_is_refused_by_name(tmp_path: Path, name: str, more: Any) -> None:
    path = exported(tmp_path, name, FIRST, LAST, **more)
    try:
        summary, kept = await taken(path, file_format=name)
    except InvalidInput:
        return  # the file as a whole
    assert kept == set()
    assert summary.failed
    assert {reason.partition(":")[0] for _, reason in summary.failed} == {"invalid_input"}


@pytest.mark.parametrize("name", ["mem0", "graphiti", "langmem"])
async def test_data_that_is_ten_times_too_large_is_refused_by_place(tmp_path: Path, name: str) -> None:
    whole, wide = FORMATS[name][1](FIRST, LAST), FORMATS[name][1]("The sea is wide.", **_data_of(name, WIDE))
    path = tmp_path / FORMATS[name][0]
    if isinstance(whole, list):
        whole.insert(1, {**wide[0], "key": "wide"})
    else:
        (members,) = [one for one in whole.values() if isinstance(one, list)]
        (added,) = [one for one in wide.values() if isinstance(one, list)]
        members.insert(1, {**added[0], "id": "wide", "uuid": "wide"})
    path.write_text(json.dumps(whole), encoding="utf-8")
    summary, kept = await taken(path, file_format=name)
    assert kept == {FIRST, LAST}
    assert [reason.partition(":")[0] for _, reason in summary.failed] == ["invalid_input"]


def _data_of(name: str, wide: Any) -> dict[str, Any]:
    return {"mem0": {"metadata": wide}, "graphiti": {"attributes": wide}, "langmem": wide}[name]


@pytest.mark.parametrize("name", FORMATS)
async def test_a_name_that_is_ten_times_too_long_stops_nothing(tmp_path: Path, name: str) -> None:
    names: dict[str, dict[str, Any]] = {
        "chatgpt": {"author": {"role": "user", "name": LONG_NAME}},
        "claude": {"sender": LONG_NAME},
        "gemini": {"header": LONG_NAME},
        "sharegpt": {"from": LONG_NAME},
        "telegram": {"from": LONG_NAME},
        "slack": {"user": LONG_NAME},
        "mem0": {"user_id": LONG_NAME, "agent_id": LONG_NAME},
        "letta": {"label": LONG_NAME},
        "graphiti": {"group_id": LONG_NAME, "name": LONG_NAME},
        "langmem": {"topic": LONG_NAME},
    }
    if name == "whatsapp":
        told = f"12/03/2024, 21:15 - {LONG_NAME}: Hello\n" + whatsapp(FIRST)
    elif name == "markdown":
        told = f"# {LONG_NAME}\nHello\n\n" + markdown(FIRST)
    else:
        told = json.dumps(FORMATS[name][1]("Hello", **names[name]))
    path = tmp_path / FORMATS[name][0]
    path.write_text(told, encoding="utf-8")
    summary, kept = await taken(path, file_format=name)
    assert summary.stopped is None
    assert kept or summary.failed or summary.skipped
    assert {reason.partition(":")[0] for _, reason in summary.failed} <= {"invalid_input", "invalid_memory_candidates"}
    if name in ("whatsapp", "markdown"):
        assert FIRST in kept


async def test_a_branch_of_20_000_messages_is_followed_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(chatgpt(*(str(number) for number in range(20_000)))), encoding="utf-8")
    assert sum(item.content is not None for item in read_conversation(path)) == 20_000


async def test_an_export_of_ten_times_the_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multi_file_exports, "MAX_FILES", 10)
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for number in range(100):
            archive.writestr(f"general/{number}.json", "[]")
    with pytest.raises(InvalidInput, match="file:too_large"):
        list(read_conversation(tmp_path / "export.zip", file_format="slack"))


async def test_a_file_of_a_zip_that_unpacks_to_ten_times_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(multi_file_exports, "MAX_DOCUMENT_BYTES", 100_000)
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", " " * 1_000_000 + "[]")
    with pytest.raises(InvalidInput, match="file:too_large"):
        list(read_conversation(tmp_path / "export.zip", file_format="chatgpt"))


@pytest.mark.parametrize("packed", ["gz", "zip"])
def test_a_small_packed_file_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str
) -> None:
    monkeypatch.setattr(file_records, "UNPACKED_BYTES", 100_000)
    data, path = (
        b"[" + b'{"uuid": "", "chat_messages": []},' * 50_000 + b"{}]",
        tmp_path / f"conversations.json.{packed}",
    )
    if packed == "gz":
        path.write_bytes(gzip.compress(data))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("conversations.json", data)
    with pytest.raises(InvalidInput, match="file:too_large"):
        list(read_conversation(path))


def test_a_list_of_nothing_that_is_known_ends_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entries, "MAX_DEFECTS", 100)
    path = tmp_path / "conversations.json"
    path.write_text("[" + "{}," * 5_000 + "{}]")
    with pytest.raises(InvalidInput, match="file:format"):
        list(read_conversation(path))
    read: list[Item] = []
    with pytest.raises(InvalidInput, match="file:format"):
        read += read_conversation(path, file_format="claude")
    assert len(read) <= 100


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(st.characters(codec="utf-8"), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab"\\[]{},\n', max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(_VALUES, max_size=6),
    indent=st.sampled_from([None, 0, 2]),
    chunk=st.integers(1, 40),
    ascii_only=st.booleans(),
    before=st.sampled_from(["", " \n", "\ufeff"]),
)
def test_a_list_read_in_pieces_is_the_list(
    monkeypatch: pytest.MonkeyPatch, values: list[Any], indent: int | None, chunk: int, ascii_only: bool, before: str
) -> None:
    monkeypatch.setattr(file_records, "_CHUNK", chunk)
    text = before + json.dumps(values, indent=indent, ensure_ascii=ascii_only) + " \n"
    found = list(file_records.records(BytesIO(text.encode())))
    assert [one.value for one in found] == values
    assert all(one.problem is None for one in found)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[{"a": 1},\n {"b": 2}\n', "line 3"), ('[{"a": 1},\n{"b" 2}]', "line 2"), ("[1, 2] 3", "line 1"),
        ("[] 3", "line 1"), ("[1,]", "line 1"), ("[1,,2]", "line 1"), ('["a\n', "line"), ("[{]}", "line 1"),
        ("[[1]", "line 1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("chunk", [1, 3, 1000])
def test_a_list_that_is_not_json_is_refused_with_its_line(
    monkeypatch: pytest.MonkeyPatch, text: str, place: str, chunk: int
) -> None:
    monkeypatch.setattr(file_records, "_CHUNK", chunk)
    with pytest.raises(InvalidInput, match="file:json") as refused:
        list(file_records.records(BytesIO(text.encode())))
    assert str(refused.value.hint).startswith(place)


def test_a_link_out_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    vault, private = tmp_path / "vault", tmp_path / "private"
    vault.mkdir()
    private.mkdir()
    (private / "keys.md").write_text("I keep my recovery phrase here.\n")
    (vault / "note.md").write_text("I like tea.\n")
    (vault / "again.md").symlink_to(vault / "note.md")
    (vault / "more.md").symlink_to(private / "keys.md")
    (vault / "folder").symlink_to(private)
    found = list(read_conversation(vault))
    told = " ".join(str(getattr(one.content, "content", "")) for one in found)
    assert told.count("I like tea.") == 2
    assert "recovery" not in told
    assert "more.md" in [one.place for one in found if one.problem is not None]


async def test_ten_times_the_versions_of_a_memory_leave_its_history_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.importers.mem0.MAX_VERSIONS", 3)
    told = mem0(FIRST, LAST)
    told["history"] = [
        {
            "memory_id": "m0",
            "event": "UPDATE",
            "new_memory": FIRST if at == 29 else str(at),
            "updated_at": f"2025-01-{at + 1:02}",
        }
        for at in range(30)
    ]
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(told), encoding="utf-8")
    summary, kept = await taken(path, file_format="mem0")
    assert (kept, summary.failed) == ({FIRST, LAST}, [])
