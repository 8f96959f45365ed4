from __future__ import annotations

import json
from pathlib import Path

from mnemic_eval.outcome import Asked, report, write_lines


def asked(number: int, category: str, split: str, recall: float) -> Asked:
    return Asked(
        question_id=f"c/{number}",
        category=category,
        split=split,
        figures={"recall@5": recall},
        question="Où est le chat ?",
        wanted=("D1:1",),
        ranked=("D1:2", "D1:1"),
    )


ALL = [
    asked(1, "temporal", "dev", 1.0),
    asked(2, "temporal", "test", 0.0),
    asked(3, "multi-hop", "test", 0.5),
    asked(4, "multi-hop", "test", 0.5),
]


def test_a_report_has_every_part_and_only_its_own_questions() -> None:
    made = report(ALL, ["recall@5"], {"set": "x"}, seed=1)

    assert list(made) == ["overall", "categories", "dev", "test", "settings"]
    assert (made["overall"]["recall@5"], made["overall"]["questions"]) == (0.5, 4)
    assert {name: part["recall@5"] for name, part in made["categories"].items()} == {"multi-hop": 0.5, "temporal": 0.5}
    assert made["dev"]["recall@5"] == 1
    assert list(made["dev"]["categories"]) == ["temporal"]
    assert made["test"]["recall@5"] == 0.3333
    assert made["test"]["categories"]["temporal"]["recall@5"] == 0
    assert json.loads(json.dumps(made)) == made


def test_an_empty_half_is_said_to_be_empty() -> None:
    made = report(ALL[:1], ["recall@5"], {}, seed=1)
    assert made["test"] == {"recall@5": None, "questions": 0, "ci95": {}, "categories": {}}


def test_one_line_a_question(tmp_path: Path) -> None:
    write_lines(ALL, tmp_path / "lines.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text(encoding="utf-8").splitlines()]

    assert [line["question_id"] for line in lines] == ["c/1", "c/2", "c/3", "c/4"]
    assert lines[0] == {
        "question_id": "c/1",
        "category": "temporal",
        "split": "dev",
        "recall@5": 1.0,
        "question": "Où est le chat ?",
        "wanted": ["D1:1"],
        "ranked": ["D1:2", "D1:1"],
    }
