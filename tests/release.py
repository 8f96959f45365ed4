"""Steps of a release: versions set and checked, notes taken from the changelog.

python -m tests.release set 1.2.3        # the version of every package, and of those they ask for; dates the changelog
python -m tests.release check v1.2.3     # that every package has the version of the tag, and the changelog its section
python -m tests.release notes v1.2.3     # that section
python -m tests.release address https://host/owner/name v1.2.3   # where the repository is, for a package index
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from os.path import normpath
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[1]
UNRELEASED = re.compile(r"^## \S+ \(unreleased\)$", re.MULTILINE)
VERSION = re.compile(r'^version = "([^"]+)"$', re.MULTILINE)
PINNED = re.compile(r'("mnemic(?:-[a-z0-9]+)?(?:\[[^\]"]*\])?==)([^"]+)"')
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?:|mailto:|#)(?P<target>[^)\s]+)\)")
TABLE = re.compile(r"^\[", re.MULTILINE)
FORM = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+|\.dev\d+)?")


def projects(root: Path = ROOT) -> list[Path]:
    """The pyproject.toml of every package."""
    return [
        root / "pyproject.toml",
        *sorted(root.glob("packages/*/pyproject.toml")),
        root / "bench/eval/pyproject.toml",
    ]


def set_version(version: str, root: Path = ROOT) -> None:
    """Write the version into every package, into what they ask of each other, and with the date into the changelog."""
    if FORM.fullmatch(version) is None:
        raise SystemExit(f"no version: {version}")
    for path in projects(root):
        text = path.read_text(encoding="utf-8")
        text = VERSION.sub(f'version = "{version}"', text)
        path.write_text(PINNED.sub(rf'\g<1>{version}"', text), encoding="utf-8")
    package = root / "clients" / "typescript" / "package.json"
    _write(package, json.loads(package.read_text(encoding="utf-8")) | {"version": npm_version(version)})
    listed = _listed(root)
    listed |= {"version": version, "packages": [one | {"version": version} for one in listed["packages"]]}
    _write(root / "server.json", listed)
    changelog = root / "CHANGELOG.md"
    dated = f"## {version} ({datetime.now(UTC).date().isoformat()})"
    changelog.write_text(UNRELEASED.sub(dated, changelog.read_text(encoding="utf-8")), encoding="utf-8")


def set_address(url: str, tag: str, root: Path = ROOT) -> None:
    """Write where the repository is into what is published: URLs of every project, and readmes whose links and pictures
    lead there, since a package index shows a readme without the files beside it. Not to be committed.
    """
    if not url.startswith("https://"):
        raise SystemExit(f"no address: {url}")
    for path in projects(root):
        text = path.read_text(encoding="utf-8")
        at = TABLE.search(text, text.index("[project]") + 1)
        place = len(text) if at is None else at.start()
        path.write_text(text[:place] + _urls(url, tag) + text[place:], encoding="utf-8")
        readme = path.with_name("README.md")
        readme.write_text(absolute_links(readme, url, tag, root), encoding="utf-8")
    package = root / "clients" / "typescript" / "package.json"
    described = json.loads(package.read_text(encoding="utf-8"))
    described["repository"] = {"type": "git", "url": f"git+{url}.git", "directory": "clients/typescript"}
    described["homepage"] = url
    _write(package, described)
    address = urlsplit(url)
    forge, owner = str(address.hostname).split(".")[-2], address.path.split("/")[1]
    listed = {"name": f"io.{forge}.{owner}/mnemic", "repository": {"url": url, "source": forge}}
    _write(root / "server.json", _listed(root) | listed)
    readme = root / "README.md"  # by this line the registry of MCP servers sees whose package it is
    readme.write_text(f"{readme.read_text(encoding='utf-8')}\n<!-- mcp-name: {listed['name']} -->\n", encoding="utf-8")


def _listed(root: Path) -> dict[str, Any]:
    """What a registry of MCP servers is told."""
    listed: dict[str, Any] = json.loads((root / "server.json").read_text(encoding="utf-8"))
    return listed


def _write(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _urls(url: str, tag: str) -> str:
    named = {
        "Homepage": url,
        "Documentation": f"{url}/blob/{tag}/docs/index.md",
        "Changelog": f"{url}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{url}/issues",
        "Source": url,
    }
    lines = [f'{name} = "{address}"' for name, address in named.items()]
    return "\n".join(["[project.urls]", *lines, "", ""])


def absolute_links(readme: Path, url: str, tag: str, root: Path = ROOT) -> str:
    """Return the readme with every link into the repository as an address of it at the tag."""

    def absolute(link: re.Match[str]) -> str:
        target, _, anchor = link["target"].partition("#")
        path = Path(normpath(readme.parent / target)).relative_to(root).as_posix()
        page = "raw" if link["picture"] else "tree" if (root / path).is_dir() else "blob"
        return f"{link['picture']}[{link['text']}]({url}/{page}/{tag}/{path}{'#' + anchor if anchor else ''})"

    return LINK.sub(absolute, readme.read_text(encoding="utf-8"))


def npm_version(version: str) -> str:
    """Return a version of Python's as npm writes it."""
    numbers, rest = re.match(r"(\d+\.\d+\.\d+)(.*)", version).groups()  # type: ignore[union-attr]
    return numbers + ("-" + rest.lstrip(".") if rest else "")


def differing(tag: str, root: Path = ROOT) -> list[str]:
    """Return the reasons why the tag is no release of what is here; empty: it is one."""
    wanted = tag.removeprefix("v")
    found = {path: VERSION.findall(path.read_text(encoding="utf-8"))[0] for path in projects(root)}
    reasons = [f"{path.parent.name}: {version}" for path, version in found.items() if version != wanted]
    for path in found:
        pinned = {version for _, version in PINNED.findall(path.read_text(encoding="utf-8"))}
        reasons += [f"{path.parent.name} asks for {version}" for version in sorted(pinned - {wanted})]
    client = json.loads((root / "clients" / "typescript" / "package.json").read_text(encoding="utf-8"))["version"]
    reasons += [] if client == npm_version(wanted) else [f"clients/typescript: {client}"]
    listed = _listed(root)
    versions = {listed["version"], *(package["version"] for package in listed["packages"])}
    reasons += [f"server.json: {version}" for version in sorted(versions - {wanted})]
    return reasons if notes(tag, root) else [*reasons, "CHANGELOG.md has no section of it"]


def notes(tag: str, root: Path = ROOT) -> str:
    """Return the section of the changelog; empty: there is none."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(tag.removeprefix('v'))} \(.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return "" if found is None else found[0].strip() + "\n"


def main(words: list[str]) -> int:
    """Do one of the steps."""
    step, version = words[0], words[-1]
    if step == "address":
        set_address(words[1].removesuffix("/"), version)
    elif step == "set":
        set_version(version)
    elif step == "notes":
        print(notes(version), end="")
    else:
        reasons = differing(version)
        print("\n".join(reasons) or f"{version} is what is here")
        return 1 if reasons else 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
