"""Injection and preferences: small conversations of our own, told to the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import injection, preferences
from mnemic_eval.tables import set_table

THINGS = ("telescope", "sourdough", "greyhound", "lighthouse")


def chat(name: str, thing: str) -> dict[str, Any]:
    turns = [
        {"speaker": ("Ana", "Ben")[place % 2], "dia_id": f"D1:{place}", "text": f"The {thing} number {place} is old."}
        for place in range(1, 41)
    ]
    asked = [{"question": f"How old is the {thing}?", "evidence": ["D1:1"], "category": 4}]
    told = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    return {"sample_id": name, "conversation": told, "qa": asked}


def chats_in(folder: Path) -> Path:
    made = [chat(name, thing) for name, thing in zip("abcd", THINGS, strict=True)]
    (folder / "locomo10.json").write_text(json.dumps(made), encoding="utf-8")
    return folder


def test_injection_counts_what_a_request_needs(tmp_path: Path) -> None:
    result = injection.run(chats_in(tmp_path), embedder=WordEmbedder(), sizes=(5, 40))
    for split in ("dev", "test"):
        half = result[split]
        assert set(half["sizes"]) == {"5", "40"}
        assert half["requests"] == 2 * len(injection.NEEDLESS) // 2 + {"dev": 3 + 6, "test": 2 + 6}[split]
        assert half["sizes"]["40"]["recall"] > 0
        assert 0 < half["precision"] <= 1
        low, high = half["ci95"]["precision"]
        assert low <= half["precision"] <= high
    assert "within_three" in set_table(result)


def test_injection_of_nothing_has_no_precision() -> None:
    assert injection._figures([], 1)["precision"] is None
    assert injection._figures([], 1)["ci95"]["precision"] is None


def lines_in(folder: Path, lines: object) -> Path:
    file = folder / "preferences.json"
    file.write_text(json.dumps(lines), encoding="utf-8")
    return file


STATED = (
    ("I prefer aisle seats on flights.", "Find me a flight to Denver, which seats are best?"),
    ("I really dislike horror films.", "Recommend a film for tonight."),
)


def test_stated_preferences_are_looked_for_in_the_context(tmp_path: Path) -> None:
    lines = [{"preference": stated, "question": asked} for stated, asked in STATED]
    each = tmp_path / "each.jsonl"
    result = preferences.run(lines_in(tmp_path, lines), embedder=WordEmbedder(), per_question=each)
    assert result["overall"]["questions"] == 2
    assert result["dev"]["in_context"] == 1
    assert len(each.read_text(encoding="utf-8").splitlines()) == 2
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert len(preferences.statements(tmp_path / "lines.jsonl")) == 2


@pytest.mark.parametrize("lines", [[], {}, [{"preference": "x"}], [{"preference": "x", "question": " "}], ["x"]])
def test_lines_of_another_shape_are_refused(tmp_path: Path, lines: object) -> None:
    with pytest.raises(InvalidInput, match="data:preferences"):
        preferences.statements(lines_in(tmp_path, lines))
