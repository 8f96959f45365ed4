"""What the pages show is what happens: their code runs, their commands exist, their tables are complete."""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mnemic import errors
from mnemic.cli import COMMANDS
from mnemic.cli.terminal import exit_code
from mnemic.policy.policy_file import policy_bundle_data, read_policy_bundle
from tests.e2e.cli_page import rendered

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block for name, block in BLOCK.findall(text) if name == language]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "docs/getting-started.md",
        "docs/graph.md",
        "docs/kinds.md",
        "docs/redaction.md",
    ],
)
def test_the_code_runs_as_it_stands(page: str, tmp_path: Path) -> None:
    """All blocks of a page, one after the other, in one process and an empty folder."""
    code = blocks(page, "python")
    assert code
    script = "\n".join(f"exec({block!r}, {{'__name__': '__main__'}})" for block in code)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    # Nothing answers at that address: a model that nobody has named is not asked.
    exported = {"OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "theirs"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**clean, **exported},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert run.returncode == 0, run.stderr
    assert any(word in run.stdout for word in ("aisle", "Miso", "3 Berlin", "STAFF_ID"))
    assert page != "README.md" or [run.stdout] == blocks(page, "text")


def test_the_page_of_the_policy_file_has_every_field_with_its_default() -> None:
    whole, open_keys = (tomllib.loads(block) for block in blocks("docs/policy.md", "toml"))
    assert read_policy_bundle(open_keys).policy.allows("anything")
    told, silent = policy_bundle_data(read_policy_bundle(whole)), policy_bundle_data(read_policy_bundle({}))
    examples = {"keys", "limits", "redaction", "on_violation", "on_model_failure"}
    assert {name for name in told if told[name] != silent[name]} <= examples
    assert told["limits"] | {"quotas": [], "retention": {}} == silent["limits"]
    page = (ROOT / "docs" / "policy.md").read_text(encoding="utf-8")
    parts = [silent, silent["budget"], silent["limits"], silent["redaction"], silent["grant"], silent["entities"]]
    parts += [told["keys"]["seat"], *told["limits"]["quotas"], *told["limits"]["retention"].values()]
    fields = {name for part in parts for name in part}
    assert [name for name in sorted(fields) if not re.search(rf"\b{name}\b( =|[.\]])", page)] == []


def test_the_code_of_the_readme_is_short() -> None:
    (code,) = blocks("README.md", "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10


def test_every_command_that_is_shown_exists() -> None:
    pages = ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))]
    shown = [
        (page, words)
        for page in pages
        for block in blocks(page, "sh")
        for line in block.splitlines()
        if line.startswith("mnemic ") and (words := shlex.split(line, comments=True)[1:])
    ]
    assert [(page, words) for page, words in shown if words[0] not in COMMANDS and not words[0].startswith("-")] == []


def test_the_site_lists_every_command_with_its_options() -> None:
    shown = rendered()
    assert [name for name in COMMANDS if f"### mnemic {name}" not in shown] == []
    assert "`-k, --top-k INTEGER`" in shown


def test_every_error_is_in_the_table_of_reasons_with_its_exit_code() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    found = {item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, errors.MnemicError)}
    assert [error.code for error in found if f"`{error.code}" not in page and error is not errors.BudgetSpent] == []
    rows = re.findall(r"^\| `(\w+)[^`]*` \|.*\| (\d) \|$", page, re.MULTILINE)
    assert len(rows) >= 15
    codes = {error.code: error for error in found}
    assert [(code, told) for code, told in rows if exit_code(codes[code]) != int(told)] == []


def test_every_reason_that_tests_pin_is_in_the_table() -> None:
    page = (ROOT / "docs" / "concepts.md").read_text(encoding="utf-8")
    blocked = [
        "key_denied_execution",
        "scope_denied_execution",
        "consent_required",
        "quota_exceeded",
        "retention_denied",
    ]
    answers = ["memory_keys_out_of_context", "memory_declared_but_not_applied", "too_long"]
    shapes = ["not_object", "items", "item", "missing_keys", "key", "value", "value_too_long", "scope", "ttl_days"]
    shapes += ["confidence", "too_many_items", "kind", "query", "query_too_long", "top_k", "scopes", "scope_item"]
    assert [reason for reason in blocked + answers + shapes if f"`{reason}" not in page] == []
