"""The documentation site: its navigation, the pages of the API, and pages of the repository beside docs/.

MkDocs calls these functions (`hooks` in mkdocs.yml).
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File, Files

from tests.e2e.cli_page import rendered as commands

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"} | {
    path.relative_to(ROOT).as_posix(): f"packages/{path.parent.name}.md"
    for path in sorted((ROOT / "packages").glob("*/README.md"))
}
"""Pages of the repository that the site has too, and where."""
MARK = ROOT / "packages" / "mnemic-server" / "src" / "mnemic_server" / "console" / "mark.svg"
"""The mark of the console, which the site bears, too."""
MODULES = {
    "mnemic": "The library",
    "mnemic.requests": "Requests: the parameters of each verb",
    "mnemic.errors": "Errors",
    "mnemic_client": "The client of the service",
    "mnemic.agents.turns": "Adapters: a turn with memory",
    "mnemic.agents.clients": "Adapters: OpenAI and Anthropic clients",
    "mnemic.agents.mcp": "Adapters: MCP",
    "mnemic.agents.compat.mem0": "The facade of mem0",
}
"""Modules whose public names have a page."""

START = ["getting-started.md", "coding-agents.md", "how-it-works.md", "faq.md", "comparison.md"]
GUIDES = [
    "mcp-in-an-editor", "moving-from-mem0", "pii-policy", "review-workflow", "erasure-request", "tuning-recall",
]  # fmt: skip
HOWTO = ["howto.md", "deployment.md", "console.md"]
REFERENCE = [
    "cli.md",
    "configuration.md",
    "models.md",
    "policy.md",
    "service.md",
    "subject-export.md",
    "plugins.md",
    "redaction.md",
]
EXPLANATION = [
    "truth.md", "concepts.md", "kinds.md", "injection.md", "graph.md", "governance.md", "keys.md", "storage.md",
    "durability.md", "postgres.md", "cassandra.md", "scale.md",
]  # fmt: skip
NOTEBOOKS = [f"guides/{name}.md" for name in ("pii-policy", "review-workflow", "erasure-request", "tuning-recall")]
"""Guides that the site has as notebooks, too."""
SAVED = re.compile(r"Save this as `([^`]+)`:$")
ARCHITECTURE = "architecture.md"
UNSEARCHED = ("adr/", "packages/", "changelog.md", "contributing.md", ARCHITECTURE)
"""Pages for those who change the code: a search of the site leaves them out."""


def on_config(config: Any) -> Any:
    """Set the navigation, by the four kinds of documentation, and where a page is edited, if the repository's address
    is known.
    """
    config.edit_uri = "edit/main/docs/" if config.repo_url else None
    config.nav = [
        {"Home": "index.md"},
        {"Start": START},
        {
            "Guides": [
                *(f"guides/{name}.md" for name in GUIDES),
                *HOWTO,
                {"Moving from another product": ["moving-from.md", *_pages("moving-from")]},
                {"Frameworks": ["frameworks.md", *_pages("frameworks")]},
            ]
        },
        {
            "Reference": [
                {"API": [{title: _place(module)} for module, title in MODULES.items()]},
                *REFERENCE,
                {"Packages": [place for place in OUTSIDE.values() if place.startswith("packages/")]},
            ]
        },
        {"Explanation": [*EXPLANATION, *_others()]},
        {"Project": ["contributing.md", ARCHITECTURE, "changelog.md", "figures.md", {"Decisions": _pages("adr")}]},
    ]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are made: those of the API, and those of the repository."""
    for module, title in MODULES.items():
        files.append(File.generated(config, _place(module), content=api_page(module, title)))
    for source, place in OUTSIDE.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=relinked(text, source, place)))
    for place in NOTEBOOKS:
        text = (ROOT / "docs" / place).read_text(encoding="utf-8")
        notebook = json.dumps(notebook_of(relinked(text, f"docs/{place}", place)), indent=1)
        files.append(File.generated(config, place.replace(".md", ".ipynb"), content=notebook))
    files.append(File.generated(config, "mark.svg", abs_src_path=str(MARK)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Lead links of a page to files beside docs/ to where the site has them, and say whether a search finds it."""
    place = page.file.src_uri
    if place.startswith(UNSEARCHED):
        page.meta["search"] = {"exclude": True}
    elif place.startswith("reference/"):
        page.meta["search"] = {"boost": 0.3}
    elif place in ("howto.md", "models.md", "service.md"):
        page.meta["search"] = {"boost": 4}
    elif place in ("configuration.md", "faq.md", "coding-agents.md") or place.startswith("guides/"):
        page.meta["search"] = {"boost": 2}
    elif place.startswith("moving-from/"):
        page.meta["search"] = {"boost": 1.5}
    if page.file.generated_by is not None:
        return markdown
    if place == "cli.md":
        markdown = f"{markdown}\n\n{commands()}"
    markdown = relinked(markdown, f"docs/{place}", place)
    if place in NOTEBOOKS:
        title, _, rest = markdown.partition("\n")
        markdown = f"{title}\n\n[As a notebook]({PurePosixPath(place).stem}.ipynb){{ download }}\n{rest}"
    return markdown


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Add the page as Markdown, which the button of `javascripts/copy-page.js` copies."""
    if page.file.generated_by is not None:
        return output
    source = json.dumps(page.markdown).replace("<", "\\u003c")
    return output.replace(
        "</article>", f'<script type="application/json" id="page-markdown">{source}</script></article>', 1
    )


def on_post_build(config: Any) -> None:
    """Write `llms.txt`, and each page as Markdown beside its HTML, for programs that read the site."""
    site, lines = Path(config.site_dir), ["# mnemic", "", f"> {config.site_description}", ""]
    for path in sorted((ROOT / "docs").rglob("*.md")):
        place, text = path.relative_to(ROOT / "docs").as_posix(), path.read_text(encoding="utf-8")
        (site / place).write_text(relinked(text, f"docs/{place}", place), encoding="utf-8")
        if not place.startswith(UNSEARCHED):
            title, _, rest = text.removeprefix("# ").partition("\n")
            plain = LINK.sub(lambda found: found[2], re.sub(r"^#.*", "", CODE.sub("", rest), flags=re.MULTILINE))
            first = re.split(r"(?<=[.:])\s", " ".join(plain.split()), maxsplit=1)[0]
            if place.startswith("frameworks/"):  # these begin with what to install
                first = f"Memory for {title}: a program that runs, and what the adapter does."
            lines.append(f"- [{title}]({place}): {first}")
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def notebook_of(markdown: str) -> dict[str, Any]:
    """Return a guide as a notebook: a cell for each block, and for the text between two."""
    cells: list[dict[str, Any]] = []
    at = 0

    def add(kind: str, source: str) -> None:
        output = {"execution_count": None, "outputs": []} if kind == "code" else {}
        if source.strip():
            lines = source.strip().splitlines(keepends=True)
            cells.append({"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": lines} | output)

    for found in re.finditer(r"^```(\w+)\n(.*?)^```\n", markdown, re.MULTILINE | re.DOTALL):
        text, at = markdown[at : found.start()], found.end()
        add("markdown", text)
        saved = SAVED.search(text.rstrip())
        start = f"%%writefile {saved[1]}\n" if saved else {"sh": "%%bash\n", "python": ""}[found[1]]
        add("code", start + found[2])
    add("markdown", markdown[at:])
    return {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def api_page(module: str, title: str) -> str:
    """Return the page of a module: each of its public names, by the module that defines it."""
    parts = [f"::: {module}.{name}" for name in public_names(module)]
    return "\n\n".join([f"# {title}", f"`import {module}`", *parts]) + "\n"


def public_names(module: str) -> list[str]:
    """Return the names that a module offers: those that it lists, or the classes and functions that it defines."""
    found = import_module(module)
    listed = getattr(found, "__all__", None)
    if listed is None:
        defined = (name for name, value in vars(found).items() if getattr(value, "__module__", None) == module)
        # pydantic adds the specialisations of generic classes to the module that uses them: "Context[Any, Any]".
        listed = [name for name in defined if name.isidentifier() and not name.startswith("_")]
    return sorted(listed, key=str.lower)


def relinked(markdown: str, source: str, place: str) -> str:
    """Return a page of the repository as a page of the site: a link to a page stays one, a link to code becomes its
    text.
    """

    def changed(found: re.Match[str]) -> str:
        image, text, target = found.groups()
        path, _, heading = target.partition("#")
        if "://" in target or not path:
            return found[0]
        whole = normpath(str(PurePosixPath(source).parent / path))
        there = OUTSIDE.get(whole) or (whole.removeprefix("docs/") if whole.startswith("docs/") else None)
        if there is None or not (there.endswith(".md") or image or (ROOT / whole).is_file()):
            return text if not image else ""
        link = relpath(there, str(PurePosixPath(place).parent))
        return f"{image}[{text}]({link}{'#' + heading if heading else ''})"

    kept: list[str] = []

    def aside(found: re.Match[str]) -> str:
        kept.append(found[0])
        return f"\0{len(kept) - 1}\0"

    changed_text = LINK.sub(changed, CODE.sub(aside, markdown))
    return re.sub("\0(\\d+)\0", lambda found: kept[int(found[1])], changed_text)


def _others() -> list[str]:
    """Return the pages of the folder itself that no section names."""
    named = {"index.md", "figures.md", "moving-from.md", "frameworks.md", ARCHITECTURE}
    named |= {*START, *HOWTO, *REFERENCE, *EXPLANATION}
    return sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name not in named)


def _place(module: str) -> str:
    return f"reference/{module.replace('.', '-')}.md"


def _pages(folder: str) -> list[str]:
    return [f"{folder}/{path.name}" for path in sorted((ROOT / "docs" / folder).glob("*.md"))]
