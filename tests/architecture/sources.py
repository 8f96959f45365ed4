"""The project's own files, as the architecture tests read them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "mnemic"
MEMBERS = (*sorted(path.parent for path in (ROOT / "packages").glob("*/pyproject.toml")), ROOT / "bench" / "eval")
"""The folders of the other distributions of this repository."""
PACKAGES = (PACKAGE, *(inner for member in MEMBERS for inner in sorted((member / "src").iterdir()) if inner.is_dir()))
"""The import packages of all distributions, the core first."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One source file: its path, the package it belongs to, its room (the name directly under the package; for another
    distribution than the core, the package) and its syntax tree.
    """

    path: Path
    tree: ast.Module

    @property
    def package(self) -> Path:
        return next(package for package in PACKAGES if self.path.is_relative_to(package))

    @property
    def name(self) -> str:
        return self.path.relative_to(PACKAGE if self.package == PACKAGE else self.package.parent).as_posix()

    @property
    def room(self) -> str:
        return self.name.partition("/")[0].removesuffix(".py")

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))


@cache
def modules() -> tuple[Module, ...]:
    """Every Python file of the packages."""
    return tuple(read(path) for package in PACKAGES for path in sorted(package.rglob("*.py")))


def read(path: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    return Module(path=path, tree=ast.parse(text, filename=str(path)))


@cache
def tracked_texts() -> dict[str, str]:
    """The text of every file that git tracks and that still exists, by path; binary files are left out."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=60)
    texts = {}
    for name in filter(None, listing.stdout.decode().split("\0")):
        try:
            texts[name] = (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
    return texts
