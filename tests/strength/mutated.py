"""Settings of mutmut: the folders that it runs in, and what it changes there."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from tests.architecture.sources import MEMBERS, ROOT


@cache
def mutated() -> dict[Path, dict[str, Any]]:
    """The settings by the folder: the packages that have some, then the core, which takes longest."""
    read = {
        folder: tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")) for folder in (*MEMBERS, ROOT)
    }
    return {folder: one["tool"]["mutmut"] for folder, one in read.items() if "mutmut" in one.get("tool", {})}


def paths(folder: Path, setting: str) -> list[Path]:
    """The files that a setting of the folder means."""
    return sorted(path for pattern in mutated()[folder][setting] for path in folder.glob(pattern))
