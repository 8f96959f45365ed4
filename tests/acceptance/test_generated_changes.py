"""Conversations of `training/changes`: what a later statement closes, and what must not close anything."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mnemic_eval.truth import run

GENERATE = Path(__file__).parents[2] / "training/changes/generate.py"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("changes")
    write: Callable[[Path], None] = runpy.run_path(str(GENERATE))["main"]
    write(folder)
    return folder


@pytest.mark.parametrize(("half", "closed", "right"), [("dev", 0.72, 0.74), ("check", 0.75, 0.74)])
def test_the_old_value_is_closed_and_what_is_beside_it_stays(
    written: Path, half: str, closed: float, right: float
) -> None:
    figures: dict[str, Any] = run(written / f"updates.{half}.jsonl")
    for name in ("updates", "updates_with_record"):
        told = figures[name]
        assert told["updates"]["n"] > 80
        assert told["updates"]["closed_old_rate_of_all"] >= closed
        assert told["score_ok_of_asks_with_must"] >= right
        assert told["keep_both"]["damaged"] <= 3


def test_both_halves_are_the_same_for_the_same_seed(written: Path, tmp_path: Path) -> None:
    runpy.run_path(str(GENERATE))["main"](tmp_path)
    for name in ("updates.dev.jsonl", "updates.check.jsonl"):
        assert (tmp_path / name).read_bytes() == (written / name).read_bytes()
