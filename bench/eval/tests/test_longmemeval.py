"""Haystacks of our own in LongMemEval's format, told to the real engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval import longmemeval

NOISE = [
    "Tell me about the history of paper.",
    "How do tides work?",
    "Suggest a name for a parrot.",
    "Explain compound interest.",
    "What grows in the shade?",
    "Translate the word cupboard.",
]


def turn(content: str, *, answer: bool = False) -> dict[str, Any]:
    return {"role": "user", "content": content, **({"has_answer": True} if answer else {})}


def haystack(question_id: str, kind: str = "single-session-user") -> dict[str, Any]:
    sessions = [[turn(text), {"role": "assistant", "content": "Gladly."}] for text in NOISE]
    sessions.insert(2, [turn("Good morning."), turn("My violin teacher lives in Trondheim.", answer=True)])
    sessions.insert(5, [turn("My violin bow was made in Cremona.", answer=True)])
    return {
        "question_id": question_id,
        "question_type": kind,
        "question": "Where does the violin teacher live, and where was the violin bow made?",
        "question_date": "2023/05/30 (Tue) 10:00",
        "answer": "Trondheim",
        "answer_session_ids": ["s2", "s5"],
        "haystack_dates": [f"2023/05/{day:02d} (Mon) 10:00" for day in range(1, 9)],
        "haystack_session_ids": [f"s{number}" for number in range(8)],
        "haystack_sessions": sessions,
    }


def write(path: Path, entries: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def test_turns_and_sessions_are_found_through_the_engine(tmp_path: Path) -> None:
    data = write(tmp_path / "lme.json", [haystack("a"), haystack("b"), haystack("c_abs")])
    result = longmemeval.run(data, embedder=WordEmbedder(), per_question=tmp_path / "lines.jsonl")

    assert {name: result["overall"][name] for name in longmemeval.FIGURES} == {
        "session_any@5": 1,
        "session_all@5": 1,
        "session_any@10": 1,
        "session_all@10": 1,
        "turn_recall@5": 1,
        "ndcg@10": 1,
    }
    assert result["overall"]["questions"] == 2
    assert result["settings"]["split"] == {"dev": ["a"], "test": ["b"]}
    first = json.loads((tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert set(first["ranked"][:2]) == set(first["wanted"]) == {"s2:2", "s5:1"}


def test_a_limit_is_not_all_of_one_type(tmp_path: Path) -> None:
    entries = [haystack(name, kind) for name, kind in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"), ("e", "x"))]
    stacks = longmemeval.haystacks(write(tmp_path / "lme.json", entries))

    assert [stack.question_id for stack in longmemeval.across_types(stacks)] == ["a", "c", "b", "d", "e"]
    assert {stack.question_id: stack.split for stack in stacks} == {
        "a": "dev",
        "b": "test",
        "c": "dev",
        "d": "test",
        "e": "dev",
    }


def test_a_question_that_marks_no_turn_is_left_out(tmp_path: Path) -> None:
    unmarked = haystack("a")
    for session in unmarked["haystack_sessions"]:
        for said in session:
            said.pop("has_answer", None)
    assert longmemeval.haystacks(write(tmp_path / "lme.json", [unmarked])) == []


def test_what_is_not_longmemeval_is_refused(tmp_path: Path) -> None:
    broken = haystack("a")
    del broken["question_type"]
    with pytest.raises(InvalidInput) as refused:
        longmemeval.haystacks(write(tmp_path / "lme.json", [broken]))
    assert refused.value.reason == "invalid_input:data:longmemeval"


def test_a_message_that_is_too_long_for_a_memory_is_told_in_parts(tmp_path: Path) -> None:
    stack = haystack("a")
    long = " ".join(f"word{number}" for number in range(2_000)) + ". The violin case is in Bergen."
    stack["haystack_sessions"][0].append(turn(long, answer=True))
    stack["question"] = "Where is the violin case, the violin teacher, the violin bow made?"
    result = longmemeval.run(write(tmp_path / "lme.json", [stack]), embedder=WordEmbedder())

    assert result["settings"]["refused"] == {}
    assert result["overall"]["turn_recall@5"] == 1
