"""Operations that a model proposes, each read as the user's words and the model's labels on them.

`add` adds a statement, `update` replaces a known memory, `end` closes one that is no longer true. The quote is the
memory: words that stand in the message are kept as the user's own, whatever the model makes of them. Key, value,
category, subject and time are labels: one that does not follow from the words is dropped, and the words stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidCandidates, InvalidInput, KeyNotAllowed, RunStopped
from mnemic.extract import name_parts
from mnemic.extract.grounding import NormalisedText, ground, same_word
from mnemic.extract.message_context import MessageContext, known_key
from mnemic.extract.typed_facts import says_more
from mnemic.extract.vetting import follows, read_values, refusal, said_until
from mnemic.language.comparison import Known, are_in_english, bears, names_it
from mnemic.language.sentences.classify.classifier import weights
from mnemic.language.sentences.clauses import clause_around
from mnemic.language.sentences.extraction_filter import has_nothing_to_keep
from mnemic.language.text.analyse import terms
from mnemic.language.text.pattern import Pattern
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import (
    CAPTURE_CATEGORIES,
    DEFAULT_CONFIDENCE,
    LONGEST_MODEL_TTL,
    check_candidate,
    check_candidates,
)
from mnemic.policy.statement_dates import timed
from mnemic.reason_codes import (
    HYPOTHETICAL,
    NEGATED,
    NOT_DURABLE,
    PAST,
    THIRD_PARTY,
    TRANSIENT,
    UNKNOWN_MEMORY,
    UNSUPPORTED,
)
from mnemic.types import BETWEEN_PEOPLE, Candidate, Level, Memory, Message, Origin, Skipped, Source, Trust, lower_origin
from mnemic.types.memory_kinds import TRUST
from mnemic.types.values import canonical_key

INSTRUCTION = "instruction"
FEW_WORDS = 5
"""Number of words up to which a statement is found only next to another."""
MAX_BESIDE = 400
MAX_HINT = 200
LASTING_FROM = 0.5
"""Probability from which the classifier takes a sentence for a permanent instruction, if the model does not say whose
it is.
"""
ASKED = "asked"
_OPERATIONS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(("update", "modify", "change", "replace", "supersede", "edit"), "update")
    | dict.fromkeys(("end", "delete", "remove", "close", "forget", "expire", "invalidate"), "end")
    | dict.fromkeys(("none", "noop", "no_op", "skip", "ignore", "keep", "null"), "none")
)
"""The operations by the words of models; every other word adds, as the words are the user's in any case."""
_ME = frozenset({"me", "i", "myself", "self", "user", "the user", "speaker", "we", "us"})
_DOUBTS: Mapping[str, str] = MappingProxyType(
    {"was": PAST, "wished": HYPOTHETICAL, "denied": NEGATED, ASKED: TRANSIENT}
)
"""The reasons for which words hold no value now, by what a model says of them."""
_NUMBER = Pattern(r"\d{1,6}(?:\.\d{1,6})?")

CONFIDENCE_CEILING: Mapping[Trust, float] = MappingProxyType({Trust.HIGH: 0.95, Trust.MEDIUM: 0.8, Trust.LOW: 0.5})
"""Upper bound of a model's own number, by the trust of the message's channel: a model that returns 1.0 has still read
only one message. A cut is named in `Candidate.clamped`.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalContext:
    """Context in which a proposal is read."""

    message: Message
    around: MessageContext
    policy: Policy
    budget: Budget
    categories: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labels:
    """The labels in an item of a model's answer, in the forms that are used here; None for one that is not given."""

    operation: str
    target: object = None
    quote: str | None = None
    subject: str | None = None
    holds: str | None = None
    key: str | None = None
    value: str = ""
    category: str | None = None
    level: str = Level.USER
    ttl: timedelta | None = None
    confidence: float = DEFAULT_CONFIDENCE

    @property
    def is_told_of_user_now(self) -> bool | None:
        """True if the model says that it is about the user, and so at present; None if it says neither."""
        if self.subject is None and self.holds is None:
            return None
        return self.doubt is None

    @property
    def doubt(self) -> str | None:
        """The reason for which the value is none of the user's at present, as the model says, or None."""
        if self.holds is not None and self.holds in _DOUBTS:
            return _DOUBTS[self.holds]
        return None if self.subject is None or self.subject in _ME else THIRD_PARTY


def parse_item(item: object, reading: ProposalContext) -> list[Candidate | Skipped]:
    """Return the candidates of one item of a model's answer, and the reasons for what is left out of it; nothing for
    `none`.

    Raises InvalidCandidates, KeyNotAllowed and ScopeNotAllowed for an item outside the contract or the policy, if the
    policy stops at it; otherwise only what is wrong is left out.
    """
    if not isinstance(item, Mapping):
        if reading.policy.on_violation == "stop":
            raise InvalidCandidates("item")
        return [Skipped(reason=InvalidCandidates("item").reason)]
    labels = _labels_of(item, reading)
    if labels.operation == "none":
        return []
    if reading.policy.on_violation == "stop" and labels.operation != "end":
        checked = check_candidates({"items": [_numbers_read(item)]}, reading.policy, reading.budget)
        labels = replace(labels, ttl=checked.candidates[0].ttl, confidence=checked.candidates[0].confidence)
    message, made = reading.message, list[Candidate | Skipped]()
    target = None if labels.operation == "add" else reading.around.memory(labels.target)
    if labels.operation != "add" and target is None:
        made.append(Skipped(reason=UNKNOWN_MEMORY, key=labels.key))
    span = _span_of(labels, message)
    if span is None:
        return [*made, Skipped(reason=UNSUPPORTED, key=labels.key)]
    is_order = labels.category == INSTRUCTION
    own = name_parts(message.speaker)
    reason = refusal(message.content, span, may_ask=is_order or target is not None, own=own)
    # A request for now: the model itself says that nothing is stated.
    if reason is None and target is None and not is_order:
        reason = TRANSIENT if labels.holds == ASKED else None
        # Of a model that says neither whose it is nor whether it holds, the words have to look like a statement.
        clause = message.content[slice(*clause_around(message.content, *span))]
        if labels.is_told_of_user_now is None and has_nothing_to_keep(clause):
            reason = NOT_DURABLE
    if reason is not None:
        return [*made, Skipped(reason=reason, key=labels.key, span=span)]
    return [*made, *_read(labels, span, target, reading)]


def _read(
    labels: _Labels, span: tuple[int, int], target: Memory | None, reading: ProposalContext
) -> list[Candidate | Skipped]:
    """Return the user's words at `span` as a statement, the value that they give to a key, or both."""
    value = _value(labels, span, target, reading)
    if not reading.policy.allows_keyless:
        return [value or Skipped(reason=labels.doubt or UNSUPPORTED, key=labels.key, span=span)]
    statement = _statement(labels, span, target, reading)
    if isinstance(value, Candidate):
        value = replace(value, context=statement.content)
        is_users = value.source.origin == reading.message.origin
        if is_users and not says_more(statement.content, [value.content, str(value.key).replace("_", " ")]):
            return [value]
        return [value, statement]
    return [statement] if value is None else [value, statement]


def _statement(labels: _Labels, span: tuple[int, int], target: Memory | None, reading: ProposalContext) -> Candidate:
    """Return the clauses around `span` as the user's own words."""
    text = reading.message.content
    start, end = clause_around(text, *span)
    end = start + said_until(text[start:end], span[1] - start)
    words = text[start:end].strip(" ,;:-–—\n")
    content = words[:1].upper() + words[1:]
    made = _candidate(labels, content, None, (start, end), reading)
    if target is None:
        return replace(made, context=_hint(labels))
    # Whether the words bear the operation out is decided where all that a proposer says of known memories is.
    ends = labels.operation == "end"
    named = names_it(Known(target.content, target.key), content)
    # In another language the model may well give the value in English.
    compared = are_in_english(target.content, content)
    if not ends and not named and compared and not _says_new_value(labels, target, content):
        return replace(made, context=_hint(labels))
    # A few words are found by what they change: "Down to Sundays!".
    known = target.content[:MAX_BESIDE] if (named or not ends) and len(content.split()) <= FEW_WORDS else ""
    context = "\n".join(filter(None, (known, _hint(labels))))
    return replace(made, replaces=(target.memory_id,), ends=ends, context=context)


def _says_new_value(labels: _Labels, target: Memory, words: str) -> bool:
    """Return True if an update's words say part of what it makes of the memory and the memory does not say: a value
    that the model found elsewhere ends nothing.
    """
    known, said = terms(target.content), terms(words)
    new = [one for one in terms(labels.value) if not any(same_word(one, other) for other in known)]
    return any(same_word(one, other) for one in new for other in said)


def _value(
    labels: _Labels, span: tuple[int, int], target: Memory | None, reading: ProposalContext
) -> Candidate | Skipped | None:
    """Return the value that the words give to a key; None if they give none that can be relied on, the reason for a
    value outside the policy.

    Under an open policy a name that the model has found for a fact is a label and no key: it would replace other facts
    that happen to get the same name.
    """
    policy, text = reading.policy, reading.message.content
    around = clause_around(text, *span)
    quote, known = text[slice(*around)], None if target is None else target.key
    if labels.operation == "end":
        if target is None or policy.allows_keyless:
            return None
        key, value, own = known, quote.strip(), True
    else:
        key, value = known or _meant(labels.key, reading), labels.value
        if key is not None and policy.closed and not policy.allows(key):
            return Skipped(reason=KeyNotAllowed(key).reason, key=key, span=span)
        # The words have to be about the known memory, or they are no new value of its.
        own = known is not None and target is not None and bears(Known(target.content, known), quote)
        declared = own or policy.closed or key in (policy.keys or ())
        if key is None or not declared or not _is_sound(labels, key, quote, policy):
            return None
        own = own or (key, value.casefold()) in read_values(quote, policy)
    made = _candidate(labels, value, key, around, reading)
    if target is not None:
        made = replace(made, replaces=(target.memory_id,))
    if not own:
        inferred = lower_origin(made.source.origin, Origin.AGENT_INFERRED)
        made = replace(made, source=replace(made.source, origin=inferred))
    try:
        return check_candidate(made, policy, reading.budget)
    except RunStopped as breach:
        if policy.on_violation == "stop" and labels.operation != "end":
            raise
        return Skipped(reason=breach.reason, key=key, span=span)


def _is_sound(labels: _Labels, key: str, quote: str, policy: Policy) -> bool:
    """Return True if a value follows from the quoted words, the model calls it the user's own at present, and the
    tables do not give it another key. A closed policy names its keys, so its answers may say less.
    """
    if labels.doubt is not None or (labels.is_told_of_user_now is None and not policy.closed):
        return False
    read = {(other, value) for other, value in read_values(quote, policy) if other is None or policy.allows(other)}
    under_another = (key, labels.value.casefold()) not in read and labels.value.casefold() in {one for _, one in read}
    return not under_another and follows(labels.value, key, quote, policy)


def _candidate(
    labels: _Labels, content: str, key: str | None, span: tuple[int, int], reading: ProposalContext
) -> Candidate:
    """Return a candidate in the message's own channel, with the labels that need no check."""
    message = reading.message
    quote = message.content[slice(*span)]
    ceiling = CONFIDENCE_CEILING[TRUST[message.origin]]
    category = labels.category
    if category == INSTRUCTION and not (labels.is_told_of_user_now or _is_lasting_instruction(quote)):
        category = None
    candidate = Candidate(
        content=content,
        key=key,
        level=labels.level,
        category=category,
        ttl=labels.ttl,
        confidence=min(labels.confidence, ceiling),
        clamped=("confidence",) if labels.confidence > ceiling else (),
        data={BETWEEN_PEOPLE: True} if reading.around.between_people else {},
        source=source_of(message, quote=quote, span=span),
        occurred_at=message.sent_at,
    )
    return timed(candidate, quote, message.sent_at)


def _hint(labels: _Labels) -> str:
    """Return what the model says about the words, which helps to find them and is never shown: whom they are about, and
    what they say in other words.
    """
    if labels.is_told_of_user_now is None:
        return ""
    about = None if labels.subject in _ME else labels.subject
    key = None if labels.key is None else labels.key.replace("_", " ")
    return ": ".join(filter(None, (about, key, labels.value)))[:MAX_HINT]


def _span_of(labels: _Labels, message: Message) -> tuple[int, int] | None:
    """Return the place of the quoted words in the message, or of all words of the value; None if it has neither."""
    text = NormalisedText(message.content)
    parts = [part for part in (labels.quote or "").replace("…", "...").split("...") if part.strip()]
    quoted = labels.quote if len(parts) < 2 else message.content
    if len(parts) > 1:
        # An ellipsis stands for words of the message between two quoted parts.
        found = [text.find(part) for part in parts]
        if all(found) and found == sorted(one for one in found if one):
            first, last = found[0], found[-1]
            assert first is not None
            assert last is not None
            return first[0], last[1]
        quoted = None
    value = labels.value or labels.quote or ""
    if not value.strip():
        return None
    grounded = ground(Candidate(content=value, source=Source(quote=quoted)), message)
    return None if grounded is None else grounded.source.span


def _labels_of(item: Mapping[str, Any], reading: ProposalContext) -> _Labels:
    """Return the labels of an item; a label that cannot be read is left out, not the item."""
    operation = _word(item.get("op")) or "add"
    value, level = item.get("value"), _word(item.get("scope"))
    if isinstance(value, list | tuple):
        value = ", ".join(str(one) for one in value if isinstance(one, str | int | float))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    category = _word(item.get("category"))
    known = reading.categories or CAPTURE_CATEGORIES
    confidence = _number(item.get("confidence"))
    return _Labels(
        operation=_OPERATIONS.get(operation, "add"),
        target=item.get("id"),
        quote=_text(item.get("quote")),
        subject=_word(item.get("subject")),
        holds=_word(item.get("holds")),
        key=_nameable(item.get("key")),
        value=_text(value) or "",
        category=category if category in known else None,
        level=level if level in reading.policy.levels else Level.USER,
        ttl=_days(item.get("ttl_days")),
        confidence=DEFAULT_CONFIDENCE if confidence is None or not 0 <= confidence <= 1 else confidence,
    )


def _numbers_read(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an item with its numbers as numbers: small models write them as text."""
    fields = dict(item)
    for name in ("ttl_days", "confidence"):
        given = fields.get(name)
        if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
            fields[name] = float(given)
    return fields


def _text(given: object) -> str | None:
    if not isinstance(given, str) or any("\ud800" <= one <= "\udfff" for one in given):
        return None
    return given.strip() or None


def _word(given: object) -> str | None:
    text = _text(given)
    return None if text is None else text.casefold()


def _number(given: object) -> float | None:
    """Return a number, also one that begins a text ("30 days")."""
    if isinstance(given, str):
        found = _NUMBER.match(given.strip())
        return None if found is None else float(found[0])
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given:
        return None
    return float(given)


def _days(given: object) -> timedelta | None:
    """Return a lifetime; None for one that would end at once, which is no wish but a gap that was filled."""
    days = _number(given)
    return None if days is None or days <= 0 else min(LONGEST_MODEL_TTL, timedelta(days=min(days, 36_500)))


def _meant(key: str | None, reading: ProposalContext) -> str | None:
    return None if key is None else known_key(key, reading.around, reading.policy)


def _is_lasting_instruction(text: str) -> bool:
    return weights().opinions([text])[0].share(INSTRUCTION) >= LASTING_FROM


def _nameable(key: object) -> str | None:
    try:
        named = canonical_key(key) if isinstance(key, str) else None
    except InvalidInput:
        return None
    return None if named in ("null", "none") else named


def source_of(message: Message, *, quote: str | None = None, span: tuple[int, int] | None = None) -> Source:
    """Return the source of a candidate of `message`."""
    return Source(
        origin=message.origin,
        ref=message.message_id,
        session=message.session,
        speaker=message.speaker,
        quote=quote,
        span=span,
    )


__all__: Sequence[str] = ("CONFIDENCE_CEILING", "ProposalContext", "parse_item", "source_of")
