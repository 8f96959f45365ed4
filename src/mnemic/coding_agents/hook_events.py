"""Events of the tools' hooks, each in its own form, as one: a session starts, the user prompts, a session ends."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.claude_code import PROGRAM_OPENINGS as OF_CLAUDE_CODE
from mnemic.importers.codex import PROGRAM_OPENINGS as OF_CODEX
from mnemic.language.sentences.pasted_text import data_spans, merge_spans

LONGEST_PROMPT = 8000
"""Characters of the user's own words that are read, and of a prompt that is searched with."""


class Moment(StrEnum):
    """What an event tells."""

    START = "start"
    PROMPT = "prompt"
    END = "end"
    STATUS = "status"


_CLAUDE = {"SessionStart": Moment.START, "UserPromptSubmit": Moment.PROMPT, "SessionEnd": Moment.END}
EVENTS: Mapping[str, Mapping[str, Moment]] = MappingProxyType(
    {
        "claude-code": _CLAUDE,
        "codex": {"SessionStart": Moment.START, "UserPromptSubmit": Moment.PROMPT, "Stop": Moment.END},
        "cursor": {"sessionStart": Moment.START, "beforeSubmitPrompt": Moment.PROMPT, "sessionEnd": Moment.END},
        "gemini": {"SessionStart": Moment.START, "BeforeAgent": Moment.PROMPT, "SessionEnd": Moment.END},
        "opencode": {"session.created": Moment.START, "chat.message": Moment.PROMPT, "session.idle": Moment.END},
    }
)
"""The events of each tool that a hook is installed for, by their names there."""
TRANSCRIPTS: Mapping[str, str] = MappingProxyType({"claude-code": "claude_code", "codex": "codex"})
"""Importers of the tools whose session files are read when a session ends."""
_OF_THE_PROGRAM = (*OF_CLAUDE_CODE, *OF_CODEX, "<task-notification>")
_FORGETS = frozenset({"clear", "compact"})
"""Ways in which a session starts with less than was shown in it before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One event. `prompt` is what the user sent; `transcript` the session's file; `anew`: what was shown in the session
    before is no longer before the model. `of_program`: a side agent's, whose prompts no person wrote.
    """

    tool: str
    name: str
    moment: Moment
    session: str
    folder: Path
    prompt: str = field(default="", repr=False)
    transcript: Path | None = None
    anew: bool = False
    of_program: bool = False

    @classmethod
    def from_payload(cls, tool: str, name: str, payload: Mapping[str, Any]) -> HookEvent:
        """Return the event that a tool has sent. Raises InvalidInput (`event`)."""
        moments = EVENTS.get(tool, {})
        moment = Moment.STATUS if moments and name == Moment.STATUS else moments.get(name)
        if moment is None or not isinstance(payload, Mapping):
            raise InvalidInput("event", hint="a tool and an event that `mnemic install` names")
        roots = payload.get("workspace_roots")
        workspace = payload.get("workspace")
        folder = (
            _text(payload, "cwd")
            or (roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None)
            or (_text(workspace, "current_dir") if isinstance(workspace, Mapping) else None)
        )
        if not folder:
            raise InvalidInput("event", hint="it names no folder")
        transcript = _text(payload, "transcript_path")
        return cls(
            tool=tool,
            name=name,
            moment=moment,
            session=_session(tool, _text(payload, "session_id") or _text(payload, "conversation_id") or "session"),
            folder=Path(folder),
            prompt=_text(payload, "prompt") or "",
            transcript=Path(transcript) if transcript and tool in TRANSCRIPTS else None,
            anew=payload.get("source") in _FORGETS,
            of_program=bool(payload.get("agent_id")),
        )

    def answer(self, context: str) -> str:
        """Return what the tool reads from standard output: `context` for the model, in the tool's form; "" for
        silence.
        """
        if self.moment is Moment.STATUS:
            return context
        if self.tool == "cursor":
            if self.moment is Moment.PROMPT:  # Cursor takes no text for the model here
                return json.dumps({"continue": True})
            return json.dumps({"additional_context": context} if context and self.moment is Moment.START else {})
        if not context or self.moment is Moment.END:
            return ""
        if self.tool == "opencode":
            return json.dumps({"context": context})
        return json.dumps({"hookSpecificOutput": {"hookEventName": self.name, "additionalContext": context}})


def own_words(prompt: str) -> str:
    """Return what the user says in a prompt themselves: without pasted text, code, files, quotations and what the tool
    added; nothing of a command to the tool.
    """
    said = prompt.strip()
    if said.startswith(("/", "!")) or said.startswith(_OF_THE_PROGRAM):
        return ""
    kept, at = [], 0
    for start, end in merge_spans(data_spans(said)):
        kept.append(said[at:start])
        at = end
    kept.append(said[at:])
    return "\n".join(part.strip() for part in kept if part.strip())[:LONGEST_PROMPT]


def _text(payload: Mapping[str, Any], name: str) -> str | None:
    value = payload.get(name)
    return value if isinstance(value, str) else None


def _session(tool: str, given: str) -> str:
    """Return a name of the session that is a valid identifier, whatever the tool calls it."""
    plain = given if given.isascii() and given.isprintable() and len(given) <= 80 and given == given.strip() else None
    return f"{tool}:{plain or hashlib.sha256(given.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"
