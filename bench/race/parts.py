"""Measurements of the race beside its sizes: ten users in one store, evidence found, and the syncs of an add."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from bench.race.contestants import TOP_K, USER, Contestant
from bench.race.vectors import Vectors
from mnemic_eval.locomo import conversations
from mnemic_eval.texts import questions, statements

SEED = 20240229
WARM = 5
CHUNK = 500
USERS = 10
SYNCED_ADDS = 20
_SYNC = re.compile(r"^\d+ +(?:fsync|fdatasync|msync)\(")
_BEGIN, _END = "race-begins", "race-ends"


def timed(call: Callable[[str], Any], texts: Sequence[str], vectors: Vectors) -> tuple[dict[str, float], list[Any]]:
    """Return CPU and clock of `call` at p50, in ms, after a few for warming up, and what it returned. What was embedded
    meanwhile is in neither.
    """
    cpu, clock, found = [], [], []
    for text in texts:
        began, at = time.process_time() - vectors.spent, time.perf_counter() - vectors.waited
        found.append(call(text))
        cpu.append(1000 * (time.process_time() - vectors.spent - began))
        clock.append(1000 * (time.perf_counter() - vectors.waited - at))
    return {"cpu_p50_ms": median(cpu[WARM:]), "clock_p50_ms": median(clock[WARM:])}, found


def of_users(peer: Contestant, vectors: Vectors, each: int, repeats: int) -> dict[str, float]:
    """Return CPU and clock of adds and searches of ten users, in turns, who have `each` memories in one store."""
    told = list(islice(statements(SEED), each + USERS * (1 + repeats // USERS) + WARM))
    asked = list(islice(questions(SEED), repeats + WARM))
    vectors.make(told)
    vectors.make(asked)
    for number in range(USERS):
        peer.as_user(f"{USER}-{number}")
        for first in range(0, each, CHUNK):
            peer.fill(told[first : min(first + CHUNK, each)])

    def in_turn(call: Callable[[str], Any]) -> Callable[[str], Any]:
        turn = iter(range(len(asked)))

        def called(text: str) -> Any:
            peer.as_user(f"{USER}-{next(turn) % USERS}")
            return call(text)

        return called

    adds, _ = timed(in_turn(peer.add), told[each : each + len(asked)], vectors)
    searches, _ = timed(in_turn(peer.search), asked, vectors)
    both = {"add": adds, "search": searches}
    return {f"{call}_users_{key}": value for call, figures in both.items() for key, value in figures.items()}


def of_evidence(peer: Contestant, vectors: Vectors, data: Path, limit: int) -> dict[str, float]:
    """Return the share of LoCoMo's evidence in the ten best, over the questions of the first `limit` conversations:
    each a user of its own, each message a text with its speaker.
    """
    shares: list[float] = []
    for chat in conversations(data)[:limit]:
        refs: dict[str, set[str]] = {}
        for message in chat.messages:
            text = f"{message.speaker}: {message.content}"
            refs.setdefault(text, set()).add(str(message.message_id))
        said = list(refs)
        vectors.make(said)
        vectors.make([question.text for question in chat.questions])
        peer.as_user(chat.name)
        for first in range(0, len(said), CHUNK):
            peer.fill(said[first : first + CHUNK])
        for question in chat.questions:
            found = {ref for text in peer.search(question.text)[:TOP_K] for ref in refs.get(text, ())}
            shares.append(len(found & question.evidence) / len(question.evidence))
    return {"locomo_recall_10": sum(shares) / len(shares), "locomo_questions": float(len(shares))}


def of_syncs(peer: Contestant, vectors: Vectors, marks: Path) -> dict[str, float]:
    """Add some texts between two marks in the trace of this process's syncs; `counted` reads how many there were."""
    told = list(islice(statements(SEED), 100 + WARM + SYNCED_ADDS))
    vectors.make(told)
    peer.fill(told[:100])
    for text in told[100 : 100 + WARM]:
        peer.add(text)
    _mark(marks / _BEGIN)
    for text in told[100 + WARM :]:
        peer.add(text)
    _mark(marks / _END)
    return {}


def _mark(path: Path) -> None:
    handle = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
    os.fsync(handle)
    os.close(handle)


def counted(command: Sequence[str], environment: dict[str, str], timeout: float) -> dict[str, float]:
    """Return the syncs of files an add, of the contestant and of the servers that it started, as the kernel saw them.
    Raises OSError where there is no strace, CalledProcessError for a contestant that fails, TimeoutExpired.
    """
    if not (strace := shutil.which("strace")):
        raise OSError("strace is not installed")
    with TemporaryDirectory(prefix="mnemic-race-") as folder:
        trace = Path(folder) / "syncs"
        traced = [strace, "-f", "-y", "--seccomp-bpf", "-e", "trace=fsync,fdatasync,msync", "-o", str(trace)]
        done = [*traced, *command, "--marks", folder]
        subprocess.run(done, capture_output=True, text=True, env=environment, check=True, timeout=timeout)
        lines = [line for line in trace.read_text(errors="replace").splitlines() if _SYNC.match(line)]
    first, last = (next(n for n, line in enumerate(lines) if mark in line) for mark in (_BEGIN, _END))
    return {"fsyncs_an_add": (last - first - 1) / SYNCED_ADDS}
