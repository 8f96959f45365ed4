"""Preferences of `training/preferences`: whether a request that depends on one is shown it."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

from mnemic_eval.preferences import run

GENERATE = Path(__file__).parents[2] / "training/preferences/generate.py"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("preferences")
    runpy.run_path(str(GENERATE))["main"](folder)
    return folder


@pytest.mark.parametrize(("half", "least"), [("dev", 0.65), ("check", 0.6)])
def test_most_are_in_the_context(written: Path, half: str, least: float) -> None:
    file = written / f"preferences.{half}.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines()
    some = written / f"some.{half}.jsonl"
    some.write_text("\n".join(lines[::4]) + "\n", encoding="utf-8")
    assert run(some)["overall"]["in_context"] >= least


def test_the_halves_share_no_subject(written: Path) -> None:
    dev, check = (
        set((written / f"preferences.{half}.jsonl").read_text(encoding="utf-8").splitlines())
        for half in ("dev", "check")
    )
    assert len(dev) > 150
    assert len(check) > 150
    assert dev.isdisjoint(check)


@pytest.mark.parametrize("name", ["ranking", "relevance"])
def test_the_scripts_that_fit_weights_can_be_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = GENERATE.parents[1] / name
    monkeypatch.syspath_prepend(str(folder))  # as for a script that is run: it may import its neighbours
    monkeypatch.delitem(sys.modules, "generate", raising=False)

    assert runpy.run_path(str(folder / "train.py"))["main"]

    sys.modules.pop("generate", None)
