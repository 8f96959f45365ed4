"""With keys of model vendors exported and no model named, the system calls of the README, of the command line and of
the demonstration open no socket to any address: no request leaves, and no name is looked up.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_guides import clean
from tests.e2e.test_pages_run import ROOT, blocks

STRACE = shutil.which("strace") or shutil.which(ROOT / "build/strace/usr/bin/strace")
pytestmark = pytest.mark.skipif(STRACE is None, reason="NOT RUN: it needs strace (make strace)")

KEYS = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x", "GEMINI_API_KEY": "x", "CO_API_KEY": "x"}
WALK = """
mnemic add "The cat is called Miso."
mnemic add window --key seat
mnemic capture "I am vegetarian and I live in Oslo."
mnemic import chat.jsonl
mnemic search "where do I like to sit?"
mnemic list
mnemic history seat
mnemic run --goal "Find me a flight to Denver."
mnemic doctor
mnemic export --output everything.jsonl
"""
PAST_THE_MACHINE = re.compile(r"\bAF_(?:INET|INET6|NETLINK|PACKET)\b")


def calls(words: list[str], folder: Path) -> tuple[str, str]:
    """Return what a program and its children print, and their system calls about the network."""
    trace = folder / "trace"
    traced = [str(STRACE), "-f", "-qq", "-e", "trace=network", "-o", str(trace), *words]
    environment = {**clean(), **KEYS, "HOME": str(folder), "MNEMIC_USER": "ana"}
    done = subprocess.run(traced, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, trace.read_text(encoding="utf-8", errors="replace")


def test_the_trace_shows_a_request_that_is_made(tmp_path: Path) -> None:
    """Keep the tests below from passing because nothing is seen."""
    _, seen = calls([sys.executable, "-c", "import socket; socket.socket().connect_ex(('127.0.0.1', 1))"], tmp_path)
    assert PAST_THE_MACHINE.search(seen)


def test_the_code_of_the_readme_asks_nobody(tmp_path: Path) -> None:
    (code,) = blocks("README.md", "python")
    printed, seen = calls([sys.executable, "-c", code], tmp_path)
    assert "seat aisle" in printed
    assert seen
    assert PAST_THE_MACHINE.findall(seen) == []


def test_a_walk_on_the_command_line_asks_nobody(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "I work at Siemens."}\n', encoding="utf-8")
    printed, seen = calls(["bash", "-euo", "pipefail", "-c", WALK], tmp_path)
    assert "all is well" in printed
    assert seen
    assert PAST_THE_MACHINE.findall(seen) == []


def test_the_demonstration_asks_nobody(tmp_path: Path) -> None:
    printed, seen = calls(["mnemic", "demo"], tmp_path)
    assert printed.count("Proved: ") == 3
    assert seen
    assert PAST_THE_MACHINE.findall(seen) == []
