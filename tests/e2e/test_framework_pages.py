"""The quickstarts of the framework pages run as they stand, against the real frameworks, with a scripted model."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_pages_run import ROOT, blocks
from tests.scripted_model import ModelRequest, ScriptedModelServer

OWN_ENVIRONMENTS = {
    "autogen": "autogen_ext",
    "claude-agent": "claude_agent_sdk",
    "crewai": "crewai",
    "litellm-proxy": "litellm",
}
"""The packages of frameworks that do not fit beside the others (docs/adr/0012)."""

PAGES = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / "frameworks").glob("*.md"))
QUICKSTARTS = sorted((ROOT / "examples" / "quickstarts").glob("*.py"))


def installed(path: Path) -> bool:
    """Return True unless the framework of a page or quickstart is installed elsewhere only."""
    package = OWN_ENVIRONMENTS.get(path.stem.removesuffix("_quickstart").replace("_", "-"))
    return package is None or find_spec(package) is not None


def model(request: ModelRequest) -> str | dict[str, Any]:
    """The agent's model, and mnemic's own where it is asked what to remember."""
    if request.response_format is None:
        return "Understood."
    item = {
        "key": "seat",
        "value": "aisle",
        "scope": "user",
        "ttl_days": 30,
        "confidence": 0.9,
        "quote": "aisle seats",
    }
    return {"items": [item] if "aisle seats" in request.user else []}


@pytest.fixture(scope="module")
def settings() -> Iterator[dict[str, str]]:
    """The environment of a program whose model is a scripted one."""
    with ScriptedModelServer(model) as server:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        openai = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "test", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        anthropic = {"ANTHROPIC_BASE_URL": server.base_url.removesuffix("/v1"), "ANTHROPIC_API_KEY": "test"}
        ollama = {"OLLAMA_HOST": server.base_url.removesuffix("/v1")}
        yield {**openai, **anthropic, **ollama, "PATH": path}


def run(script: str, folder: Path, settings: Mapping[str, str]) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder,
        env={**clean, **settings},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_page_whose_example_asks_a_model_names_the_key_that_it_needs() -> None:
    missing = []
    for page in PAGES:
        above, example = (ROOT / page).read_text(encoding="utf-8").partition("```python")[0], blocks(page, "python")[0]
        asked = {"gpt-": "OPENAI_API_KEY", "claude-": "ANTHROPIC_API_KEY"}
        missing += [(page, key) for model, key in asked.items() if model in example and f"needs `{key}`" not in above]
    assert missing == []


@pytest.mark.parametrize("page", [page for page in PAGES if installed(Path(page))])
def test_the_example_of_a_page_runs_without_a_key(page: str, tmp_path: Path) -> None:
    text, example = (ROOT / page).read_text(encoding="utf-8"), blocks(page, "python")[0]
    program = tmp_path / "example.py"
    program.write_text(example, encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_", "ANTHR"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    module = ["-m", "tests.rehearsal"] if "#without-a-key" in text else []
    command = [sys.executable, *module, program.name]
    ran = subprocess.run(
        command,
        cwd=tmp_path,
        env={**clean, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.returncode == 0, ran.stderr
    assert "aisle" in ran.stdout


@pytest.mark.parametrize("quickstart", list(filter(installed, QUICKSTARTS)), ids=lambda path: path.stem)
def test_a_quickstart_shows_the_model_what_was_remembered(
    quickstart: Path, tmp_path: Path, settings: Mapping[str, str]
) -> None:
    code = quickstart.read_text(encoding="utf-8")
    assert "aisle" in run(code, tmp_path, settings)
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith(("import ", "from "))]
    assert len(lines) <= 15


def test_a_quickstart_that_asks_a_model_looks_for_its_key_first() -> None:
    missing = []
    for quickstart in QUICKSTARTS:
        code = quickstart.read_text(encoding="utf-8")
        key = "ANTHROPIC_API_KEY" if '"claude-' in code else "OPENAI_API_KEY"
        if ("gpt-" in code or '"claude-' in code) and f'raise SystemExit("{key} is not set:' not in code:
            missing.append(quickstart.name)
    assert missing == []


def test_without_its_key_a_quickstart_says_so_in_one_line(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    program = ROOT / "examples" / "quickstarts" / "clients_quickstart.py"
    ran = subprocess.run([sys.executable, program], cwd=tmp_path, env=kept, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 1
    assert ran.stderr == "OPENAI_API_KEY is not set: the agent's model needs it. mnemic itself needs no key.\n"


def test_each_page_begins_with_its_quickstart() -> None:
    quickstarts = {path.read_text(encoding="utf-8") for path in QUICKSTARTS}
    assert [page for page in PAGES if blocks(page, "python")[0] not in quickstarts] == []


@pytest.mark.parametrize("page", ["docs/injection.md", "docs/frameworks/langgraph.md"])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path) -> None:
    for number, block in enumerate(blocks(page, "python")):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert "aisle" in run(block, folder, {})


def test_the_travel_assistant_shows_what_it_promises(tmp_path: Path) -> None:
    shown = run(
        f"import runpy, sys; sys.argv = ['assistant.py', 'travel.db']; "
        f"runpy.run_path({str(ROOT / 'examples' / 'travel' / 'assistant.py')!r}, run_name='__main__')",
        tmp_path,
        {},
    )
    assert "stored: flight_time = morning, seat = aisle" in shown
    assert "seat: aisle" in shown.partition("Find me a flight to Denver")[2]
    assert "(a person approves seat = window)" in shown
    assert "stored: seat = window" in shown.partition("(a person approves")[2]
    assert "messages kept, the others in a summary" in shown


def test_the_strands_assistant_shows_what_it_promises(tmp_path: Path) -> None:
    path = ROOT / "examples" / "travel" / "strands_assistant.py"
    shown = run(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')", tmp_path, {})
    asked = shown.partition("Find me a flight to Denver")[2]
    assert "I found two flights to Denver, 7:10 and 18:40. I keep in mind: seat: aisle." in asked
    assert "call 1: ['seat: aisle']; call 2: ['seat: aisle']" in asked, "the call that answers sees it, too"
    assert "blocks in the history: 0; the plugin says of the turn: ['seat: aisle']" in asked
