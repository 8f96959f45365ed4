"""Processes that are killed while they write, and an oracle of their acknowledged calls.

A run forks writers, so it needs a process without threads: use `run_kills`, which starts one.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from tests.faults.aftermath import examine
from tests.faults.oracle import ADA, Answer, Call, Oracle, make

LIVES_PER_FILE = 20
_WHILE_OPENING = 0.15
_OPENING_SECONDS = 0.05
_CALL_SECONDS = 0.02
_MAX_ANSWERS = 6
_GIVE_UP_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class KillReport:
    """Totals of a run. `unknown` calls were cut off by the kill; `present` are those of them found done, in full."""

    kills: int = 0
    acknowledged: int = 0
    lost: int = 0
    partial: int = 0
    corrupt: int = 0
    unknown: int = 0
    present: int = 0
    repeated: int = 0
    doubled: int = 0
    searched: int = 0
    not_found: int = 0
    errors: int = 0

    def __str__(self) -> str:
        return (
            f"{self.kills} kills: {self.acknowledged} acknowledged, {self.lost} lost, {self.partial} partial, "
            f"{self.corrupt} corrupt; {self.present} of {self.unknown} unknown present; "
            f"{self.doubled} of {self.repeated} repeated doubled; {self.not_found} of {self.searched} not found; "
            f"{self.errors} errors"
        )


def run_kills(folder: Path, kills: int, *, seed: int = 1) -> KillReport:
    """Kill `kills` writers on files in `folder`, in a separate process, and check each file after each kill."""
    command = [sys.executable, "-m", __spec__.name, str(folder), str(kills), str(seed)]
    # A pool of BLAS threads must not exist before the forks.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"the run of kills ended with {run.returncode}: {run.stderr[-2000:]}")
    return KillReport(**json.loads(run.stdout))


class _Run:
    """Parent process: forks, kills, checks."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._choice = random.Random(seed)
        self._oracle = Oracle()
        self._path = folder
        self._unknown: Call | None = None
        self.report = KillReport()

    def one_life(self, number: int) -> None:
        is_new = number % LIVES_PER_FILE == 0
        if is_new:
            self._oracle, self._unknown = Oracle(), None
            self._path = self._folder / f"{number}.db"
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _live(self._path, self._oracle, self._unknown, writing, self._choice.getrandbits(32))
        os.close(writing)
        self._choice.getrandbits(32)
        said = self._kill_at_random(child, reading, opening=is_new or self._choice.random() < _WHILE_OPENING)
        self.report.kills += 1
        self._account(said)
        self._check()

    def _kill_at_random(self, child: int, reading: int, *, opening: bool) -> list[dict[str, Any]]:
        """Kill while the file is being opened, or some answers later; return the lines received."""
        heard, answers = b"", -1 if opening else self._choice.randint(0, _MAX_ANSWERS)
        until = time.monotonic() + _GIVE_UP_SECONDS
        while heard.count(b"\n") == 0 or heard.count(b'{"answer"') < answers:
            left = max(0.0, until - time.monotonic())
            if answers < 0 or not select.select([reading], [], [], left)[0]:
                break
            more = os.read(reading, 65536)
            if not more:
                break
            heard += more
        time.sleep(self._choice.uniform(0, _OPENING_SECONDS if answers < 0 else _CALL_SECONDS))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            raise RuntimeError("the writer ended before it was killed")
        while more := os.read(reading, 65536):
            heard += more
        os.close(reading)
        return [json.loads(line) for line in heard.split(b"\n")[:-1]]

    def _account(self, said: list[dict[str, Any]]) -> None:
        """Record the calls that the writer acknowledged; calls without an answer are unknown."""
        repeated = self._unknown
        for line in said:
            if "found" in line:
                self.report.searched += 1
                self.report.not_found += not line["found"]
            elif "call" in line:
                self._unknown = Call(**line["call"])
            elif "answer" in line and self._unknown is not None:
                answer = Answer(**line["answer"])
                self.report.acknowledged += 1
                self.report.errors += answer.broken
                if self._unknown == repeated:
                    self.report.repeated += 1
                self._oracle.acknowledge(self._unknown, answer)
                self._unknown = None

    def _check(self) -> None:
        report = self.report
        found = examine(self._path)
        report.corrupt += bool(found.damage)
        report.partial += len(found.halves)
        judgement = self._oracle.judge(found.memories, self._unknown)
        report.lost += len(judgement.lost)
        report.partial += len(judgement.partial)
        report.doubled += self._oracle.doubles()
        if self._unknown is not None:
            report.unknown += 1
            report.present += judgement.applied
            if self._unknown.idempotency_key is None:
                self._unknown = None


def _live(path: Path, oracle: Oracle, unknown: Call | None, writing: int, seed: int) -> None:
    """Write until killed, reporting each call and its answer."""
    try:
        asyncio.run(_write(path, oracle, unknown, writing, random.Random(seed)))
    except BaseException as error:  # noqa: BLE001
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


async def _write(path: Path, oracle: Oracle, unknown: Call | None, writing: int, choice: random.Random) -> None:
    def say(**line: Any) -> None:
        os.write(writing, json.dumps(line).encode() + b"\n")

    engine = MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder())
    await engine.open()
    say(ready=True)
    for memory_id, one in oracle.sample(choice, 2):
        hits = (await engine.search(one.content, actor=ADA)).hits
        say(found=memory_id in {hit.memory.memory_id for hit in hits})
    while True:
        call = unknown or oracle.next_call(choice)
        unknown = None
        say(call=call.as_dict())
        answer = await make(engine, call)
        say(answer=answer.as_dict())
        oracle.acknowledge(call, answer)


def main(folder: str, kills: str, seed: str) -> None:
    """Write the report as JSON to standard output; `run_kills` starts this."""
    run = _Run(Path(folder), int(seed))
    for number in range(int(kills)):
        run.one_life(number)
    sys.stdout.write(json.dumps(asdict(run.report)))


if __name__ == "__main__":
    main(*sys.argv[1:])
