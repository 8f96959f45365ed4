"""The documentation site is complete, works offline, and is not built where a link or a name leads nowhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.async_api import expect

from mnemic import MemoryManager
from mnemic.facade.verbs import MemoryVerbs
from mnemic.runtime.sync_facade import verb
from tests.docs_site import MODULES, NOTEBOOKS, ROOT, public_names
from tests.e2e.browser.chromium import chromium, installed
from tests.e2e.test_guides import clean
from tests.signatures import in_help, shown

COMMAND = re.search(r"\$\(BIN\)/python -m mkdocs (build .*)", (ROOT / "Makefile").read_text(encoding="utf-8"))
assert COMMAND is not None, "make docs builds no site"
BUILD = [sys.executable, "-m", "mkdocs", *COMMAND[1].split()]
"""The command of `make docs`: with `--quiet`, for instance, mkdocs counts no warnings, and `--strict` stops nothing."""
LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)="(https?:)?//""")


def built(configuration: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*BUILD, "--config-file", str(configuration), "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(ROOT / "mkdocs.yml", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_its_place_in_the_reference(site: Path, module: str) -> None:
    page = (site / "reference" / f"{module.replace('.', '-')}.html").read_text(encoding="utf-8")
    names = public_names(module)
    assert names
    assert [name for name in names if not re.search(rf'id="[\w.]+\.{name}"', page)] == []


def test_the_page_of_a_memory_shows_the_signature_of_help_for_every_verb(site: Path) -> None:
    page = (site / "reference" / "mnemic.html").read_text(encoding="utf-8")
    for name in (name for name, one in vars(MemoryVerbs).items() if isinstance(one, verb)):
        place = page[page.index(f'id="mnemic.MemoryManager.{name}"') :]
        place = place[: place.find('class="doc doc-object doc-')]
        signature = re.search(r'class="doc-signature.*?</pre>', place, re.DOTALL)
        assert signature is not None, name
        written = shown(text_of(signature[0].partition(">")[2]).strip())
        told = re.findall(r"<b><code>(\w+)</code></b>\s*\(<code>(.*?)</code>[,)]", place, re.DOTALL)
        types = {parameter: text_of(kind) for parameter, kind in told}
        of_help = in_help(getattr(MemoryManager, name))
        assert {one: default for one, (_, default) in written.parameters.items()} == {
            one: default for one, (_, default) in of_help.parameters.items()
        }, name
        assert types == {one: kind for one, (kind, _) in of_help.parameters.items()}, name
        result = re.search(r"Returns:</span>.*?<code>(.*?)</code>", place, re.DOTALL)
        assert (text_of(result[1]) if result else "None") == of_help.result, name


def text_of(markup: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", markup))


def test_every_page_is_in_the_navigation_and_nothing_comes_from_another_host(site: Path) -> None:
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    written = (path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md"))
    wanted = {(path.with_stem("index") if path.stem == "README" else path).as_posix() for path in written}
    assert wanted <= pages
    assert [page for page in pages if LOADED.search((site / page).read_text(encoding="utf-8"))] == []
    assert (site / "search" / "search_index.js").stat().st_size > 100_000
    listed = re.findall(r"\]\(([^)]+\.md)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert len(listed) > 50
    assert [page for page in listed if not (site / page).exists()] == []


RUN_CELLS = """
import pathlib, subprocess
names = {}
for first, rest, source in CELLS:
    if first == "%%bash":
        subprocess.run(["bash", "-euo", "pipefail", "-c", rest], check=True)
    elif first.startswith("%%writefile "):
        pathlib.Path(first.split()[1]).write_text(rest)
    else:
        exec(source, names)
"""
"""What a notebook does with its cells, as far as the guides need it."""


@pytest.mark.parametrize("place", NOTEBOOKS)
def test_the_notebook_of_a_guide_runs_from_its_first_cell_to_its_last(site: Path, place: str, tmp_path: Path) -> None:
    notebook = json.loads((site / place).with_suffix(".ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    guide = (ROOT / "docs" / place).read_text(encoding="utf-8")
    assert len(cells) == len(re.findall(r"^```\w+$", guide, re.MULTILINE))
    script = f"CELLS = {[(*cell.partition(chr(10))[::2], cell) for cell in cells]!r}\n{RUN_CELLS}"
    words = [sys.executable, "-c", script]
    done = subprocess.run(words, cwd=tmp_path, env=clean(), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    page = (site / place).with_suffix(".html").read_text(encoding="utf-8")
    assert f'href="{Path(place).stem}.ipynb"' in page


QUESTIONS = {
    "limit number of memories": ("governance", "policy", "faq"),
    "how long are memories kept": ("faq", "governance", "howto"),
    "image": ("faq",),
    "minimum relevance": ("faq", "tuning-recall"),
    "change embedding model": ("faq", "models", "howto"),
    "backup": ("howto", "governance"),
    "delete a user": ("howto", "erasure-request"),
    "erasure request": ("erasure-request",),
    "move to postgresql": ("howto", "faq", "postgres", "governance"),
    "windows": ("index", "faq"),
    "import chatgpt": ("chatgpt", "moving-from"),
    "claude code": ("coding-agents", "mcp-in-an-editor", "faq"),
    "cursor": ("coding-agents", "mcp-in-an-editor", "faq"),
    "ollama": ("models",),
    "reranker": ("howto", "models"),
    "api key": ("service", "console"),
    "webhook": ("service",),
    "encryption": ("keys", "faq"),
    "langgraph": ("langgraph",),
    "why was it not remembered": ("howto", "faq"),
}
"""What a reader types, and the pages of which one has to come first."""


@pytest.mark.skipif(installed() is None, reason="no Chromium here: install the package chromium")
async def test_the_search_leads_to_the_page_that_a_reader_means(site: Path) -> None:
    first = {}
    async with chromium() as browser:
        page = await browser.new_page()
        for question in QUESTIONS:
            await page.goto(f"{(site / 'index.html').as_uri()}?q={quote(question)}")
            found = page.locator(".md-search-result__item a.md-search-result__link").first
            await expect(found).to_be_attached(timeout=60_000)
            first[question] = Path((await found.get_attribute("href") or "").partition("?")[0]).stem
    wrong = {question: found for question, found in first.items() if found not in QUESTIONS[question]}
    assert len(wrong) <= 2, wrong


@pytest.mark.skipif(installed() is None, reason="no Chromium here: install the package chromium")
async def test_the_search_answers_in_pages_opened_as_files(site: Path) -> None:
    async with chromium() as browser:
        page = await browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.goto((site / "index.html").as_uri())
        # The theme reads the field when a key is released, which `fill` never does.
        await page.get_by_role("textbox", name="Search").press_sequentially("erasure request")
        await expect(page.locator(".md-search-result__item").first).to_be_visible(timeout=60_000)
        results = page.locator(".md-search-result__list")
        await expect(results).to_contain_text("Answer an erasure request", timeout=60_000)
        assert [one for one in asked if not one.startswith(("file:", "data:", "blob:", "about:"))] == []


@pytest.mark.skipif(installed() is None, reason="no Chromium here: install the package chromium")
async def test_a_page_can_be_copied_as_markdown(site: Path) -> None:
    async with chromium() as browser:
        page = await browser.new_page()
        await page.goto((site / "faq.html").as_uri())
        await page.get_by_role("button", name="Copy page").click()
        await expect(page.get_by_role("button", name="Copied")).to_be_visible(timeout=60_000)
        copied = json.loads(await page.locator("#page-markdown").text_content() or "")
        assert copied.lstrip().startswith("# Questions and answers")


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("[away](nowhere.md)", "nowhere.md"),
        ("[away](#no-such-heading)", "no-such-heading"),
        ("::: mnemic.NoSuchName", "NoSuchName"),
    ],
)
def test_what_leads_nowhere_stops_the_build(page: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text(f"# Page\n\n{page}\n", encoding="utf-8")
    configuration = tmp_path / "mkdocs.yml"
    inherited = f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: docs\nhooks: []\nnav: [index.md]\n"
    configuration.write_text(inherited, encoding="utf-8")
    done = built(configuration, tmp_path / "site")
    assert done.returncode != 0
    assert why in done.stderr + done.stdout
