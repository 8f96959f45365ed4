"""The three demonstrations. Each gives its data, a few lines for people, and whether it succeeded."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mnemic.bootstrap import DEFAULT_MODEL, build_engine
from mnemic.cli.file_import import Intake, Summary
from mnemic.cli.result_texts import result_dict
from mnemic.cli.terminal import one_line, printable
from mnemic.config import Settings
from mnemic.importers.conversation_files import read_conversation
from mnemic.types import Actor, SearchResult

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


DATA = Path(__file__).parent / "demo_data"
SHOWN_HITS = 3
ANSWER_WIDTH = 140
"""Columns of an answer or a message; with `--json` it is whole."""

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "incident": "The incident assistant: stated in one process, used in another",
        "travel": "The travel assistant: stated in one thread, used in another",
        "conversation": "A conversation, imported and asked about",
    }
)

INCIDENT_MESSAGE = (
    "For future incident updates, write in English, keep replies concise, "
    "use email as the primary channel, and remember that I am enterprise tier."
)
INCIDENT_GOAL = "Draft today's payment incident update and next actions."
TRAVEL_MESSAGE = "Remember that I prefer morning flights and aisle seats."
TRAVEL_GOAL = "Find me a flight to Denver."
QUESTIONS = (
    "What is Nora's dog called, and where did she get it?",
    "Why couldn't she go climbing in spring?",
    "What is she allergic to?",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemonstrationSource:
    """Source of the messages that are imported and asked about: a file of the caller's, or the conversation that comes
    with mnemic.
    """

    file: str | None = None
    conversation: str | None = None
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DemonstrationResult:
    """Result of a demonstration."""

    proved: bool
    data: dict[str, Any] = field(repr=False)
    text: str = field(repr=False)


def model_line(settings: Settings) -> str:
    """Return one sentence on the source of proposals and answers: a language model, or rules and templates."""
    if not settings.has_model:
        return (
            "No language model is configured: rules propose, templates answer. "
            "With MNEMIC_MODEL set, the same path goes through a model."
        )
    where = settings.model_url or "the OpenAI API"
    return printable(f"The language model {settings.model or DEFAULT_MODEL} at {where} proposes and answers.")


def run(name: str, folder: Path, settings: Settings, talk: DemonstrationSource) -> DemonstrationResult:
    """Return the demonstration of that name, with its memory file in `folder`."""
    if name == "incident":
        return incident(folder)
    if name == "travel":
        return travel(folder)
    return asyncio.run(conversation(folder, settings, talk))


def incident(folder: Path) -> DemonstrationResult:
    """Session 1 states preferences, session 2 drafts an update with them, each in a separate process."""
    store, policy = folder / "incident.db", DATA / "incident" / "policy.toml"
    turn = run_turn(store, user="42", session="session_1", policy=policy, arguments=["--message", INCIDENT_MESSAGE])
    arguments = ["--goal", INCIDENT_GOAL, "--context", str(DATA / "incident" / "context.json")]
    asked = run_turn(store, user="42", session="session_2", policy=policy, arguments=arguments)
    report = join_turns(turn, asked)
    denied = {"key": "declared_tier", "reason": "key_denied_execution"} in turn.blocked
    proved = turn.ok and asked.ok and denied and _other_process_used_memory(turn, asked)
    refused = ", ".join(f"{entry['key']} ({entry['reason']})" for entry in turn.blocked) or "nothing"
    lines = [
        f"session 1, process {turn.process_id}: {INCIDENT_MESSAGE}",
        f"  remembered  {_remembered_texts(turn)}; refused: {refused}",
        f"session 2, process {asked.process_id}: {INCIDENT_GOAL}",
        f"  assistant   {one_line(asked.report['answer'] or '', ANSWER_WIDTH)}",
        _verdict(proved) + f" it was answered with {_keys(asked)} of session 1; {_audit(asked)}.",
    ]
    data = {"processes": [turn.process_id, asked.process_id], "report": report}
    return DemonstrationResult(proved=proved, data=data, text=printable("\n".join(lines)))


def travel(folder: Path) -> DemonstrationResult:
    """Thread 1 states preferences; thread 2, another process, asks for a flight."""
    store, policy = folder / "travel.db", DATA / "travel" / "policy.toml"
    turn = run_turn(store, user="user-123", session="thread-1", policy=policy, arguments=["--message", TRAVEL_MESSAGE])
    arguments = ["--message", TRAVEL_GOAL, "--goal", TRAVEL_GOAL]
    asked = run_turn(store, user="user-123", session="thread-2", policy=policy, arguments=arguments)
    proved = turn.ok and asked.ok and _other_process_used_memory(turn, asked)
    kept = "was not" if len(asked.report["memory_state"]) == len(turn.report["memory_state"]) else "WAS"
    lines = [
        f"thread 1, process {turn.process_id}: {TRAVEL_MESSAGE}",
        f"  remembered  {_remembered_texts(turn)}",
        f"thread 2, process {asked.process_id}: {TRAVEL_GOAL}",
        f"  assistant   {one_line(asked.report['answer'] or '', ANSWER_WIDTH)}",
        _verdict(proved) + f" it was answered with what thread 1 was told; the request {kept} kept; {_audit(asked)}.",
    ]
    data = {"processes": [turn.process_id, asked.process_id], "reports": [turn.report, asked.report]}
    return DemonstrationResult(proved=proved, data=data, text=printable("\n".join(lines)))


def _remembered_texts(turn: Turn) -> str:
    return ", ".join(f"{entry['key']} = {entry['value']}" for entry in turn.report["memory_state"]) or "nothing"


def _other_process_used_memory(turn: Turn, asked: Turn) -> bool:
    return turn.process_id != asked.process_id and bool(asked.report["used_memory_keys"])


def _verdict(proved: bool) -> str:
    return "Proved:" if proved else "NOT PROVED:"


def _keys(turn: Turn) -> str:
    return ", ".join(turn.report["used_memory_keys"]) or "no memory"


def _audit(turn: Turn) -> str:
    if not turn.ok:
        return f"the run stopped: {turn.report['stop_reason']}"
    audit = turn.report["audit"]
    counts = f"{len(audit['cited'])} cited, {len(audit['verified'])} of them shown to be applied"
    return f"the audit of use passed ({counts})"


async def conversation(folder: Path, settings: Settings, talk: DemonstrationSource) -> DemonstrationResult:
    """Import and search a conversation, by rules and lists alone: no language model takes part."""
    own = settings.with_values(store=str(folder / "conversation.db"), api_key=None, model_url=None, policy=None)
    path = talk.file or str(DATA / "conversation" / "nora.jsonl")
    questions = talk.questions or (() if talk.file else QUESTIONS)
    actor = Actor(user="listener", session="demo")
    async with build_engine(own) as engine:
        intake = Intake(engine=engine, actor=actor)
        summary = await intake.take(read_conversation(path, conversation=talk.conversation), lambda _: None)
        results = [await engine.search(question, actor=actor, top_k=SHOWN_HITS) for question in questions]
    proved = summary.recorded > 0 and not summary.failed and all(result.hits for result in results)
    data = {"import": summary.as_dict(), "questions": [result_dict(result) for result in results]}
    return DemonstrationResult(proved=proved, data=data, text=_conversation_text(summary, questions, results, proved))


def _conversation_text(
    summary: Summary, questions: Sequence[str], results: Sequence[SearchResult], proved: bool
) -> str:
    lines: list[str] = []
    for question, result in zip(questions, results, strict=True):
        best = one_line(result.hits[0].memory.content, ANSWER_WIDTH) if result.hits else "nothing found"
        lines += [f"? {printable(question)}", f"  {best}"]
    if not questions:
        lines.append("Ask it something: --ask QUESTION")
    asked = f"{len(questions)} question{'' if len(questions) == 1 else 's'}"
    taken = f"{summary.recorded} messages imported{_failure_text(summary)}"
    lines.append(f"{_verdict(proved)} {taken}, {asked} asked; the best hit is shown, with --json all and why.")
    return "\n".join(lines)


def _failure_text(summary: Summary) -> str:
    return f", {len(summary.failed)} failed" if summary.failed else ""
