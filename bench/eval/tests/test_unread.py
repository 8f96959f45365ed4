"""The packaged sets are whole, and a few lines of them are measured without showing what they say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from mnemic.cli import cli
from mnemic.errors import InvalidInput
from mnemic_eval import unread
from mnemic_eval.tables import set_table
from mnemic_eval.unread import PACKAGED


def test_eval_measures_a_slice_of_the_packaged_sets_and_prints_totals_only(tmp_path: Path) -> None:
    lines = tmp_path / "lines.jsonl"
    words = ["eval", "unread", "--limit", "1", "--per-question", str(lines), "--json"]
    done = CliRunner().invoke(cli, words)

    assert done.exit_code == 0, done.stderr
    result = json.loads(done.stdout)
    rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    assert {row["set"] for row in rows} == set(result) - {"settings"}
    assert set(result) >= {"near_far", "newer", "newer_recorded", "chats"}
    assert result["near_far"]["hit@3"]["n"] == sum("hit@3" in row for row in rows if row["set"] == "near_far") > 0
    assert 0 <= result["near_far"]["auc_near"] <= 1
    assert result["newer"]["right_first"]["n"] == 1
    assert result["chats"]["recall@5"]["n"] == sum(row["set"] == "chats" for row in rows)
    assert "text" not in done.stdout
    assert "auc_near" in set_table(result)


@pytest.mark.parametrize("file", sorted(PACKAGED.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_answer_and_date_of_the_packaged_sets_is_there(file: Path) -> None:
    for line in file.read_text(encoding="utf-8").splitlines():
        item = json.loads(line)
        told = item.get("statements") or item.get("told") or item["turns"]
        names = [one["id"] for one in told]
        assert len(set(names)) == len(names)
        for question in item.get("questions", ()):
            assert set(question["answers"]) <= set(names)
            assert bool(question["answers"]) == (question.get("kind", "answered") == "answered")
        if "older" in item:
            assert names.index(item["older"]) < names.index(item["newer"])
            days = [one["days_ago"] for one in told]
            assert days == sorted(days, reverse=True)


def test_another_set_needs_data() -> None:
    assert CliRunner().invoke(cli, ["eval", "locomo"]).exit_code == 2


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        unread.run(tmp_path)
    assert refused.value.reason == "invalid_input:data:missing"
