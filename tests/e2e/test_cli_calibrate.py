"""calibrate and what doctor says of it, as typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic_cli import cli

PAIRS = [
    *(("I like {} in the {}", "The user likes {} in the {}", "same"),) * 1,
    *(("I like {} in the {}", "I do not like {} in the {}", "opposite"),) * 1,
    *(("I like {} in the {}", "Ben sells {} to the {}", "other"),) * 1,
]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    things, places = ("tea", "coffee", "milk", "bread"), ("kitchen", "garden", "office")
    lines = [
        {"first": first.format(thing, place), "second": second.format(thing, place), "label": label}
        for first, second, label in PAIRS
        for thing in things
        for place in places
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return file


def run(folder: Path, *words: str) -> tuple[int, Any]:
    result = CliRunner().invoke(cli, [*words, "--store", str(folder / "m.db"), "--json"], prog_name="mnemic")
    return result.exit_code, json.loads(result.stdout) if result.stdout.startswith("{") else result.output


def thresholds(folder: Path) -> bool:
    checks = {check["check"]: check for check in run(folder, "doctor")[1]["checks"]}
    calibrated: bool = checks["thresholds"]["calibrated"]
    return calibrated


def test_thresholds_are_chosen_shown_kept_and_forgotten(tmp_path: Path, pairs: Path) -> None:
    code, told = run(tmp_path, "calibrate", "--data", str(pairs))
    assert (code, told["kept"]) == (0, True)
    assert {"nominate"} <= set(told["cosines"])
    assert told["after"]["opposite_merged"] == 0.0
    assert thresholds(tmp_path) is True
    assert run(tmp_path, "calibrate", "--reset")[0] == 0
    assert thresholds(tmp_path) is False
    assert run(tmp_path, "calibrate", "--data", str(pairs), "--dry-run")[1]["kept"] is False
    assert thresholds(tmp_path) is False


def test_the_table_is_for_people(tmp_path: Path, pairs: Path) -> None:
    common = ["--store", str(tmp_path / "m.db")]
    result = CliRunner().invoke(cli, ["calibrate", "--data", str(pairs), *common], prog_name="mnemic")
    assert result.exit_code == 0
    for words in ("threshold", "nominate", "share of", "opposite_merged", "kept"):
        assert words in result.output


def test_it_needs_one_of_two(tmp_path: Path, pairs: Path) -> None:
    assert run(tmp_path, "calibrate")[0] == 2
    assert run(tmp_path, "calibrate", "--data", str(pairs), "--reset")[0] == 2
    assert run(tmp_path, "calibrate", "--data", str(tmp_path / "absent.jsonl"))[0] == 3
