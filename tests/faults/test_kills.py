"""Writers that are killed: what they had acknowledged is there, what they had not is there in full or not at all."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.faults.aftermath import examine
from tests.faults.kill import run_kills
from tests.faults.oracle import statement
from tests.faults.scale import FULL, size

KILLS = size(25, 1000)
COMMANDS = size(2, 30)


def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, say: Callable[[str], None]) -> None:
    report = run_kills(tmp_path, KILLS, seed=1)
    say(f"kill -9, engine: {report}")

    assert report.kills == KILLS
    assert report.acknowledged > KILLS
    assert report.searched > 0
    assert (report.lost, report.partial, report.corrupt) == (0, 0, 0)
    assert (report.doubled, report.not_found, report.errors) == (0, 0, 0)


def test_what_a_command_reported_survives_its_kill(tmp_path: Path, say: Callable[[str], None]) -> None:
    choice, path = random.Random(1), tmp_path / "memory.db"
    began = time.monotonic()
    told = {statement(choice)}
    assert reported(adding(path, next(iter(told))).communicate()[0])
    seconds = time.monotonic() - began
    present = 0
    for _ in range(COMMANDS):
        content = statement(choice)
        process = adding(path, content)
        with suppress(subprocess.TimeoutExpired):
            # Most of a command's time is its start; what it is killed in should be its work.
            process.wait(seconds * choice.uniform(0.6, 1.1))
        process.send_signal(signal.SIGKILL)
        if reported(process.communicate()[0]):
            told.add(content)
        found = examine(path)
        contents = {one.content for one in found.memories.values()}
        present += content in contents
        assert found.whole
        assert told <= contents
    say(f"kill -9, command line: {COMMANDS} kills: {len(told) - 1} reported, 0 lost; {present} present")
    assert not FULL or 1 < len(told) <= COMMANDS


def adding(path: Path, content: str) -> subprocess.Popen[bytes]:
    """`mnemic add`, begun."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    command = [sys.executable, "-m", "mnemic", "--store", str(path), "--user", "ana", "--json", "add", content]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=path.parent)


def reported(answer: bytes) -> bool:
    """Whether the command said, in full, that the memory is stored."""
    if not answer.endswith(b"}\n"):
        return False
    assert json.loads(answer)["outcome"] == "created"
    return True
