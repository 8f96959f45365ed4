"""Redactor: the detectors, and the action on each kind that they find.

Most texts contain no character or word that a find of any detector requires (`_SUSPECT`): one expression checks that,
and no detector runs. The detectors are loaded for the first text that contains one; `mnemic.redact.replacement`
replaces the finds.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from functools import cache, cached_property

from mnemic.redact.pii_kinds import DETECTORS, detectors
from mnemic.redact.pii_kinds.opt_in_kinds import OPTIONAL
from mnemic.redact.replacement import Finds
from mnemic.redact.types import Action, Detector, Redaction, Span

_SUSPECT = re.compile(
    r"[^\x09-\x7e]|[0-9@#$%^&*_+=~|:]|!\S|[(\[{<] ?at| dot |\S{14}|private key|phrase|words"
    r"|question|frage|pregunta|domanda|pergunta|vraag",
    re.IGNORECASE,
)
"""Signs of which a text must contain one for any detector of `mnemic.redact.pii_kinds` to find something: a character
beyond ASCII, a digit, a sign of addresses, assignments and passwords, an `at` in brackets, a spelled `dot`, a word as
long as the shortest token or hardware address, a name of keys and seeds, or a word for a question.
"""


class Redactor:
    """Finds and replaces the kinds of `mnemic.redact.pii_kinds` for `regions`, or those of `detectors` instead, and
    those of the `further` detectors; `actions` has the action per entity (default: `redact`). The optional kinds
    (`mnemic.redact.pii_kinds.opt_in_kinds`) are detected only if `actions` names them.

    Raises InvalidRules (`redaction.entities`) for an entity that no detector finds, and (`redaction.regions`) for a
    region without a numbering plan.
    """

    def __init__(
        self,
        detectors: Sequence[Detector] | None = None,
        actions: Mapping[str, str] | None = None,
        *,
        regions: Sequence[str] = (),
        further: Sequence[Detector] = (),
    ) -> None:
        self._given, self._regions, self._further = detectors, tuple(regions), tuple(further)
        self._actions = {entity: Action(action) for entity, action in (actions or {}).items()}
        self._glances = detectors is None and not further
        if self._actions or regions:
            self._finds.check()

    @cached_property
    def _finds(self) -> Finds:
        table = self._given
        if table is None:
            optional = self._actions.keys() & OPTIONAL.keys()
            table = detectors(self._regions, optional) if self._regions or optional else DETECTORS
        return Finds((*table, *self._further), self._actions)

    @property
    def tokenises(self) -> bool:
        """True if any value is to be stored sealed."""
        return Action.TOKENISE in self._actions.values()

    def redact(self, text: str, secret: bytes) -> Redaction:
        """Replace every find, under the tenant's `secret`; a second run changes nothing more.

        Raises Unredactable (`redaction`) for a text built so that every replacement uncovers a new find.
        """
        if self._glances and _SUSPECT.search(text) is None:
            return Redaction(text=text)
        return self._finds.redact(text, secret)

    def find(self, text: str) -> list[Span]:
        """Return the replacements of one pass over `text`, in order and without overlaps."""
        return self._finds.find(text)


@cache
def _default() -> tuple[Redactor, bytes]:
    """Return the redactor of the built-in detectors, and a secret of this process."""
    return Redactor(), secrets.token_bytes(32)


def redact(
    text: str,
    *,
    secret: bytes | None = None,
    actions: Mapping[str, str] | None = None,
    regions: Sequence[str] = (),
    further: Sequence[Detector] = (),
) -> Redaction:
    """Replace the personal data and secrets in `text` by markers.

    The marker of a value is the same wherever it occurs under one `secret`; without one, a secret of this process is
    used, and the markers of another process differ. `actions`, `regions` and `further` are those of `Redactor`; for
    many texts, create a `Redactor`. Raises InvalidRules and Unredactable.
    """
    redactor, own = _default()
    if actions or regions or further:
        redactor = Redactor(actions=actions, regions=regions, further=further)
    return redactor.redact(text, own if secret is None else secret)
