"""The pages on moving from other products run as they stand, on an export of the product."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.e2e.moving_files import EXPORTS
from tests.e2e.test_explained_blocks import run
from tests.e2e.test_guides import BLOCK
from tests.e2e.test_pages_run import ROOT

PAGES = sorted((ROOT / "docs" / "moving-from").glob("*.md"))
INDEX = (ROOT / "docs" / "moving-from.md").read_text(encoding="utf-8")
STORE = """
from langgraph.store.memory import InMemoryStore
store = InMemoryStore()
store.put(("memories", "ana"), "home", {"content": "Ana lives in Oslo."})
store.put(("memories", "ana"), "diet", {"content": "Ana is vegetarian."})
"""
"""The store of a reader who comes from LangMem."""
FOUND = {
    "chatgpt": ["home_city: Oslo"],
    "claude": ["diet: vegetarian", "Ana restores wooden boats."],
    "gemini": ["home_city: Oslo"],
    "whatsapp": ["diet: vegetarian"],
    "slack": ["home_city: Oslo"],
    "telegram": ["home_city: Oslo"],
    "sharegpt": ["diet: vegetarian"],
    "markdown": ["The hull is larch on oak.", "Blue above, red below."],
    "letta": ["home_city: Oslo", "Ana restores wooden boats."],
    "zep-graphiti": ["Ana lives in Bergen.", "Ana lives in Oslo."],
    "langmem": ["Ana is vegetarian.", "Ana lives in Oslo."],
}
"""Memories that the commands of each page show."""


def shell(commands: str, folder: Path) -> str:
    return run(["bash", "-euo", "pipefail", "-c", commands], folder)


def looked(block: str, folder: Path) -> list[str]:
    """Run the commands of a block that only look, and assert that they write nothing; return the others that import."""
    commands = re.findall(r"^mnemic import .*$", block, re.MULTILINE)
    looks = [command for command in commands if " --dry-run" in command]
    for command in looks:
        assert shell(command, folder).endswith("nothing was imported\n")
        assert not (folder / "mnemic.db").exists(), "a dry run wrote something"
    assert looks, "the page does not look first"
    return [command for command in commands if command not in looks]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_does_what_it_says_and_a_second_import_adds_nothing(page: Path, tmp_path: Path) -> None:
    EXPORTS[page.stem](tmp_path)
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    printed = ""
    for kind, block in blocks:
        if kind == "python":
            run([sys.executable, "-c", STORE + block], tmp_path)
        else:
            assert kind == "sh", "a block that no program reads"
            imports = looked(block, tmp_path)
            printed += shell(block, tmp_path)
            again = "".join(shell(command, tmp_path) for command in imports)
            assert re.findall(r"^recorded +(\d+)", again, re.MULTILINE) == ["0"] * len(imports)
            assert "captured" not in again
    assert [text for text in FOUND[page.stem] if text not in printed] == [], printed
    assert "nothing meets that" not in printed
    assert sum("mnemic import" in block for kind, block in blocks if kind == "sh") == 1


@pytest.mark.parametrize(
    ("name", "file", "me"),
    [("slack", "slack.zip", "Ana Roy"), ("whatsapp", "chat.zip", "Ana"), ("chatgpt", "chatgpt.zip", None)],
)
def test_what_the_code_of_the_index_imports_can_be_taken_back(
    name: str, file: str, me: str | None, tmp_path: Path
) -> None:
    EXPORTS[name](tmp_path)
    (into,) = (block.replace("_chat.txt", file) for kind, block in BLOCK.findall(INDEX) if kind == "python")
    into = into.replace('"Ana")', f'"{me}")') if me else re.sub(r"with_user\((read_.*\)), .*", r"\1", into)
    shell("mnemic add 'The cat is called Miso.'", tmp_path)
    first, _ = (run([sys.executable, "-c", into], tmp_path) for _ in range(2))
    assert int(shell("mnemic count", tmp_path)) > 3
    (import_id,) = re.findall(r"'import_id': '([\w-]+)'", first)
    shell(f"mnemic import --undo {import_id}", tmp_path)
    assert shell("mnemic count", tmp_path).strip() == "1"


def test_each_product_has_a_page_and_the_index_names_all() -> None:
    assert {page.stem for page in PAGES} == EXPORTS.keys() == FOUND.keys()
    assert [page.name for page in PAGES if f"(moving-from/{page.name})" not in INDEX] == []
    assert "(guides/moving-from-mem0.md)" in INDEX
