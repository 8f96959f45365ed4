"""What no tracked file may contain, and what every package of the project must."""

from __future__ import annotations

import re
import tomllib

from tests.architecture.sources import PACKAGE, ROOT, tracked_texts

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
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder.name for folder in folders if not (folder / "__init__.py").exists()] == []


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


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
        assert [pin for pin in pins if not re.match(r"[a-z0-9-]+==\S+ +--hash=sha256:[0-9a-f]{64}", pin)] == []


def test_each_lock_is_contained_in_the_next_larger_one() -> None:
    run, demo, full = (
        set(re.findall(r"^([a-z0-9-]+==\S+)", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE))
        for name in ("requirements-run.lock", "requirements-demo.lock", "requirements.lock")
    )
    assert run <= demo <= full


def test_changelog_fragments_have_a_known_type() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    types = "|".join(kind["directory"] for kind in config["type"])
    fragments = [path.name for path in (ROOT / "changes").iterdir() if path.name not in {"README.md", ".gitkeep"}]

    assert [name for name in fragments if not re.fullmatch(rf"(\d+|\+[\w-]+)\.({types})(\.\d+)?\.md", name)] == []
