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
MAX_DEPENDENCIES = 10


def findings(name: str, text: str) -> list[str]:
    return [f"{name}:{number}" for number, line in enumerate(text.splitlines(), 1) if FORBIDDEN.search(line)]


def test_no_machine_path_and_no_registry_host() -> None:
    assert [finding for name, text in tracked_texts().items() for finding in findings(name, text)] == []


def test_the_scan_bites() -> None:
    assert findings("a", "x\nsee /" + "work/main") == ["a:2"]
    assert findings("a", "https://pypi" + ".org/simple") == ["a:1"]
    assert findings("a", "../shared/data/network/root/") == []


def test_every_package_has_an_init() -> None:
    folders = {path.parent for package in PACKAGES for path in package.rglob("*.py")}
    assert [folder.name for folder in folders if not (folder / "__init__.py").exists()] == []


def test_the_packages_are_typed() -> None:
    assert [package.name for package in PACKAGES if not (package / "py.typed").exists()] == []


def test_every_distribution_has_a_readme_a_licence_tests_and_the_version_of_the_core() -> None:
    core = project(ROOT)
    assert MEMBERS
    for member in MEMBERS:
        described = project(member)
        assert described["name"] == member.name
        assert described["version"] == core["version"]
        assert [name for name in ("README.md", "LICENSE", "src", "tests") if not (member / name).exists()] == []
        assert (member / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_a_distribution_of_this_repository_is_needed_in_its_version() -> None:
    versions = {f"{member.name}": project(member)["version"] for member in MEMBERS} | {
        "mnemic": project(ROOT)["version"]
    }
    for folder in (ROOT, *MEMBERS):
        needed = [re.split(r"(==)", need) for need in project(folder).get("dependencies", [])]
        ours = [need for need in needed if re.split(r"[<>=!~\[ ]", need[0])[0] in versions]
        assert [need for need in ours if need[1:] != ["==", versions[need[0]]]] == []


def project(folder: Path) -> dict[str, Any]:
    """The [project] table of the pyproject.toml in `folder`."""
    table: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_few_direct_dependencies_each_with_a_reason() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = tomllib.loads(text)["project"]["dependencies"]

    assert len(needed) <= MAX_DEPENDENCIES
    assert [need for need in needed if not re.search(rf'^ *"{re.escape(need)}",? +# \w', text, re.MULTILINE)] == []


def test_locks_pin_every_line_by_hash() -> None:
    locks = sorted(ROOT.glob("requirements*.lock"))
    assert len(locks) >= 6
    for name in locks:
        text = name.read_text(encoding="utf-8").replace("\\\n", " ")
        pins = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
        assert pins
        assert [
            pin for pin in pins if not re.match(r"[a-z0-9-]+(\[[a-z0-9, -]+\])?==\S+ +--hash=sha256:[0-9a-f]{64}", pin)
        ] == []


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
