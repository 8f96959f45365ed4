"""The workflow for hosted runners: it calls what the Makefile has, leaves no row of the scorecard out, and ends."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.architecture.sources import ROOT
from tests.deploy.conftest import collect_ignore_glob
from tests.scorecard.rows import all_rows

JOBS: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())["jobs"]
COMMANDS = [
    step["run"].replace("${{ matrix.run }}", chosen)
    for job in JOBS.values()
    for chosen in job.get("strategy", {}).get("matrix", {}).get("run", [""])
    for step in job["steps"]
    if "run" in step
]


def test_every_command_is_a_target_of_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = [re.fullmatch(r"make ([a-z0-9-]+)( [A-Z]+=.+)?", command) for command in COMMANDS]
    assert all(called)
    assert {one[1] for one in called if one} == {
        "check-static",
        "coverage",
        "cluster",
        "scorecard",
        "bench-smoke",
        "audit",
        "sbom",
        "calls",
        "flips",
    }
    assert {one[1] for one in called if one} <= targets


def test_every_folder_that_a_workflow_names_is_there() -> None:
    for workflow in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = workflow.read_text(encoding="utf-8")
        named = re.findall(r"(?<![\w/])(?:\./)?((?:packages|tests|deploy|clients)/[\w./-]+)", text)
        assert [path for path in named if not (ROOT / path).exists()] == [], workflow.name


def test_other_systems_need_no_servers_for_their_tests() -> None:
    """`tests/conftest.py` imports the drivers of every server, which that job does not install."""
    text = (ROOT / ".github" / "workflows" / "platforms.yml").read_text(encoding="utf-8")
    assert re.findall(r"-m pytest .*", text) == re.findall(r"-m pytest .*--noconftest .*", text)


def test_every_row_of_the_scorecard_is_run_once() -> None:
    rows = " ".join([*JOBS["scorecard"]["strategy"]["matrix"]["rows"], *re.findall(r"ROWS=(S\d+)", " ".join(COMMANDS))])
    assert sorted(rows.split()) == sorted(row.id for row in all_rows())


def test_without_helm_only_its_own_tests_are_left_out() -> None:
    assert set(collect_ignore_glob) <= {"test_helm.py"}


def test_every_job_ends() -> None:
    minutes = {name: job["timeout-minutes"] for name, job in JOBS.items()}
    assert minutes["scorecard"] <= 20
    assert max(minutes.values()) <= 60


def test_what_runs_at_the_published_sizes_is_there_once_a_week() -> None:
    """A target that picks no test would pass without running any."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for name, path, test in (
        ("calls", "tests/security/test_rest_isolation.py", "another_tenant"),
        ("flips", "tests/faults/test_damage.py", "flips_anywhere"),
    ):
        assert name in JOBS["long"]["strategy"]["matrix"]["run"]
        recipe = makefile.partition(f"\n{name}: ")[2].partition("\n\n")[0]
        assert {path, "MNEMIC_FAULT_SCALE=full"} <= set(recipe.replace("@", "").split())
        assert re.search(rf"async def test_\w*{test}", (ROOT / path).read_text(encoding="utf-8"))
