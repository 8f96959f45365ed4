"""A file of every format that was cut, is of another encoding or kind, or empty: what is missing is always said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import AUTO, formats, read_conversation
from mnemic.importers.file_readers.item import Item
from tests.exports import AT, FORMATS, exported
from tests.importers.test_agents_and_apps import DOCUMENTS, LINES, written

SAID = ("I live in Málaga.", "The boat is called Wanda.", "Meine Schwester heißt Zoë.")
TEXTS = {
    "transcript": "\n".join(f"{who}: {one}" for one in SAID for who in ("Me", "Assistant")),
    "csv": "\n".join(["role,content", *(f'user,"{one}"' for one in SAID)]),
}
JSON_LINES: dict[str, list[Any]] = {
    "chat": [{"role": "user", "content": one, "timestamp": AT} for one in SAID],
    "mcp_memory": [{"type": "entity", "name": "Zoë", "entityType": "person", "observations": [one]} for one in SAID],
    "openmemory": [{"id": str(at), "content": one, "created_at": 1, "state": "active"} for at, one in enumerate(SAID)],
    "sillytavern": [
        {"user_name": "Ana", "character_name": "Zoë", "chat_metadata": {}},
        *({"name": "Ana", "is_user": True, "mes": one, "send_date": "June 23, 2024 3:04pm"} for one in SAID),
    ],
}
PLAIN = {"transcript", "markdown", "whatsapp"}
"""Formats of which a part is a whole file, too."""


def made(folder: Path, name: str) -> bytes:
    """Return a file of this format with words that have letters outside of ASCII."""
    if name in FORMATS:
        return exported(folder, name, *SAID).read_bytes()
    if name in TEXTS:
        return TEXTS[name].encode()
    if name in JSON_LINES:
        return "\n".join(json.dumps(one, ensure_ascii=False) for one in JSON_LINES[name]).encode()
    return written(folder, name).read_bytes().replace(b"We use tabs", "Zoë uses tabs".encode())


NAMES = [*FORMATS, *TEXTS, *JSON_LINES, *LINES, *DOCUMENTS]
HARM: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": lambda data: data[: len(data) // 2],
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda data: data.decode().encode("utf-16-le"),
    "Latin-1": lambda data: json_free(data).encode("latin-1"),
    "empty": lambda data: b"",
    "blank": lambda data: b" \n\n",
    "zeros": lambda data: bytes(3000),
    "a picture": lambda data: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "a PDF": lambda data: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<</Type/Catalog>>\nendobj\n",
}


def json_free(data: bytes) -> str:
    """Return the text with its letters as they are, not as JSON escapes them."""
    text = data.decode()
    for letter in "áßë":
        text = text.replace(json.dumps(letter)[1:-1], letter)
    return text


def read(path: Path, file_format: str) -> tuple[list[Item], str]:
    """Return what is read of a file, and the reason why the rest is not."""
    items: list[Item] = []
    try:
        items.extend(read_conversation(path, file_format))
    except InvalidInput as refused:
        return items, refused.reason
    return items, next((one.problem.reason for one in items if one.problem is not None), "")


def test_every_format_has_a_file_here() -> None:
    other = {AUTO, "mnemic", "archive", "locomo", "longmemeval", "beam", "realtalk"}
    assert set(formats()) - other == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_whole_file_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "whole"
    path.write_bytes(made(tmp_path, name))
    items, problem = read(path, name)
    assert any(one.content is not None for one in items)
    assert problem == ""


@pytest.mark.parametrize("detected", [False, True], ids=["named", "detected"])
@pytest.mark.parametrize(
    ("name", "harm"),
    [(name, harm) for name in NAMES for harm in HARM if harm != "cut in half" or name not in PLAIN],  # half is a text
)
def test_a_damaged_file_is_told(tmp_path: Path, name: str, harm: str, detected: bool) -> None:
    path = tmp_path / "damaged.md" if name == "markdown" else tmp_path / "damaged"
    path.write_bytes(HARM[harm](made(tmp_path, name)))
    _, problem = read(path, AUTO if detected else name)
    assert problem.startswith("invalid_input:"), "nothing is left out in silence"
    if harm in ("empty", "blank"):
        assert problem == "invalid_input:file:empty"
    elif harm != "cut in half":
        assert problem.startswith(("invalid_input:file:", "invalid_input:line:"))


def test_an_empty_page_among_notes_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# Boats\nThe boat is called Wanda.\n", encoding="utf-8")
    (tmp_path / "two.md").write_text("\n", encoding="utf-8")
    items, problem = read(tmp_path, AUTO)
    assert problem == ""
    assert [one.skipped for one in items] == [None, "empty"]


def test_a_cell_that_is_ten_times_too_long_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_text(f"role,content\nuser,I live in Oslo.\nuser,{'sea ' * 82_000}\n", encoding="utf-8")
    items, problem = read(path, "csv")
    assert problem == "invalid_input:file:format"
    assert len(items) == 1
