"""Reliability of relevance: small chats and texts of our own, told to the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import languages, reliability
from mnemic_eval.reliability import Rated
from mnemic_eval.tables import set_table

THINGS = ("telescope", "sourdough", "greyhound", "lighthouse")


def chat(name: str, thing: str) -> dict[str, Any]:
    turns = [
        {"speaker": ("Ana", "Ben")[place % 2], "dia_id": f"D1:{place}", "text": f"My {thing} cost {place} dollars."}
        for place in range(1, 41)
    ]
    asked = [
        {"question": f"What costs {place} dollars?", "evidence": [f"D1:{place}"], "category": 4}
        for place in range(1, 41)
    ]
    told = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    return {"sample_id": name, "conversation": told, "qa": asked}


def test_each_size_has_questions_of_both_kinds(tmp_path: Path) -> None:
    made = [chat(name, thing) for name, thing in zip("abcd", THINGS, strict=True)]
    (tmp_path / "locomo10.json").write_text(json.dumps(made), encoding="utf-8")
    result = reliability.run(tmp_path, embedder=WordEmbedder(), sizes=(5, 30), limit=6)
    assert set(result) == {"dev 5", "test 5", "dev 30", "test 30", "settings"}
    for split in ("dev", "test"):
        part = result[f"{split} 30"]
        assert part["questions"] == 12
        assert part["first_right"] > 0.5
        assert part["auc"] > 0.5
        assert 0 <= part["ece"] <= 1
        assert sum(one["hits"] for one in part["bins"].values()) <= 60
    assert "dev 30: ece" in set_table(result)


def test_texts_are_asked_for_in_their_language_and_in_english(tmp_path: Path) -> None:
    names = list(dict.fromkeys(one.wanted for one in languages.read_questions()))
    for language in ("", ".de", ".fr", ".es", ".zh", ".ko", ".it", ".pt-BR", ".ru", ".hi"):
        lines = [json.dumps({"id": name, "text": f"{name} in{language}"}) for name in names]
        (tmp_path / f"dataset{language}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    result = reliability.run(tmp_path, embedder=WordEmbedder(), limit=2)
    assert {"de, asked in de", "de, asked in en", "en, asked in ko", "hi, asked in en"} <= set(result)


def test_data_of_neither_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="data:languages"):
        reliability.run(tmp_path, embedder=WordEmbedder())


def test_a_promise_that_is_kept_has_no_error() -> None:
    kept = [Rated(((0.6, place < 6),), True, False) for place in range(10)]
    broken = [Rated(((0.6, False),), False, False)] * 10
    assert reliability.figures(kept)["ece"] == 0
    assert reliability.figures(broken)["ece"] == 0.6
    assert reliability.figures(broken)["auc"] is None
    assert reliability.figures(kept)["auc"] == 0.5
    assert reliability.figures([])["ece"] is None
