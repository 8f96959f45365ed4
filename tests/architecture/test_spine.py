"""The spine, the files that docs/architecture.md names in reading order, can be read in a day and leaves no gap."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.architecture.journey import BEYOND
from tests.architecture.sources import ROOT

LINES = 8_000
LIBRARIES = frozenset({"runtime/__init__.py", "runtime/fork_check.py", "runtime/event_loop_thread.py"})
"""Files on the way of an add that could be anybody's: the check for a fork, the event-loop thread."""
_FILE = re.compile(r"\[`([\w/]+\.py)`\]\(\.\./src/mnemic/\1\)")


def spine() -> list[str]:
    """The files of the reading order, as they are listed."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    return _FILE.findall(page.partition("## Reading order")[2])


def way_of_an_add() -> set[str]:
    """The files that an add enters in a new process, up to the ports."""
    run = [sys.executable, "-m", "tests.architecture.journey"]
    told = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120).stdout
    entered = re.findall(r"^(\S+\.py)  \(\d+ functions", told.partition("loaded and not entered")[0], re.MULTILINE)
    own = {name.removeprefix("mnemic/") for name in entered}
    return {name for name in own if not name.startswith(BEYOND)}


def test_it_is_read_in_a_day() -> None:
    files = spine()
    assert len(files) == len(set(files)) > 30
    texts = [(ROOT / "src" / "mnemic" / name).read_text(encoding="utf-8") for name in files]
    assert sum(text.count("\n") for text in texts) <= LINES


def test_nothing_on_the_way_of_an_add_is_left_out() -> None:
    way = way_of_an_add()
    assert "dispatch/__init__.py" in way
    assert way - LIBRARIES - set(spine()) == set()
