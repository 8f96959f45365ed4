"""A release: versions are set everywhere, checked against the tag, and published with addresses."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic.cli import COMMANDS
from tests.e2e.settings_page import variables
from tests.release import LINK, ROOT, differing, notes, npm_version, projects, set_address, set_version


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
    shutil.copy(ROOT / "server.json", tmp_path)
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
    assert notes("v1.2.3rc1", copied) == f"## 1.2.3rc1 ({datetime.now(UTC).date().isoformat()})\n\nFirst.\n"
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
    assert "](https://example.org/team/mnemic/blob/v1.2.3/docs/frameworks.md)" in readme
    addresses = re.findall(r"https://example\.org/team/mnemic/\w+/v1\.2\.3/([^)#]*)", readme)
    assert [one for one in addresses if not (ROOT / one).exists()] == []
    client = json.loads((copied / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))
    assert client["repository"]["url"] == "git+https://example.org/team/mnemic.git"
    listed = json.loads((copied / "server.json").read_text(encoding="utf-8"))
    assert listed["repository"] == {"url": "https://example.org/team/mnemic", "source": "example"}
    assert f"<!-- mcp-name: {listed['name']} -->" in readme
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


def test_a_host_can_start_the_mcp_server_by_what_the_registry_is_told() -> None:
    listed = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", listed["name"])
    assert len(listed["description"]) <= 100  # what the registry takes
    (package,) = listed["packages"]
    assert (package["identifier"], package["version"]) == (project["name"], project["version"])
    ((extra,),) = (re.findall(r"\[([\w-]+)\]", argument["value"]) for argument in package["runtimeArguments"])
    assert extra in project["optional-dependencies"]
    assert [argument["value"] for argument in package["packageArguments"]] == ["mcp"]
    assert "mcp" in COMMANDS
    known = variables() | {"MNEMIC_USER"}
    assert {variable["name"] for variable in package["environmentVariables"]} <= known
