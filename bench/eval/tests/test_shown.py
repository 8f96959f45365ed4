"""Abstention, injection and preferences: small conversations of our own, told to the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import abstention, injection, preferences
from mnemic_eval.abstention import Answer, Asked, auc_interval
from mnemic_eval.tables import set_table

THINGS = ("telescope", "sourdough", "greyhound", "lighthouse")


def chat(name: str, thing: str, *, adversarial: bool = True) -> dict[str, Any]:
    turns = [
        {"speaker": ("Ana", "Ben")[place % 2], "dia_id": f"D1:{place}", "text": f"The {thing} number {place} is old."}
        for place in range(1, 41)
    ]
    asked = [{"question": f"How old is the {thing}?", "evidence": ["D1:1"], "category": 4}]
    if adversarial:
        asked.append({"question": "Which violin was played in Madrid?", "evidence": ["D1:2"], "category": 5})
    told = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    return {"sample_id": name, "conversation": told, "qa": asked}


def chats_in(folder: Path, *, adversarial: bool = True) -> Path:
    made = [chat(name, thing, adversarial=adversarial) for name, thing in zip("abcd", THINGS, strict=True)]
    (folder / "locomo10.json").write_text(json.dumps(made), encoding="utf-8")
    return folder


def haystack(question_id: str, question: str, kind: str) -> dict[str, Any]:
    turns = [{"role": "user", "content": f"I polish telescope number {place}.", "has_answer": place == 1}
             for place in range(40)]  # fmt: skip
    return {
        "question_id": question_id,
        "question_type": kind,
        "question": question,
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": "one",
        "answer_session_ids": ["s1"],
        "haystack_session_ids": ["s1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [turns],
    }


def test_relevance_tells_answerable_questions_from_adversarial_ones(tmp_path: Path) -> None:
    result = abstention.run(chats_in(tmp_path), embedder=WordEmbedder())
    for split in ("dev", "test"):
        half = result[split]
        assert (half["answerable"], half["unanswerable"]) == (2, 2)
        assert half["auc"] == 1
        assert half["unanswerable_abstained"] == 1
        assert half["ci95"]["auc"] == [1, 1]
    assert "auc" in set_table(result)


def test_longmemeval_says_by_the_id_what_nothing_answers(tmp_path: Path) -> None:
    asked = [("q1", "Which telescope do I polish?"), ("q2", "Which telescope do I polish?")]
    asked += [("q3_abs", "Which violin was played in Madrid?"), ("q4_abs", "Which violin was played in Madrid?")]
    made = [haystack(name, text, "single-session-user") for name, text in asked]
    (tmp_path / "longmemeval_s.json").write_text(json.dumps(made), encoding="utf-8")
    result = abstention.run(tmp_path, embedder=WordEmbedder())
    for split in ("dev", "test"):
        assert (result[split]["answerable"], result[split]["unanswerable"]) == (1, 1)
        assert result[split]["auc"] == 1


def test_data_without_unanswerable_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="data:abstention"):
        abstention.run(chats_in(tmp_path, adversarial=False), embedder=WordEmbedder())
    (tmp_path / "locomo10.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InvalidInput, match="data:abstention"):
        abstention.run(tmp_path, embedder=WordEmbedder())


def test_questions_are_compared_within_their_group() -> None:
    def answer(group: str, answerable: bool, relevance: float) -> Answer:
        return Answer(Asked(group=group, split="dev", text="", answerable=answerable), relevance, False)

    apart = [answer("a", True, 0.9), answer("b", False, 0.1)]
    assert auc_interval(apart, 1) is None
    right = [answer("a", True, 0.3), answer("a", False, 0.2), answer("b", True, 0.9), answer("b", False, 0.8)]
    assert auc_interval(right, 1) == [1, 1]


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
