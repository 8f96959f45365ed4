"""One turn in a separate process: another process must find this one's memories on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODEL_SETTINGS = frozenset({"MNEMIC_MODEL", "MNEMIC_MODEL_URL", "MNEMIC_API_KEY", "MNEMIC_MODEL_TIMEOUT_SECONDS"})


class TurnFailed(Exception):
    """The process of a turn gave no report; it has `exit_code`, and the message is its error output."""

    def __init__(self, complaint: str, exit_code: int) -> None:
        super().__init__(complaint)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn that was run: its process, and its report in the published shape."""

    process_id: int
    report: Mapping[str, Any] = field(repr=False)

    @property
    def blocked(self) -> list[dict[str, Any]]:
        """Entries that the runtime blocked in the turn."""
        return [entry for event in self.report["history"] for entry in event.get("blocked", ())]

    @property
    def ok(self) -> bool:
        """True if the turn ended as a run should."""
        return bool(self.report["status"] == "ok")


def run_turn(store: Path, *, user: str, session: str, policy: Path, arguments: Sequence[str]) -> Turn:
    """`mnemic run` with these arguments in a new process. Raises TurnFailed when it ends without a report."""
    command = [sys.executable, "-m", "mnemic", "--store", str(store), "--user", user, "--session", session]
    command += ["--policy", str(policy), "--json", "run", "--preference-bias", *arguments]
    process = subprocess.Popen(  # noqa: S603 - this interpreter, this program, no shell
        command,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    printed, complaints = process.communicate()
    try:
        report = json.loads(printed)
    except ValueError:
        complaint = next(iter(complaints.splitlines()), "").removeprefix("mnemic: ")
        raise TurnFailed(complaint or f"session {session} gave no report", process.returncode or 1) from None
    return Turn(process_id=process.pid, report=report)


def _environment() -> dict[str, str]:
    """Return the environment without mnemic's settings, but for those of the model: a demonstration is the same
    everywhere.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MNEMIC_", "_MNEMIC")) or name in MODEL_SETTINGS
    }


def join_turns(first: Turn, second: Turn) -> dict[str, Any]:
    """Return the second report with the first one's steps and story before its own, numbered through."""
    report = dict(second.report)
    for name in ("trace", "history"):
        steps = [*first.report[name], *second.report[name]]
        report[name] = [{**step, "step": number} for number, step in enumerate(steps, start=1)]
    report["skipped"] = [*first.report["skipped"], *second.report["skipped"]]
    report["errors"] = [*first.report["errors"], *second.report["errors"]]
    return report
