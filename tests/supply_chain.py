"""What an installation is made of, from the lock file: a bill of materials, and whether anything is known against it.

python -m tests.supply_chain sbom requirements-service.lock     # CycloneDX 1.6 as JSON
python -m tests.supply_chain audit requirements*.lock           # asks the database of osv.dev
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.architecture.sources import ROOT

OSV = "https://api.osv.dev/v1/querybatch"
BATCH = 500
SECONDS = 60.0

_PINNED = re.compile(
    r"^([a-z0-9._-]+)(?:\[[^\]\n]*\])?==([^\s;\\]+)[^\n]*((?:\n\s+--hash=sha256:[0-9a-f]{64}[^\n]*)*)", re.MULTILINE
)
_HASH = re.compile(r"sha256:([0-9a-f]{64})")


class Locked(NamedTuple):
    """One package of a lock file, and the SHA-256 of each file that may be installed of it."""

    name: str
    version: str
    hashes: tuple[str, ...]

    @property
    def purl(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"


def locked(*files: Path) -> list[Locked]:
    """The packages of these lock files, each once, by name."""
    found = {
        (one[1], one[2]): Locked(one[1], one[2], tuple(sorted(_HASH.findall(one[3]))))
        for file in files
        for one in _PINNED.finditer(file.read_text(encoding="utf-8"))
    }
    return [found[name] for name in sorted(found)]


def sbom(file: Path) -> dict[str, Any]:
    """The bill of materials of a lock file. It says nothing of the day, so that the same lock gives the same bill."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    told = {"name": "mnemic", "version": project.get("version", "0"), "type": "application", "bom-ref": "mnemic"}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": told},
        "components": [
            {
                "type": "library",
                "bom-ref": one.purl,
                "name": one.name,
                "version": one.version,
                "purl": one.purl,
                "properties": [{"name": "mnemic:file-sha256", "value": value} for value in one.hashes],
            }
            for one in locked(file)
        ],
    }


def known_against(packages: Sequence[Locked], *, url: str = OSV) -> dict[str, list[str]]:
    """The identifiers of the vulnerabilities that the database knows of each package. Raises OSError, ValueError."""
    found: dict[str, list[str]] = {}
    for start in range(0, len(packages), BATCH):
        batch = packages[start : start + BATCH]
        asked = json.dumps({"queries": [{"package": {"purl": one.purl}} for one in batch]}).encode()
        request = urllib.request.Request(url, data=asked, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            results = json.load(answer)["results"]
        if len(results) != len(batch):
            raise ValueError("the database has not answered for every package")
        for one, result in zip(batch, results, strict=True):
            named = sorted(each["id"] for each in result.get("vulns", ()))
            if named:
                found[one.purl] = named
    return found


def audit(files: Sequence[Path], *, url: str = OSV) -> int:
    """Print what is known; 0: nothing, 1: something, 2: nobody could be asked."""
    packages = locked(*files)
    try:
        found = known_against(packages, url=url)
    except (OSError, ValueError, KeyError) as error:
        print(f"NOT AUDITED: {type(error).__name__}, the database at {url} has not answered", file=sys.stderr)
        return 2
    for purl, named in found.items():
        print(f"{purl}: {', '.join(named)}")
    print(f"{len(packages)} packages, {len(found)} with known vulnerabilities")
    return 1 if found else 0


def main(what: str, *names: str) -> int:
    """Do one of both."""
    if what == "audit":
        return audit([Path(name) for name in names])
    print(json.dumps(sbom(Path(names[0])), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
