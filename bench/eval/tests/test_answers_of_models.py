"""What becomes of a model's answers: the counts, and the floors on the project's own set."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.errors import InvalidInput
from mnemic.testing.embedder import WordEmbedder
from mnemic_eval.model_answers import COLUMNS, PACKAGED, run
from mnemic_eval.model_talks import PLAYED


def line(**fields: str) -> str:
    common = {"op": "add", "subject": "me", "holds": "now", "lang": "en"}
    return "\t".join({**dict.fromkeys(COLUMNS, ""), **common, **fields}[name] for name in COLUMNS)


def test_each_kind_of_line_is_counted(tmp_path: Path) -> None:
    told = [
        line(kind="right", message="I keep two goats.", quote="I keep two goats", value="Owns goats", now="goats"),
        line(kind="right", message="I keep two goats.", quote="I keep an owl", value="Owns an owl", now="owl"),
        line(kind="wrong_end", known="I keep two goats.", message="We had soup.", quote="We had soup", op="end"),
        line(kind="wrong_subject", message="My aunt is a judge.", quote="My aunt is a judge", key="job", value="judge"),
    ]
    path = tmp_path / "answers.tsv"
    path.write_text("# comment\n" + "\n".join(told) + "\n", encoding="utf-8")
    found = run(path, embedder=WordEmbedder())
    assert found["arrived"] == {"share": 0.5, "n": 2}
    assert found["right"] == {"share": 0.5, "n": 2}
    assert found["wrong_end let in"] == {"share": 0.0, "n": 1}
    assert found["wrong_subject let in"] == {"share": 0.0, "n": 1}


def test_a_table_with_other_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    path.write_text("right\ten\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="data"):
        run(path, embedder=WordEmbedder())


def test_good_answers_arrive_and_foolish_ones_change_nothing() -> None:
    found = run(PACKAGED / "lines.tsv", embedder=WordEmbedder())
    languages = {name.partition(", ")[2] for name in found if name.startswith("arrived, ")}
    assert (len(languages), found["arrived"]["n"]) == (8, 84)
    assert found["arrived"]["share"] >= 0.95
    assert found["right"]["share"] >= 0.85
    assert (found["wrong_end let in"]["share"], found["wrong_end let in"]["n"]) == (0, 30)
    assert found["wrong_subject let in"]["share"] <= 0.05


def test_no_model_keeps_less_than_the_rules_whatever_it_answers() -> None:
    found = run(PACKAGED / "talks.jsonl", embedder=WordEmbedder())
    languages = {name.rpartition(", ")[2] for name in found if name.startswith("right, natural, ")}
    assert (len(languages), found["right, natural"]["n"]) == (8, 82)
    assert found["arrived, natural"]["share"] >= 0.95
    assert found["right, natural"]["share"] >= 0.85
    kept = {kind: found[f"kept of the rules', {kind}"]["share"] for kind in PLAYED}
    assert kept == dict.fromkeys(PLAYED, 1.0)


def test_what_nothing_was_tuned_on_is_measured_too() -> None:
    found = run(PACKAGED / "unread" / "talks.jsonl")
    languages = {name.rpartition(", ")[2] for name in found if name.startswith("right, natural, ")}
    assert (len(languages), found["right, natural"]["n"]) == (8, 96)
    assert found["arrived, natural"]["share"] >= 0.95
    assert found["right, natural"]["share"] >= 0.85
    kept = {kind: found[f"kept of the rules', {kind}"]["share"] for kind in PLAYED}
    assert kept == dict.fromkeys(PLAYED, 1.0)
