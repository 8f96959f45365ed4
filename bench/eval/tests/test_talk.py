"""Reads talk in plain text, and captures it in order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mnemic.errors import InvalidInput
from mnemic_eval.chat_capture import run
from mnemic_eval.chat_transcripts import read_talk

TALK = """# 2026-03-02 18:40
Una: I live in Derry with my sister
and two cats
Bo: [photo]

# 2026-05-09 08:00
Una: morning: how are you?
Una: I moved to Cork, I live there now
"""


def _file(folder: Path, text: str, name: str = "una.txt") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_reads_sessions_speakers_and_lines_that_go_on(tmp_path: Path) -> None:
    (chat,) = read_talk(_file(tmp_path, TALK))
    assert chat.name == "una"
    assert [(one.speaker, one.content) for one in chat.messages] == [
        ("Una", "I live in Derry with my sister and two cats"),
        ("Bo", "[photo]"),
        ("Una", "morning: how are you?"),
        ("Una", "I moved to Cork, I live there now"),
    ]
    assert [one.session for one in chat.messages] == ["una:1", "una:1", "una:2", "una:2"]
    times = [one.sent_at for one in chat.messages]
    assert times == sorted(times, key=str)
    assert str(times[0]).startswith("2026-03-02 18:40")
    assert str(times[2]).startswith("2026-05-09 08:00")


def test_reads_the_files_of_a_folder_in_order(tmp_path: Path) -> None:
    _file(tmp_path, TALK, "b.txt")
    _file(tmp_path, TALK, "a.txt")
    assert [chat.name for chat in read_talk(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "Una: hello\n", "# soon\nUna: hello\n"])
def test_refuses_what_is_no_talk(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput):
        read_talk(_file(tmp_path, text))


def test_what_took_the_place_of_something_is_written_for_a_reader(tmp_path: Path) -> None:
    written = tmp_path / "judged.jsonl"
    result = run(_file(tmp_path, TALK), per_question=written)
    assert result["turns"] == 4
    assert result["changes"] >= 1
    lines = [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()]
    (change,) = [one for one in lines if one["set"] == "changes" and one["key"] is None] or [
        one for one in lines if one["set"] == "changes"
    ]
    assert "Cork" in change["content"]
    assert any("Derry" in old for old in change["against"])
