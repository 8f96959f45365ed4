"""Step 2: personal data and secrets are replaced before anything else sees the text (`mnemic.redact`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.reason_codes import PII_BLOCKED
from mnemic.redact import redactor as library
from mnemic.redact.types import InvalidRules, Redaction, Unredactable
from mnemic.types import Candidate, Detector, JsonValue
from mnemic.types.values import canonical_key


class Redactor(library.Redactor):
    """The redactor of the library `mnemic.redact`, with this package's errors.

    Raises InvalidConfig (`invalid_config:redaction.entities`) for an entity that no detector finds, and
    (`:redaction.regions`) for a region without a numbering plan.
    """

    def __init__(
        self,
        detectors: Sequence[Detector] | None = None,
        actions: Mapping[str, str] | None = None,
        *,
        regions: Sequence[str] = (),
        further: Sequence[Detector] = (),
    ) -> None:
        try:
            super().__init__(detectors, actions, regions=regions, further=further)
        except InvalidRules as wrong:
            raise InvalidConfig(wrong.reason, hint=wrong.hint) from wrong

    @classmethod
    def under(cls, rules: RedactionRules) -> Redactor:
        """Return the redactor of a policy. Raises InvalidConfig (`:redaction.entities`, `:redaction.regions`)."""
        return cls(actions=rules.actions, regions=rules.regions, further=rules.detectors)

    def redact(self, text: str, secret: bytes) -> Redaction:
        """Every find replaced, under the tenant's `secret`; doing it twice changes nothing more.

        Raises InvalidInput (`invalid_input:redaction`) for a text built so that every replacement uncovers a new find.
        """
        try:
            return super().redact(text, secret)
        except Unredactable as refused:
            raise InvalidInput(refused.reason, hint=refused.hint) from refused


# -- the step --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Redacted:
    """A candidate without personal data, the entities that were found in its texts and replaced, those that policy
    blocks, and the values that markers stand for.
    """

    candidate: Candidate
    replaced: Sequence[str]
    blocked: Sequence[str]
    tokens: Mapping[str, str]

    @property
    def found(self) -> bool:
        """True if there was any."""
        return bool(self.replaced or self.blocked)

    @property
    def blocked_reason(self) -> str | None:
        """The reason why it must not be stored: `pii_blocked:<ENTITY>`."""
        return f"{PII_BLOCKED}:{self.blocked[0]}" if self.blocked else None

    @property
    def counts(self) -> str:
        """The number of replacements of each entity."""
        found = self.replaced
        return " ".join(f"{entity}:{found.count(entity)}" for entity in sorted(set(found))) or "clean"


def redact(candidate: Candidate, redactor: Redactor, secret: bytes) -> Redacted:
    """Return the candidate without personal data: in its content, key, category, context, data (names, strings and long
    numbers), and the quote, speaker and ref of its source. `source.span` still counts in the message as it was said.
    """
    pass_ = _Pass(redactor, secret)
    return Redacted(pass_.candidate(candidate), pass_.replaced, pass_.blocked, pass_.tokens)


def redact_value(value: JsonValue, redactor: Redactor, secret: bytes) -> JsonValue:
    """Return JSON data without personal data: in names of fields, texts and long numbers."""
    return _Pass(redactor, secret).value(value)


@dataclass(slots=True)
class _Pass:
    """Redaction of one candidate's texts, and the findings it collected."""

    redactor: Redactor
    secret: bytes
    replaced: list[str] = field(default_factory=list)
    blocked: list[str] = field(default_factory=list)
    tokens: dict[str, str] = field(default_factory=dict)

    def text(self, text: str) -> str:
        done = self.redactor.redact(text, self.secret) if text else Redaction(text=text)
        self.replaced += done.replaced
        self.blocked += done.blocked
        # The first find of a marker stays: later ones have the same value.
        self.tokens |= {name: value for name, value in done.tokens.items() if name not in self.tokens}
        return done.text

    def value(self, value: JsonValue) -> JsonValue:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self.text(key): self.value(item) for key, item in value.items()}
        if isinstance(value, Sequence):
            return [self.value(item) for item in value]
        # From nine digits: shorter ones are amounts and years, longer ones may be card or account numbers.
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**8:
            shown = self.text(str(value))
            return value if shown == str(value) else shown
        return value

    def candidate(self, candidate: Candidate) -> Candidate:
        source = candidate.source
        given = {"quote": source.quote, "speaker": source.speaker, "ref": source.ref}
        labels: dict[str, Any] = {name: self.text(label) for name, label in given.items() if label is not None}
        key = None if candidate.key is None else self.text(candidate.key)
        return candidate.with_fields(
            content=self.text(candidate.content),
            # A marker in a key may not be in canonical form.
            key=key if key == candidate.key else canonical_key(key),
            category=None if candidate.category is None else self.text(candidate.category),
            context=self.text(candidate.context),
            data={self.text(name): self.value(item) for name, item in candidate.data.items()}
            if candidate.data
            else candidate.data,
            source=replace(source, **labels) if labels else source,
        )
