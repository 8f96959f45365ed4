"""What is in a picture, a recording or a file that a user sent, in a language model's words.

A model that cannot read such a file, refuses it or fails costs nobody the note that it was sent.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from mnemic.errors import InvalidConfig, ModelFailed, ModelInvalidSchema, ModelUnavailable
from mnemic.policy.budget import MODELS_SHARE
from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Completer
from mnemic.ports.providers import reads_files
from mnemic.prompts import description_prompt
from mnemic.types import AttachedFile, Deadline

MAX_SHOWN_CHARS = 20_000
"""Characters of a text file that a model reads."""
MAX_DESCRIPTION_CHARS = 1200
_AUTH = "llm_unavailable:auth"

Shown = Callable[[str], Awaitable[str]]
"""A text as a model may see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReader:
    """Reads files with `completer`, or without one reads none; `keeps` tells the engine to store their bytes."""

    completer: Completer | None = None
    keeps: bool = False
    _refused: set[str] = field(default_factory=set, repr=False, compare=False)

    async def describe(
        self, file: AttachedFile, said: str, *, shown: Shown, deadline: Deadline
    ) -> tuple[str, str | None]:
        """Return what `file` shows, "" if that is not known, and the reason of a failure. `said`: the words that came
        with it. A model that has refused a kind of file (images) is not sent another one in this process.
        """
        family = file.media.partition("/")[0]
        text = _text_of(file)
        if self.completer is None or (text is None and (family in self._refused or not reads_files(self.completer))):
            return "", None
        about = {"name": await shown(file.name), "media": file.media, "said": await shown(said)}
        if text is not None:
            about["text"] = await shown(text)
        prompt = description_prompt(about, [file] if text is None else [])
        try:
            answer = await self.completer.complete(prompt, deadline=deadline.share(MODELS_SHARE))
            return _description(parse_json(answer.text)), None
        except (ModelFailed, InvalidConfig) as failure:
            if isinstance(failure, ModelUnavailable) and failure.permanent and failure.reason != _AUTH:
                self._refused.add(family)
            return "", failure.reason


def _text_of(file: AttachedFile) -> str | None:
    """Return the text of a file that is one; None for any other."""
    if not file.media.startswith("text/") and file.media not in ("application/json", "application/xml"):
        return None
    return file.content.decode("utf-8", "replace")[:MAX_SHOWN_CHARS]


def _description(answer: object) -> str:
    shows = answer.get("shows") if isinstance(answer, dict) else None
    if not isinstance(shows, str):
        raise ModelInvalidSchema(hint="no text under `shows`")
    return " ".join(shows.split())[:MAX_DESCRIPTION_CHARS]
