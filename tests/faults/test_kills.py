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
from pathlib import Path

from mnemic.testing.faults.aftermath import examine
from mnemic.testing.faults.kill import run_kills
from mnemic.testing.faults.oracle import statement
from tests.faults.scale import size

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
    reported, present, told = 0, 0, set()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "OPENAI_"))}
    for _ in range(COMMANDS):
        content = statement(choice)
        command = [sys.executable, "-m", "mnemic", "--store", str(path), "--user", "ana", "--json", "add", content]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, cwd=tmp_path)
        _wait_for(process, path, choice.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        answer, _ = process.communicate()
        found = examine(path)
        assert found.whole
        contents = {one.content for one in found.memories.values()}
        present += content in contents
        if answer.endswith(b"}\n"):
            assert json.loads(answer)["outcome"] == "created"
            reported += 1
            told.add(content)
        assert told <= contents
    say(f"kill -9, command line: {COMMANDS} kills: {reported} reported, 0 lost; {present} present")


def _wait_for(process: subprocess.Popen[bytes], path: Path, seconds: float) -> None:
    """Until the file is written to, and a random moment more; what a command does before that cannot be lost."""
    log = path.with_name(path.name + "-wal")
    until = time.monotonic() + 30
    while process.poll() is None and not log.exists() and time.monotonic() < until:
        time.sleep(0.002)
    time.sleep(seconds)
