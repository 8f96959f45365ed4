"""What makes a draft of a candidate, without side effect: 1 validate, 2 redact, 3 fingerprint, 4 embed.

1. Explicit checks rather than a pydantic schema: a model's JSON was already parsed by one (policy), and this step
   receives Python values from any caller. Each field has its stable reason, limits are measured after normalising.
2. Personal data and secrets are replaced before anything else sees the text (`mnemic.redact`).
3. A keyed hash of the content for deduplication: HMAC-SHA-256 under the tenant's secret (RFC 2104), so that a short
   text cannot be guessed from its hash and equal texts of two tenants have different hashes.
4. The vector, made before any transaction is open.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from mnemic.errors import EmbedderFailed, InvalidConfig, InvalidInput
from mnemic.language.sentences.clauses import clauses
from mnemic.language.text.normalise import nfkc
from mnemic.policy.candidate_check import MAX_CONTENT_CHARS
from mnemic.policy.expiry_rule import FOREVER, LONGEST_TTL, lifetime
from mnemic.policy.key_rules import Policy
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.reason_codes import NOTHING_LEFT, PII_BLOCKED
from mnemic.redact import redactor as library
from mnemic.redact.languages import ARE
from mnemic.redact.types import InvalidRules, Redaction, Unredactable
from mnemic.types import (
    ATTACHMENT,
    FILE_BYTES,
    MAX_FILE_BYTES,
    AttachedFile,
    Candidate,
    Deadline,
    Detector,
    JsonValue,
    Kind,
    Origin,
    Scope,
    Source,
    Vector,
)
from mnemic.types.enums import ORIGINS
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.values import VECTOR_STEPS, canonical_key, clean_content
from mnemic.write.draft import Draft

if TYPE_CHECKING:
    from mnemic.ports import Embedder


MAX_CONTENT_BYTES = 32 * 1024
MAX_RAW_CHARS = 64 * 1024
MAX_DATA_DEPTH = 8
MAX_DATA_BYTES = 32 * 1024
MAX_DATA_KEY_CHARS = 256
_LARGEST_INTEGER = 2**63
_LABEL_CHARS = {"category": 128, "ref": 2048, "session": 128, "speaker": 256, "quote": MAX_CONTENT_CHARS}


def validate(candidate: Candidate, policy: Policy, now: datetime) -> Candidate:
    """Return the candidate with every text cleaned and every value checked.

    Raises InvalidInput: `content:empty`, `content:too_long` (more than 8,192 characters or 32 KiB), `content:nul`,
    `content:surrogate`, `kind`, `kind:not_durable`, `key`, `confidence`, `ttl`, `valid_to`, `origin`, `span`, `data`
    (no JSON), `data:depth`, `data:integer`, `data:too_long`, `context:too_long`, and `<field>` or `<field>:too_long`
    for the labels.
    """
    cleaned = candidate.with_fields(
        content=clean_text(candidate.content),
        kind=_kind(candidate.kind),
        key=None if candidate.key is None else canonical_key(candidate.key),
        category=None if candidate.category is None else _label("category", candidate.category),
        context=clean_text(candidate.context, "context", empty=True) if candidate.context != "" else "",
        data=_data(candidate.data, file=file_member(candidate)),
        confidence=_confidence(candidate.confidence),
        source=_source(candidate.source),
    )
    _check_times(cleaned, now)
    if cleaned.ttl is not None and lifetime(cleaned, policy).shortened:
        cleaned = replace(cleaned, clamped=tuple(dict.fromkeys((*cleaned.clamped, "ttl_days"))))
    return cleaned


def clean_text(text: object, name: str = "content", *, empty: bool = False) -> str:
    """`text` in the form it is stored in. Raises InvalidInput (`<name>`, `<name>:empty`, `<name>:too_long`, ...)."""
    if not isinstance(text, str):
        raise InvalidInput(name, hint="it must be text")
    # Before cleaning, whose Unicode normalisation costs time in proportion to the length.
    if len(text) > MAX_RAW_CHARS:
        raise InvalidInput(f"{name}:too_long", hint=f"at most {MAX_CONTENT_CHARS} characters")
    clean = _clean(text, name)
    if not clean and not empty:
        raise InvalidInput(f"{name}:empty", hint="there is nothing to remember")
    return within_limits(clean, name)


def within_limits(text: str, name: str = "content") -> str:
    """`text` if it is within the limits of characters and bytes, else InvalidInput (`<name>:too_long`)."""
    if len(text) > MAX_CONTENT_CHARS or len(text.encode()) > MAX_CONTENT_BYTES:
        raise InvalidInput(
            f"{name}:too_long", hint=f"at most {MAX_CONTENT_CHARS} characters and {MAX_CONTENT_BYTES} bytes"
        )
    return text


def _clean(text: str, name: str) -> str:
    try:
        return clean_content(text)
    except InvalidInput as error:
        raise InvalidInput(
            error.reason.removeprefix("invalid_input:").replace("content", name, 1), hint=error.hint
        ) from None


def _kind(value: object) -> Kind:
    try:
        kind = Kind(value)  # type: ignore[arg-type]
    except ValueError:
        raise InvalidInput("kind", hint="one of " + ", ".join(Kind)) from None
    if not CATALOG[kind].durable:
        raise InvalidInput(
            "kind:not_durable", hint=f"{kind} memory lives with the process or the session, not in the store"
        )
    return kind


def _label(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        raise InvalidInput(name, hint="it must be text")
    # Twice, because cleaning may shorten a text; a longer one cannot become valid, and needs no cleaning.
    if len(value) > 2 * _LABEL_CHARS[name]:
        raise InvalidInput(f"{name}:too_long", hint=f"at most {_LABEL_CHARS[name]} characters")
    clean = _clean(value, name)
    if len(clean) > _LABEL_CHARS[name]:
        raise InvalidInput(f"{name}:too_long", hint=f"at most {_LABEL_CHARS[name]} characters")
    return clean or None


def _confidence(value: object) -> float:
    # bool is a subclass of int, and NaN fails the comparison.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput("confidence", hint="a number from 0 to 1")
    return float(value)


def _source(source: Source) -> Source:
    if not isinstance(source, Source) or source.origin not in ORIGINS:
        raise InvalidInput("origin", hint="one of " + ", ".join(Origin))
    span: object = source.span
    if span is not None and not (
        isinstance(span, tuple)
        and len(span) == 2
        and all(type(at) is int for at in span)
        and 0 <= span[0] <= span[1] < _LARGEST_INTEGER
    ):
        raise InvalidInput("span", hint="two offsets into the message, start and end")
    labels = {name: label for name in _LABELS if (label := getattr(source, name)) is not None}
    if not labels and isinstance(source.origin, Origin):
        return source
    clean = {name: _label(name, label) for name, label in labels.items()}
    return replace(source, origin=Origin(source.origin), **clean)  # type: ignore[arg-type]


_LABELS = ("ref", "session", "speaker", "quote")


def file_member(candidate: Candidate) -> str | None:
    """Return the member of an attachment's data with the bytes of the file that its source names by their hash; None
    without one. Other bytes are a text like any other: sixteen digits are in base64, too.
    """
    given = candidate.data.get(FILE_BYTES) if isinstance(candidate.data, Mapping) else None
    if candidate.category != ATTACHMENT or not isinstance(given, str) or len(given) > 2 * MAX_FILE_BYTES:
        return None
    try:
        digest = AttachedFile(media="", base64=given).digest
    except InvalidInput:
        return None
    return FILE_BYTES if candidate.source.ref == f"sha256:{digest}" else None


def _data(data: object, *, file: str | None = None) -> Mapping[str, JsonValue]:
    if not isinstance(data, Mapping):
        raise InvalidInput("data", hint="it must be a JSON object")
    if not data:
        return data
    if file is not None:
        rest = _data({name: value for name, value in data.items() if name != file})
        return {**rest, file: _file(data[file])}
    plain = _plain(data, MAX_DATA_DEPTH)
    if len(json.dumps(plain, ensure_ascii=False).encode()) > MAX_DATA_BYTES:
        raise InvalidInput("data:too_long", hint=f"at most {MAX_DATA_BYTES} bytes of JSON")
    assert isinstance(plain, dict)
    return plain


def _file(given: str) -> str:
    """Return the bytes of a file, in base64."""
    if len(AttachedFile(media="", base64=given).content) > MAX_FILE_BYTES:
        raise InvalidInput("data:too_long", hint=f"at most {MAX_FILE_BYTES} bytes of a file")
    return given


def _plain(value: object, depth: int) -> JsonValue:
    """Return `value` as plain JSON, its texts as they were given: a filter with the same value must find them. Raises
    InvalidInput (`data`, `data:depth`).
    """
    if depth < 0:
        raise InvalidInput("data:depth", hint=f"at most {MAX_DATA_DEPTH} levels")
    # 64 bits: larger integers cannot be compared exactly in SQLite or PostgreSQL. True and False are integers here.
    if value is None or (isinstance(value, int) and -_LARGEST_INTEGER <= value < _LARGEST_INTEGER):
        return value
    if isinstance(value, int):
        raise InvalidInput("data:integer", hint="integers have at most 64 bits: give a longer one as text")
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str):
        if len(value) > MAX_DATA_BYTES:
            raise InvalidInput("data:too_long", hint=f"at most {MAX_DATA_BYTES} bytes of JSON")
        return _sound(value)
    if isinstance(value, Mapping):
        return {_data_key(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    raise InvalidInput("data", hint="it must be JSON without NaN and infinity")


def _data_key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_DATA_KEY_CHARS:
        raise InvalidInput("data", hint=f"its keys are text of 1 to {MAX_DATA_KEY_CHARS} characters")
    return _sound(key)


def _sound(text: str) -> str:
    _clean(text, "data")  # refuses a NUL and half a surrogate pair
    return text


def _check_times(candidate: Candidate, now: datetime) -> None:
    ttl: object = candidate.ttl
    fits = isinstance(ttl, timedelta) and timedelta(0) < ttl and (ttl <= LONGEST_TTL or ttl == FOREVER)
    if ttl is not None and not fits:
        raise InvalidInput("ttl", hint="a positive duration of at most 36,500 days, or without an end")
    starts_at = candidate.valid_from or candidate.occurred_at or now
    if candidate.valid_to is not None and candidate.valid_to <= starts_at:
        raise InvalidInput("valid_to", hint="it must be after the moment from which the memory is valid")


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


_BARE_SECRET = re.compile(
    rf"\W{{0,3}}(?:[^\[\]:=,]{{0,160}}?(?:\s{ARE}\s|[:=\u2010-\u2015-])\s{{0,3}})?\[(?:SECRET|CARD|IBAN|SSN|NATIONAL_ID)#[0-9a-f]{{12}}\]"
    rf"(?:\s{ARE}\s[^\[\]]{{0,160}})?\W{{0,3}}"
)
"""A name without a comma or nothing, and the marker of a secret, or of a number that nobody may know, in the place of
what is said.
"""


def _is_bare_secret(content: str) -> bool:
    return _BARE_SECRET.fullmatch(content) is not None and len(clauses(content)) == 1


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
        """The reason why it is not stored: `pii_blocked:<ENTITY>`, or `nothing_left` of what was read in a message."""
        if self.blocked:
            return f"{PII_BLOCKED}:{self.blocked[0]}"
        read = self.candidate.source.quote is not None and self.candidate.key is None
        return NOTHING_LEFT if read and not self.tokens and _is_bare_secret(self.candidate.content) else None

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

    def data(self, candidate: Candidate) -> Mapping[str, JsonValue]:
        # The bytes of a file are no text: what looks like a number in them is chance.
        file = file_member(candidate)
        return {
            name if name == file else self.text(name): item if name == file else self.value(item)
            for name, item in candidate.data.items()
        } or candidate.data

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
            data=self.data(candidate),
            source=replace(source, **labels) if labels else source,
        )


MAX_IDEMPOTENCY_KEY_CHARS = 512
_SPACE = re.compile(r"\s+")
_ENDING = " .,;:!…。、，；：！"
"""Punctuation that ends a statement without changing it. A question mark does change it."""


def fingerprint_of(secret: bytes, scope: Scope, candidate: Candidate) -> str:
    """64 hex digits: equal for the same redacted statement of the same kind under the same key in the same scope.

    Letter case, spacing, Unicode form and final punctuation do not count; the speaker does. Without a key,
    data and times count too: "Invoice paid" with another invoice is another memory, and so is "watered the tomatoes" of
    another day.
    """
    parts: list[Any] = [candidate.kind, scope.tenant, scope.level, scope.owner, candidate.key]
    said, speaker = candidate.content, candidate.source.speaker
    parts += [normal_form(said), None if speaker is None else normal_form(speaker)]
    if CATALOG[candidate.kind].append_only:
        parts += [_moment(candidate.occurred_at), candidate.data, candidate.source.ref]
    elif candidate.kind is Kind.STRUCTURED or (candidate.key is None and candidate.data):
        parts.append(candidate.data)
    if candidate.key is None and (candidate.valid_from or candidate.valid_to):
        parts += ["valid", _moment(candidate.valid_from), _moment(candidate.valid_to)]
    # The time of words from a conversation is that of speaking, which is no part of what they say.
    if candidate.key is None and candidate.source.quote is None and not CATALOG[candidate.kind].append_only:
        parts += ["at", _moment(candidate.occurred_at)] if candidate.occurred_at else []
    return keyed_hash(secret, "fingerprint", parts)


def normal_form(text: str) -> str:
    """`text` as it is compared: NFKC, case folded, white space collapsed, final punctuation dropped."""
    # Twice: folding case can leave a text that is no longer normalised (Unicode 15, section 3.13, D146).
    folded = nfkc(nfkc(text).casefold())
    collapsed = _SPACE.sub(" ", folded).strip()
    # A text of punctuation alone keeps it; otherwise all such texts would be equal.
    return collapsed.rstrip(_ENDING) or collapsed


def request_digest(draft: Draft) -> str:
    """64 hex digits of the redacted request: two requests under one idempotency key must agree in it."""
    candidate = draft.candidate
    source = candidate.source
    parts: list[Any] = [draft.actor.user, draft.actor.agent, draft.scope.level, draft.scope.owner]
    parts += [candidate.content, candidate.key, candidate.kind, candidate.category, candidate.context, candidate.data]
    parts += [candidate.ttl and candidate.ttl.total_seconds(), candidate.confidence]
    given = draft.given  # "yesterday" is another day when the request is repeated
    parts += [_moment(moment) for moment in (given.occurred_at, given.valid_from, given.valid_to)]
    parts += [source.origin, source.ref, source.session, source.speaker, source.quote, source.span]
    # Only if set: digests of requests stored before the field existed stay valid.
    parts += [candidate.replaces, candidate.ends] if candidate.replaces else []
    return keyed_hash(draft.secret, "request", parts)


def request_key(secret: bytes, user: str, idempotency_key: object) -> str:
    """Return the stored name of an idempotency key: one per user, and unreadable, as keys may contain personal data.

    Raises InvalidInput (`invalid_input:idempotency_key`).
    """
    if not isinstance(idempotency_key, str) or not 0 < len(idempotency_key) <= MAX_IDEMPOTENCY_KEY_CHARS:
        raise InvalidInput("idempotency_key", hint=f"text of 1 to {MAX_IDEMPOTENCY_KEY_CHARS} characters")
    return f"{user}:{keyed_hash(secret, 'idempotency', [user, idempotency_key])[:32]}"


def item_key(idempotency_key: str | None, candidate: Candidate) -> str | None:
    """Return the idempotency key of one candidate of a batch, made from the batch's key and the candidate's content."""
    if idempotency_key is None:
        return None
    # The unit separator avoids ambiguity between the parts: it occurs in no level, kind or valid key.
    said = "\x1f".join((candidate.level, candidate.kind, candidate.key or "", candidate.content))
    return f"{idempotency_key}:{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


def request_owner(name: str) -> str:
    """Return the owner of the idempotency key that is stored under this name."""
    # From the right: user names may contain colons, the hash does not.
    return name.rpartition(":")[0]


def keyed_hash(secret: bytes, purpose: str, parts: list[Any]) -> str:
    """Return the HMAC-SHA-256 over JSON, which delimits the parts unambiguously."""
    # `purpose` first, so that hashes for different uses never coincide.
    return hmac.digest(secret, _AS_JSON([purpose, *parts]).encode(), "sha256").hex()


def _thaw(value: object) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


# Made once: `json.dumps` would make an encoder for each hash.
_AS_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), default=_thaw).encode


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


_KEY_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W\d_]+|\d+")


def index_text(content: str, *, key: str | None = None) -> str:
    """Return the text that a memory's vector is made from: the words of its key, and its content.

    Its context is indexed by words only: a vector of both is worse at finding messages that answer several questions.
    """
    words = " ".join(_KEY_WORD.findall(key)).lower() if key else ""
    return f"{words}: {content}" if words else content


async def embed(drafts: Sequence[Draft], embedder: Embedder, deadline: Deadline | None) -> None:
    """Give the drafts their vectors, made in one call. Raises EmbedderFailed; then none has a vector."""
    said = [draft.candidate for draft in drafts]
    texts = [one.content if one.key is None else index_text(one.content, key=one.key) for one in said]
    vectors = await embedder.embed(texts, deadline=deadline)
    # Four bytes per value: an embedder that answers with another dimension must not fill the store.
    size = 4 * embedder.space.dimension
    if len(vectors) != len(texts) or any(len(vector) != size for vector in vectors):
        raise EmbedderFailed("dimension")
    for draft, vector in zip(drafts, round_vectors(vectors), strict=True):
        draft.vector, draft.space = vector, embedder.space


_MOST = (VECTOR_STEPS - 1) / VECTOR_STEPS
_ROUNDING = 1.5 * 2**52 / VECTOR_STEPS


def round_vectors(vectors: Sequence[Vector]) -> list[Vector]:
    """Return vectors of one dimension in steps of 2^-15, which take half the room in a file (decision 0003). The
    rounding error of one value is added to the next, so that the length is preserved; a cosine moves by about 0.00001.
    """
    if not vectors:
        return []
    values = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.add.accumulate(np.abs(values), axis=1, out=sums[:, 1:])
    # Error diffusion: sums are rounded, so each rounding error moves into the next value. Beside a number of this size
    # the last bit of a double is one step.
    sums += _ROUNDING
    steps = (sums[:, 1:] - sums[:, :-1]).astype("<f4")
    np.minimum(steps, _MOST, out=steps)
    np.copysign(steps, values, out=steps)
    steps += 0.0  # for -0
    return [one.tobytes() for one in steps]
