"""What no tracked file may contain, and what every package of the project must."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.sources import MEMBERS, PACKAGES, ROOT, tracked_texts
from tests.supply_chain import locked

# Written in parts, so that this file does not find itself.
MACHINE_PATHS = [r"(?<![\w.])/" + name + "/" for name in ("work", "root", "opt/wheels", r"home/\w+", r"Users/\w+")]
REGISTRY_HOSTS = [
    "\\.".join(parts)
    for parts in (
        ("pypi", "org"),
        ("files", "pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("static", "crates", "io"),
        ("proxy", "golang", "org"),
        ("repo1", "maven", "org"),
        ("deb", "debian", "org"),
    )
]
FORBIDDEN = re.compile("|".join(MACHINE_PATHS + REGISTRY_HOSTS), re.IGNORECASE)


def findings(name: str, text: str) -> list[str]:
    return [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if FORBIDDEN.search(line)]


def test_no_machine_path_and_no_registry_host() -> None:
    assert [finding for name, text in tracked_texts().items() for finding in findings(name, text)] == []


def test_every_distribution_is_complete() -> None:
    version = project(ROOT)["version"]
    wrong = [f"{package.name}: py.typed" for package in PACKAGES if not (package / "py.typed").exists()]
    for member in MEMBERS:
        described = project(member)
        wrong += [f"{member.name}: {name}" for name in ("README.md", "src", "tests") if not (member / name).exists()]
        wrong += [f"{member.name}: name"] if not described["name"].endswith(member.name) else []
        wrong += [f"{member.name}: version"] if described["version"] != version else []
        licence = member / "LICENSE"
        if not licence.exists() or licence.read_bytes() != (ROOT / "LICENSE").read_bytes():
            wrong.append(f"{member.name}: LICENSE")
    for folder in (ROOT, *MEMBERS):
        ours = [need for need in project(folder).get("dependencies", []) if re.match(r"mnemic\b", need)]
        wrong += [f"{folder.name}: {need}" for need in ours if not need.endswith(f"=={version}")]
    assert wrong == []


def project(folder: Path) -> dict[str, Any]:
    """The [project] table of the pyproject.toml in `folder`."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_each_lock_is_contained_in_the_next_larger_one() -> None:
    run, demo, full = (
        {(one.name, one.version) for one in locked(ROOT / name)}
        for name in ("requirements-run.lock", "requirements-demo.lock", "requirements.lock")
    )
    assert run <= demo <= full


def test_the_lock_names_the_extras_that_its_packages_ask_for() -> None:
    """pip with hashes refuses `google-auth[pyopenssl]` where the lock has `google-auth` and a newer one is out."""
    lines = re.findall(
        r"^([a-z0-9._-]+)(?:\[([^]]+)\])?==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE
    )
    named = {name: {extra.strip() for extra in extras.split(",") if extra} for name, extras in lines}
    asked: dict[str, set[str]] = {}
    for name, extras in named.items():
        for one in map(Requirement, metadata.requires(name) or ()):
            wanted = one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in {"", *extras})
            if wanted and one.extras and canonicalize_name(one.name) in named:
                asked.setdefault(canonicalize_name(one.name), set()).update(map(canonicalize_name, one.extras))
    assert asked
    assert {name: extras - named[name] for name, extras in asked.items() if not extras <= named[name]} == {}
