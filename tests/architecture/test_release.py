"""The workflow of a release publishes without a secret, nothing but what was built, and nothing that does not agree."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.release import LINK, ROOT, differing, notes, npm_version, projects, set_address, set_version

FOLDER = ROOT / ".github" / "workflows"
RELEASE: dict[str, Any] = yaml.safe_load((FOLDER / "release.yml").read_text(encoding="utf-8"))


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The files that a release changes."""
    for path in [*projects(), ROOT / "clients" / "typescript" / "package.json"]:
        there = tmp_path / path.relative_to(ROOT)
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, there)
        if path.with_name("README.md").exists():
            shutil.copy(path.with_name("README.md"), there.parent)
    for folder in ("docs", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for file in ("LICENSE", "NOTICE", "CONTRIBUTING.md"):
        (tmp_path / file).touch()
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changes\n\n## 1.2.3 (unreleased)\n\nFirst.\n\n## 0.1.0 (2026-01-01)\n\nOld.\n"
    )
    return tmp_path


def test_a_version_is_set_everywhere_and_checked_against_the_tag(copied: Path) -> None:
    assert differing("v1.2.3rc1", copied)
    set_version("1.2.3rc1", copied)
    assert differing("v1.2.3rc1", copied) == []
    assert "CHANGELOG.md has no section of it" in differing("v1.2.4", copied)
    assert notes("v1.2.3rc1", copied) == f"## 1.2.3rc1 ({date.today().isoformat()})\n\nFirst.\n"
    with pytest.raises(SystemExit):
        set_version("latest", copied)


def test_what_is_published_says_where_the_repository_is(copied: Path) -> None:
    set_address("https://example.org/team/mnemic", "v1.2.3", copied)
    for path in projects(copied):
        urls = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["urls"]
        assert urls["Source"] == "https://example.org/team/mnemic"
        readme = path.with_name("README.md").read_text(encoding="utf-8")
        assert LINK.findall(readme) == []
    readme = (copied / "README.md").read_text(encoding="utf-8")
    assert "](https://example.org/team/mnemic/raw/v1.2.3/docs/console/review-light.webp)" in readme
    assert "](https://example.org/team/mnemic/blob/v1.2.3/docs/index.md#guides)" in readme
    addresses = re.findall(r"https://example\.org/team/mnemic/\w+/v1\.2\.3/([^)#]*)", readme)
    assert [one for one in addresses if not (ROOT / one).exists()] == []
    client = json.loads((copied / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))
    assert client["repository"]["url"] == "git+https://example.org/team/mnemic.git"
    with pytest.raises(SystemExit):
        set_address("mnemic", "v1.2.3", copied)


@pytest.mark.parametrize(
    ("python", "npm"), [("1.2.3", "1.2.3"), ("1.2.3rc1", "1.2.3-rc1"), ("0.1.0.dev0", "0.1.0-dev0")]
)
def test_npm_is_told_the_same_version(python: str, npm: str) -> None:
    assert npm_version(python) == npm


def test_the_npm_package_carries_the_licence_and_no_stamp_of_make() -> None:
    client = ROOT / "clients" / "typescript"
    assert (client / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "!dist/.ready" in json.loads((client / "package.json").read_text(encoding="utf-8"))["files"]


def test_only_a_tag_releases_and_only_two_jobs_may_show_who_they_are() -> None:
    assert RELEASE[True] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+*"]}}  # YAML 1.1 reads `on` as true
    assert RELEASE["permissions"] == {"contents": "read"}
    identified = {
        name for name, job in RELEASE["jobs"].items() if job.get("permissions", {}).get("id-token") == "write"
    }
    assert identified == {"packages", "npm"}
    text = (FOLDER / "release.yml").read_text(encoding="utf-8")
    assert re.findall(r"secrets\.(\w+)", text) == ["GITHUB_TOKEN"]
    published = [
        step["run"] for job in RELEASE["jobs"].values() for step in job["steps"] if "publish" in step.get("run", "")
    ]
    assert published == [
        "uv publish --trusted-publishing always dist/*",
        "npm publish --access public --provenance npm/*.tgz",
    ]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yml")), ids=lambda path: path.name)
def test_every_action_is_pinned_and_every_job_ends(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [use for use in re.findall(r"uses: (\S+)", text) if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", use)] == []
    assert all(job["timeout-minutes"] <= 60 for job in yaml.safe_load(text)["jobs"].values())


def test_what_a_release_calls_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    called = {
        step["run"].split()[1] for step in RELEASE["jobs"]["build"]["steps"] if step.get("run", "").startswith("make ")
    }
    assert called == {"release-check", "check-static", "dist", "sbom", "dist-npm"}
    assert called <= targets


def test_linux_macos_and_windows_are_tried() -> None:
    matrix = yaml.safe_load((FOLDER / "platforms.yml").read_text(encoding="utf-8"))["jobs"]["install"]["strategy"][
        "matrix"
    ]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
