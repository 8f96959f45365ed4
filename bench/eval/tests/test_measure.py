from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.cli import cli
from mnemic_eval import command_line
from mnemic_eval.bench import BenchOptions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the commands hand to the measurements, which are not run."""
    seen: dict[str, Any] = {}

    def evaluated(data: Path, **more: Any) -> dict[str, Any]:
        more["progress"]("messages", 1, 2)
        seen.update(data=data, **more)
        return {"overall": {"recall@5": 0.5}}

    def benched(options: BenchOptions, **more: Any) -> dict[str, Any]:
        seen.update(options=options, **more)
        return {"write": {"p95_ms": 1.0}}

    monkeypatch.setattr(command_line, "SETS", {"locomo": evaluated})
    monkeypatch.setattr(command_line, "run", benched)
    return seen


def test_eval_prints_the_result_as_json(asked: dict[str, Any]) -> None:
    done = CliRunner().invoke(cli, ["eval", "locomo", "--data", "some/folder", "--limit", "2", "--json"])

    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"overall": {"recall@5": 0.5}}
    assert asked["data"] == Path("some/folder")
    assert (asked["limit"], asked["ablate"], asked["vectors"], asked["per_question"]) == (2, False, None, None)


def test_eval_of_data_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["eval", "locomo", "--data", str(tmp_path / "absent")])

    assert done.exit_code == 3
    assert done.stdout == ""
    assert done.stderr.startswith("mnemic: invalid_input:data:missing - ")
    assert done.stderr.count("\n") == 1


def test_an_unknown_set_is_a_usage_error() -> None:
    assert CliRunner().invoke(cli, ["eval", "nonsense", "--data", "x"]).exit_code == 2
    assert CliRunner().invoke(cli, ["eval", "locomo"]).exit_code == 2


def test_bench_takes_its_size_from_the_line(asked: dict[str, Any]) -> None:
    assert CliRunner().invoke(cli, ["bench", "--json"]).exit_code == 0
    assert asked["options"] == BenchOptions()

    done = CliRunner().invoke(cli, ["bench", "--quick", "--rows", "50", "--durability", "fast", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {"write": {"p95_ms": 1.0}}
    assert (asked["options"].rows, asked["options"].durability) == (50, "fast")
    assert asked["options"].repeats == BenchOptions().quick().repeats
