"""A small conversation of our own in LoCoMo's format, told to the real engine in a real SQLite file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import locomo
from mnemic_eval.tables import recall_table

SAID = [
    ("Ana", "I finally repaired the lighthouse telescope with a brass screw."),
    ("Ben", "Great! I have spent the whole week baking sourdough for the harbour market."),
    ("Ana", "My brother keeps three greyhounds in Tallinn."),
    ("Ben", "Our choir sings Monteverdi next month."),
]


def conversation(name: str) -> dict[str, Any]:
    turns = [{"speaker": who, "dia_id": f"D1:{place}", "text": text} for place, (who, text) in enumerate(SAID, start=1)]
    asked = [
        ("What did Ana use to repair the telescope?", ["D1:1"], 4),
        ("What did Ben bake for the harbour market?", ["D1:2"], 4),
        ("Who keeps greyhounds, and what does the choir sing?", ["D1:3; D1:4"], 1),
        ("Which turn is named wrongly, greyhounds in Tallinn?", ["D1:3", "D9:99"], 2),
        ("What is never said?", [], 5),
    ]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": turns,
        },
        "qa": [{"question": text, "evidence": evidence, "category": kind} for text, evidence, kind in asked],
    }


@pytest.fixture
def data(tmp_path: Path) -> Path:
    made = [conversation(name) for name in ("one", "two", "three")]
    (tmp_path / "locomo10.json").write_text(json.dumps(made), encoding="utf-8")
    return tmp_path


def test_evidence_is_found_through_the_engine(data: Path, tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    told: list[tuple[str, int, int]] = []
    result = locomo.run(
        data, embedder=WordEmbedder(), per_question=lines, progress=lambda *at: told.append(at), ablate=True
    )

    assert result["overall"]["questions"] == 12
    assert result["overall"]["recall@5"] == pytest.approx((1 + 1 + 1 + 0.5) / 4)
    assert set(result["categories"]) == {"single-hop", "multi-hop", "temporal"}
    assert result["categories"]["temporal"]["recall@20"] == 0.5
    assert result["dev"]["questions"] == 8
    assert result["settings"]["split"] == {"dev": ["one", "two"], "test": ["three"]}
    assert (result["settings"]["messages"], result["settings"]["refused"]) == (12, {})
    assert result["ablation"]["full"]["overall"] == {name: result["overall"][name] for name in locomo.FIGURES}
    assert "without keyword" in result["ablation"]
    assert told[-1] == ("chats", 3, 3)
    first = json.loads(lines.read_text(encoding="utf-8").splitlines()[0])
    assert (first["question_id"], first["ranked"][0], first["wanted"]) == ("one/0", "D1:1", ["D1:1"])
    assert "multi-hop" in recall_table(result)


def test_conversations_do_not_see_each_other(data: Path) -> None:
    result = locomo.run(data, embedder=WordEmbedder(), limit=1)
    three = locomo.run(data, embedder=WordEmbedder())

    assert result["overall"]["questions"] == 4
    assert result["overall"]["recall@5"] == three["overall"]["recall@5"]


def test_kept_vectors_change_nothing(data: Path, tmp_path: Path) -> None:
    inner = WordEmbedder()
    first = locomo.run(data, embedder=WordEmbedder(), vectors=tmp_path / "kept")
    second = locomo.run(data, embedder=inner, vectors=tmp_path / "kept")

    assert inner.texts == 0
    assert first["overall"] == second["overall"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "invalid_input:data:missing"),
        ("{nonsense", "invalid_input:file:json"),
        ('[{"sample_id": "one", "conversation": {"session_1": []}, "qa": 7}]', "invalid_input:data:locomo"),
    ],
)
def test_what_is_not_locomo_is_refused(tmp_path: Path, content: str | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "locomo10.json").write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput) as refused:
        locomo.run(tmp_path, embedder=WordEmbedder())
    assert refused.value.reason == reason
