from __future__ import annotations

import re
import tomllib
from pathlib import Path

from mnemic_eval.conditions import conditions, file_system
from mnemic_eval.footprint import footprint

ROOT = Path(__file__).resolve().parents[3]


def test_the_footprint_names_what_the_project_declares() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.split(r"[<>=~!]", need)[0].lower() for need in declared}
    weight = footprint()

    assert weight["direct"] == len(declared)
    assert names <= set(weight["sizes_mb"])
    assert weight["distributions"] == len(weight["sizes_mb"]) > weight["direct"]
    assert weight["install_mb"] >= sum(weight["sizes_mb"].values()) > 20
    assert 0 <= weight["bytecode_mb"] < weight["install_mb"] / 2


def test_what_only_an_extra_needs_is_not_in_it() -> None:
    assert {"openai", "pytest", "hatchling", "ruff"}.isdisjoint(footprint()["sizes_mb"])


def test_conditions_say_with_what_and_where() -> None:
    said = conditions(seed=7, set="x")

    assert (said["seed"], said["set"]) == (7, "x")
    assert re.fullmatch(r"\d+\.\d+\.\d+", said["versions"]["numpy"])
    assert said["machine"]["cores"] >= 1
    assert said["measured_at"].endswith("+00:00")


def test_the_file_system_is_told_apart() -> None:
    assert file_system(Path("/proc")) in {"proc", "unknown"}
    assert file_system(ROOT) != "proc"
