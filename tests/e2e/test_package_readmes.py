"""Every block of the READMEs of packages runs as it stands, with the service and files that it names at hand."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.test_further_blocks import run
from tests.e2e.test_pages_run import BLOCK, ROOT
from tests.service import serving

READMES = {
    path.parent.name: path for path in sorted([*ROOT.glob("packages/*/README.md"), *ROOT.glob("bench/*/README.md")])
}
TOLD = [{"speaker": "Ana", "dia_id": "D1:1", "text": "I repaired the telescope with a brass screw."}]
CHATS = [
    {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": TOLD,
        },
        "qa": [{"question": "What did Ana repair?", "evidence": ["D1:1"], "category": 4}],
    }
    for name in ("one", "two")
]
"""Two conversations in the format of LoCoMo."""


@contextmanager
def at_hand(package: str, folder: Path) -> Iterator[dict[str, str]]:
    """Set up what a README assumes; yield values for the names in its text."""
    if package == "mnemic-client":
        with serving(folder) as served:
            yield {"http://127.0.0.1:8377": served.address, "mnk_...": served.key("reader", "writer")}
    else:
        yield {}


def commands(block: str) -> str:
    """Return the commands of a block without those that install, which tests/architecture/test_blocks.py reads, the one
    that serves until it is ended, and the bench, which takes minutes (bench/eval/tests/test_bench.py).
    """
    left_out = re.compile(r"pip install |mnemic (serve|bench)\b")
    return "\n".join(line for line in block.splitlines() if not left_out.match(line))


@pytest.mark.parametrize("package", READMES)
def test_each_block_of_a_readme_runs(package: str, tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text(json.dumps(CHATS), encoding="utf-8")
    run("mnemic add 'I like tea.'", tmp_path)
    with at_hand(package, tmp_path) as names:
        for kind, block in BLOCK.findall(READMES[package].read_text(encoding="utf-8")):
            for said, meant in names.items():
                block = block.replace(said, meant)
            if kind == "python":
                (tmp_path / "block.py").write_text(block, encoding="utf-8")
                run(f"{sys.executable} block.py", tmp_path)
            elif kind == "sh":
                run(commands(block), tmp_path)
            if "mnemic serve" in block:
                with serving(tmp_path):
                    pass
