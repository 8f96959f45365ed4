"""Size of the default install: the distributions the package needs, and theirs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import mnemic

PACKAGE = "mnemic"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def footprint() -> dict[str, Any]:
    """Direct and further distributions of the default install with their sizes in MB (of 10^6 bytes).

    Requirements of extras are not part of it, nor those that are not installed here because their marker is false.
    Sizes are those of the files each distribution lists; the package itself counts with its source files.
    """
    direct = _needs(distribution(PACKAGE))
    sizes: dict[str, float] = {}
    bytecode = 0
    waiting = sorted(direct)
    while waiting:
        found = _find_distribution(waiting.pop())
        if found is not None and _normal(found.metadata["Name"]) not in sizes:
            files = _files(found)
            sizes[_normal(found.metadata["Name"])] = round(_bytes(files) / 1e6, 2)
            bytecode += _bytes([file for file in files if file.suffix == ".pyc"])
            waiting += sorted(_needs(found))
    own = round(_bytes(file for file in Path(mnemic.__file__).parent.rglob("*") if _counts(file)) / 1e6, 2)
    return {
        "install_mb": round(sum(sizes.values()) + own, 1),
        "bytecode_mb": round(bytecode / 1e6, 1),
        "direct": len(direct),
        "distributions": len(sizes),
        "own_mb": own,
        "sizes_mb": dict(sorted(sizes.items(), key=lambda pair: -pair[1])),
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _needs(found: Distribution) -> set[str]:
    needs = set()
    for requirement in found.requires or ():
        name = _NAME.match(requirement)
        if name and not re.search(r"\bextra\s*==", requirement):
            needs.add(_normal(name[0]))
    return needs


def _find_distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _files(found: Distribution) -> list[Path]:
    paths = [Path(str(found.locate_file(file))) for file in found.files or ()]
    return [path for path in paths if path.is_file()]


def _bytes(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files)


def _counts(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts
