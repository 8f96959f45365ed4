"""The workflows for hosted runners: they call what the Makefile has, and every job ends and shows no secret."""

from __future__ import annotations

import re
from typing import Any

import yaml

from bench.scorecard.row import all_rows
from tests.architecture.sources import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS: dict[str, dict[Any, Any]] = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))
}
TEXTS = {name: (FOLDER / name).read_text(encoding="utf-8") for name in WORKFLOWS}


def test_workflows_call_targets_and_folders_that_exist() -> None:
    files = [ROOT / "Makefile", *(ROOT / "tests" / "make").glob("*.mk")]
    made = "\n".join(file.read_text(encoding="utf-8") for file in files)
    targets = set(re.findall(r"^([a-z0-9-]+):", made, re.MULTILINE))
    called = {(name, one) for name, text in TEXTS.items() for one in re.findall(r"run: make ([a-z][a-z0-9-]*)", text)}
    assert sorted((name, one) for name, one in called if one not in targets) == []
    paths = r"(?<![\w/])(?:\./)?((?:packages|tests|deploy|clients)/[\w./-]+)"
    named = {(name, one) for name, text in TEXTS.items() for one in re.findall(paths, text)}
    assert sorted((name, one) for name, one in named if not (ROOT / one).exists()) == []
    jobs = WORKFLOWS["ci.yml"]["jobs"]
    rows = " ".join([*jobs["scorecard"]["strategy"]["matrix"]["rows"], *re.findall(r"ROWS=(S\d+)", TEXTS["ci.yml"])])
    assert sorted(rows.split()) == sorted(row.id for row in all_rows())


def test_every_action_is_pinned_and_every_job_ends() -> None:
    uses = [(name, use) for name, text in TEXTS.items() for use in re.findall(r"uses: (\S+)", text)]
    assert [one for one in uses if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one[1])] == []
    jobs = [(name, job, told) for name, flow in WORKFLOWS.items() for job, told in flow["jobs"].items()]
    assert [(name, job) for name, job, told in jobs if told["timeout-minutes"] > 60] == []


def test_only_a_tag_releases_and_only_two_jobs_may_show_who_they_are() -> None:
    release = WORKFLOWS["release.yml"]
    assert release[True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+*"]}}  # YAML 1.1 reads `on` as true
    assert release["permissions"] == {"contents": "read"}
    jobs = release["jobs"].items()
    assert {name for name, job in jobs if "id-token" in job.get("permissions", {})} == {"packages", "npm"}
    assert re.findall(r"secrets\.(\w+)", TEXTS["release.yml"]) == ["GITHUB_TOKEN"]
