from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mnemic_eval.conditions import conditions
from mnemic_eval.outcome import Asked, report
from mnemic_eval.reports import write_report

FIGURES = ("recall@5", "recall@10")


def result(**more: Any) -> dict[str, Any]:
    asked = [
        Asked(
            question_id=f"{split}/{place}",
            category=category,
            split=split,
            figures={"recall@5": value, "recall@10": 1.0},
            question="?",
            wanted=("a",),
            ranked=("a",),
        )
        for split, category, value in (("dev", "near", 1.0), ("dev", "far", 0.0), ("test", "near", 0.5))
        for place in range(3)
    ]
    settings = conditions(seed=1, set="chats", embedder="words")
    return {**report(asked, FIGURES, settings, seed=1), **more}


def test_a_report_is_a_page_its_charts_and_the_result(tmp_path: Path) -> None:
    given = result()
    files = write_report(given, tmp_path / "new" / "folder", "mnemic eval chats --data 'my data'")
    names = {file.name for file in files}
    assert names == {"report.md", "result.json", "chats-recall-at-5.svg", "chats-recall-at-10.svg"}

    page = (tmp_path / "new" / "folder" / "report.md").read_text(encoding="utf-8")
    assert "mnemic eval chats --data 'my data'" in page
    assert "(chats-recall-at-5.svg)" in page
    assert "seed 1" in page
    assert json.loads((tmp_path / "new" / "folder" / "result.json").read_text(encoding="utf-8")) == given

    chart = (tmp_path / "new" / "folder" / "chats-recall-at-5.svg").read_text(encoding="utf-8")
    assert "all: dev 50, test 50; far: dev 0; near: dev 100, test 50" in chart


def test_what_was_ablated_has_a_chart(tmp_path: Path) -> None:
    part = {split: {"recall@5": 0.25, "recall@10": 0.5} for split in ("dev", "test")}
    ablation = {"full": {**part, "search_p50_ms": 1.0, "overall": part["dev"]}}
    write_report(result(ablation=ablation), tmp_path, "x")
    assert "full: dev 50, test 50" in (tmp_path / "chats-ablation.svg").read_text(encoding="utf-8")


def test_a_set_without_questions_has_a_page_without_charts(tmp_path: Path) -> None:
    half = {"recall": 0.5, "by_source": {}}
    given = {"dev": half, "test": half, "settings": conditions(seed=1, set="commands", embedder="words")}
    assert {file.name for file in write_report(given, tmp_path, "x")} == {"report.md", "result.json"}
