"""The guides run as they stand: the blocks of each, in an empty folder, with what they ask for at hand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_pages_run import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"(?:prints|answer contains|block that the model was shown contains|memory reads) `([^`]+)`")
SAVED = re.compile(r"Save this as `([^`]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
MEM0 = """
from mnemic.agents.compat.mem0 import Memory as Facade
def Memory():
    memory = Facade.from_config({"mnemic": {"store": "old.db"}})
    memory.add("Favourite tea is oolong", user_id="ana", infer=False)
    return memory
"""
"""Stand-in for mem0, with one memory: the facade, which answers as mem0 does."""
NOT_RUN = {"text", "toml", "sql", "json"}
"""Blocks that are no commands: files to save, and what other programs or servers are given."""


def clean() -> dict[str, str]:
    """The environment of somebody who has set nothing, with the commands of this installation on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    return {**kept, "PATH": os.pathsep.join([str(Path(sys.executable).parent), kept["PATH"]]), "PYTHONUNBUFFERED": "1"}


def prepare(guide: str, folder: Path) -> None:
    """Put what a guide assumes into its folder."""
    if guide == "moving-from-mem0":
        (folder / "mem0.py").write_text(MEM0, encoding="utf-8")


def ran(kind: str, block: str, folder: Path) -> str:
    """Return the output of a block. A program's blocks share its names: each is run after those before it."""
    if kind == "sh":
        lines = [line for line in block.splitlines() if not line.startswith("pip install ")]
        words = ["bash", "-euo", "pipefail", "-c", "\n".join(lines)]
    else:
        words = [sys.executable, "-c", block]
    done = subprocess.run(words, cwd=folder, env=clean(), capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: path.stem)
def test_a_guide_does_what_it_says(guide: Path, tmp_path: Path) -> None:
    text = guide.read_text(encoding="utf-8")
    for name, content in SAVED.findall(text):
        (tmp_path / name).write_text(content, encoding="utf-8")
    printed, program = "", ""
    prepare(guide.stem, tmp_path)
    blocks = BLOCK.findall(text)
    assert {kind for kind, _ in blocks} <= {"sh", "python"} | NOT_RUN
    for at, (kind, block) in enumerate(blocks):
        if kind == "sh":
            printed += ran(kind, block, tmp_path)
        elif kind == "python":
            program += f"{block}\n"
            if all(later != "python" for later, _ in blocks[at + 1 :]) or "sh" in dict(blocks[at + 1 :]):
                printed += ran(kind, program, tmp_path)
                program = imports(program)
    assert [told for told in SHOWN.findall(text) if told not in printed] == [], printed


def imports(program: str) -> str:
    """The imports of a program: what a later block of the same page goes on with."""
    return "".join(f"{line}\n" for line in program.splitlines() if re.match(r"(from|import) ", line))
