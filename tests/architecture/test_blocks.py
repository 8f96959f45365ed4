"""Every block of code on the pages is run by a test, or listed here with the reason why it cannot run."""

from __future__ import annotations

import re
import tomllib
from fnmatch import fnmatch
from typing import NamedTuple

from tests.architecture.sources import ROOT, tracked_texts

CODE = {"python", "sh", "bash", "ts", "typescript", "toml", "json"}
SHOWN = {"", "text", "mermaid", "console", "sql", "yaml", "nginx", "http"}
"""Output and outlines, and what other programs are given."""

FENCE = re.compile(r"([^\n]*)\n\s*^( *)```(\w*)\n(.*?)^\2```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *(?:mnemic|pip|curl|python3?|docker|export|from \w+ import) ", re.MULTILINE)
E2E = "tests/e2e/test_"
WITH_SERVERS, FURTHER, FRAMEWORKS = (
    f"{E2E}{name}.py" for name in ("blocks_with_servers", "further_blocks", "framework_pages")
)
DATABASES, SERVICE = (f"{E2E}{name}.py" for name in ("blocks_with_databases", "service_blocks"))
PROXY = "tests/integrations/litellm_proxy_service.py"

WHOLE: dict[tuple[str, str], str] = {
    ("docs/guides/*.md", "python sh toml"): f"{E2E}guides.py",
    ("docs/moving-from/*.md", "python sh"): f"{E2E}moving_pages.py",
    **{(f"{folder}/*/README.md", "python sh"): f"{E2E}package_readmes.py" for folder in ("packages", "bench")},
    ("README.md", "python"): f"{E2E}pages_run.py",
    ("docs/getting-started.md", "python"): f"{E2E}pages_run.py",
    ("docs/graph.md", "python"): f"{E2E}pages_run.py",
    ("docs/index.md", "python"): f"{E2E}home_page.py",
    ("docs/kinds.md", "python"): f"{E2E}pages_run.py",
    ("docs/policy.md", "toml"): f"{E2E}pages_run.py",
    ("docs/redaction.md", "python"): f"{E2E}pages_run.py",
    ("docs/injection.md", "python"): FRAMEWORKS,
    ("docs/frameworks/langgraph.md", "python"): FRAMEWORKS,
    ("docs/cassandra.md", "sh"): "tests/stores/cassandra/test_pages.py",
    ("docs/coding-agents.md", "sh toml"): f"{E2E}coding_agents.py",
    **{
        (f"docs/{page}.md", "python sh toml"): f"{E2E}explained_blocks.py"
        for page in ("howto", "governance", "keys", "plugins", "concepts", "moving-from", "truth")
    },
}
"""Pages whose test goes through all blocks of a language, whichever they are. The first that fits counts."""

SINGLE: dict[tuple[str, str], str] = {
    ("README.md", "make demo"): FURTHER,
    ("README.md", "mnemic chat"): FURTHER,
    ("docs/cli.md", "mnemic capture"): FURTHER,
    ("docs/getting-started.md", "--policy policy.toml"): FURTHER,
    ("docs/getting-started.md", "# policy.toml"): FURTHER,
    ("docs/getting-started.md", "MNEMIC_MODEL=gpt-4.1-mini"): WITH_SERVERS,
    ("docs/frameworks/mcp.md", "--print-config"): FURTHER,
    ("docs/frameworks/litellm-proxy.md", "litellm_proxy import MnemicHook"): PROXY,
    ("docs/frameworks/litellm-proxy.md", "litellm --config"): PROXY,
    ("docs/frameworks.md", "tests.rehearsal"): FRAMEWORKS,
    ("docs/frameworks/*.md", "import "): FRAMEWORKS,
    ("docs/service.md", 'label "chat backend"'): f"{E2E}service_page.py",
    ("docs/service.md", "for_user"): f"{E2E}service_page.py",
    ("docs/service.md", "for user in ana ben cleo"): f"{E2E}service_page.py",
    ("docs/service.md", "/v1/search"): f"{E2E}service_page.py",
    ("docs/service.md", "/v1/uploads"): f"{E2E}service_page.py",
    ("docs/service.md", "wrapLanguageModel"): f"{E2E}typescript.py",
    ("docs/models.md", "anthropic:"): WITH_SERVERS,
    ("docs/howto.md", "mnemic embedder models/"): WITH_SERVERS,
    ("docs/howto.md", "MNEMIC_MODEL=llama3.1"): WITH_SERVERS,
    ("docs/howto.md", "nomic-embed-text"): WITH_SERVERS,
    ("docs/kinds.md", "ski trip"): WITH_SERVERS,
    ("docs/graph.md", "[entities]"): WITH_SERVERS,
    ("docs/howto.md", "postgresql://db.internal"): DATABASES,
    ("docs/governance.md", "postgresql://db/again"): DATABASES,
    ("docs/postgres.md", "sister"): DATABASES,
    ("docs/postgres.md", "?replica="): DATABASES,
    ("docs/service.md", "MNEMIC_SERVICE_CLIENT_ID"): SERVICE,
    ("docs/service.md", "mnemic tenants create"): SERVICE,
    ("docs/service.md", "mnemic webhooks create"): SERVICE,
    ("docs/service.md", "https://memory.example.org"): SERVICE,
    ("docs/console.md", "apikeys create"): SERVICE,
    ("docs/policy.md", "/v1/policy"): SERVICE,
}
"""Blocks that a test takes by words in them."""

NOT_RUN: dict[tuple[str, str], str] = {
    ("docs/deployment.md", "/opt/mnemic"): "it needs systemd and the rights of root",
    ("docs/deployment.md", "docker compose"): "it needs Docker and an image that was built",
    (
        "docs/models.md",
        "llama-server",
    ): "it needs a model's weights; `make test-model` runs llama.cpp with those of a package",
    ("docs/models.md", "ollama serve"): "it needs the server and a model's weights from its maker",
    ("docs/models.md", "vllm serve"): "it needs a GPU and a model's weights",
    ("docs/models.md", "lms server"): "it needs a closed program from its maker's site",
}
"""Blocks that no test runs, with the reason."""

NEEDS = re.compile(r"[Tt]his needs [^.:]+[.:]$")
"""Blocks after such a paragraph are left out by the test that goes through a whole page."""


class Block(NamedTuple):
    page: str
    before: str
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}: {self.text.strip().splitlines()[0]}"


def found() -> list[Block]:
    """Return the blocks of the pages, in the order of the pages."""
    pages = [
        name
        for name in sorted(tracked_texts())
        if name == "README.md"
        or (name.startswith(("packages/", "bench/")) and name.endswith("/README.md"))
        or (fnmatch(name, "docs/*.md") and not name.startswith("docs/adr/"))
    ]
    return [
        Block(page, before.strip(), language, text)
        for page in pages
        for before, _, language, text in FENCE.findall(tracked_texts()[page])
    ]


def runner(block: Block) -> str | None:
    """Return the test that runs a block; None if there is none."""
    for (page, words), test in SINGLE.items():
        if fnmatch(block.page, page) and words in block.text:
            return test
    for (page, languages), test in WHOLE.items():
        if fnmatch(block.page, page) and block.language in languages.split() and not NEEDS.search(block.before):
            return test
    return None


def only_installs(block: Block) -> bool:
    """Return True for a block of nothing but installations, whose names the test below reads."""
    return all(line.startswith("pip install ") for line in block.text.strip().splitlines())


def listed(block: Block) -> bool:
    return any(fnmatch(block.page, page) and words in block.text for page, words in NOT_RUN)


def test_every_block_of_code_is_run_or_listed_with_its_reason() -> None:
    code = [block for block in found() if block.language in CODE]
    assert len(code) > 100
    lost = [str(block) for block in code if not (listed(block) or only_installs(block) or runner(block))]
    assert lost == []
    others = [block for block in found() if block.language not in CODE]
    assert [str(block) for block in others if block.language not in SHOWN] == []
    assert [str(block) for block in others if not block.language and COMMAND.search(block.text)] == []


def test_what_is_listed_is_there() -> None:
    blocks = [block for block in found() if block.language in CODE]
    gone = [
        (page, words)
        for page, words in [*SINGLE, *NOT_RUN]
        if not any(fnmatch(block.page, page) and words in block.text for block in blocks)
    ]
    assert gone == []
    assert [test for test in {*WHOLE.values(), *SINGLE.values()} if not (ROOT / test).exists()] == []


def test_each_package_that_a_page_installs_is_one_of_ours_with_that_extra() -> None:
    extras: dict[str, set[str]] = {}
    for project in [ROOT / "pyproject.toml", *ROOT.glob("packages/*/pyproject.toml")]:
        told = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
        extras[told["name"]] = set(told.get("optional-dependencies", {}))
    wrong = []
    for block in found():
        for line in re.findall(r"^pip install (.*)$", block.text, re.MULTILINE):
            for name, wanted in re.findall(r"(?<![\w./-])(mnemic[\w-]*)(?:\[([\w,-]+)\])?", line.partition("#")[0]):
                known = extras.get(name)
                if known is None or not set(filter(None, wanted.split(","))) <= known:
                    wrong.append((block.page, line))
    assert wrong == []
