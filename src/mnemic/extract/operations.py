"""Operations that a model proposes, each checked against the words of the message.

`add` adds a statement, `update` replaces a known memory, `end` closes one that is no longer true. The origin of a
proposal is `agent_inferred`, unless its content is the user's own sentence or the tables read the same key and value in
it: then it has the message's own origin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidCandidates, InvalidInput, RunStopped, ScopeNotAllowed
from mnemic.extract.grounding import NormalisedText, ground
from mnemic.extract.message_context import MessageContext, known_key
from mnemic.extract.statement_dates import timed
from mnemic.extract.typed_facts import TABLE_KEYS, typed_facts
from mnemic.extract.vetting import follows, said_until, veto
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import check_candidate, check_candidates
from mnemic.reason_codes import UNKNOWN_MEMORY, UNKNOWN_OPERATION, UNSUPPORTED
from mnemic.types import Candidate, Level, Memory, Message, Origin, Skipped, Source, Trust, lowered
from mnemic.types.memory_kinds import TRUST
from mnemic.types.values import canonical_key
from mnemic_language.changes.change_classifier import bears, frame_of, framed
from mnemic_language.changes.statement_parts import separate
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.frames.vocabulary import plain
from mnemic_language.sentences.classify.classifier import weights
from mnemic_language.sentences.clauses import clause_around, clauses, sentences
from mnemic_language.text.pattern import Pattern

INSTRUCTION = "instruction"
FEW_STEMS = 2
"""Number of content words below which a statement is understood only next to another."""
MAX_BESIDE = 400
_NUMBER = Pattern(r"\d{1,6}(?:\.\d{1,6})?")
LASTING_FROM = 0.5
"""Probability from which the classifier makes a sentence a permanent instruction, overriding the model."""

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


def proposed(item: object, reading: ProposalContext) -> Candidate | Skipped | None:
    """Return the candidate of one item of a model's answer, the reason to omit it, or None for `none`.

    A malformed item is left out alone. Raises KeyNotAllowed and ScopeNotAllowed for items that the policy excludes, if
    it stops at a breach.
    """
    fields = _as_meant(item) if isinstance(item, Mapping) else {}
    operation = fields.get("op", "add")
    if operation == "none":
        return None
    if operation not in ("add", "update", "end"):
        return Skipped(reason=UNKNOWN_OPERATION)
    target = None if operation == "add" else reading.around.memory(fields.get("id"))
    if operation != "add" and target is None:
        return Skipped(reason=UNKNOWN_MEMORY, key=_nameable(fields.get("key")))
    if operation == "end":
        return _ending(fields.get("quote"), target, reading)
    if "key" in fields:
        fields["key"] = _meant(fields["key"], target, reading)
    candidate = _checked(fields if isinstance(item, Mapping) else item, reading)
    if isinstance(candidate, Skipped):
        return candidate
    if fields.get("category") in reading.categories:
        candidate = replace(candidate, category=fields["category"])
    return _supported(candidate, target, reading)


def _as_meant(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an item; small models write operations in capitals, and numbers as text."""
    fields = dict(item)
    if isinstance(fields.get("op"), str):
        fields["op"] = fields["op"].strip().lower()
    for name in ("ttl_days", "confidence"):
        given = fields.get(name)
        if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
            fields[name] = float(given)
    return fields


def _checked(item: object, reading: ProposalContext) -> Candidate | Skipped:
    """Return an item as a candidate, or the reason to omit it. Raises RunStopped for a breach if policy stops at it."""
    key = _nameable(item.get("key")) if isinstance(item, Mapping) else None
    try:
        # One item at a time: a malformed one must not lose the others.
        checked = check_candidates({"items": [item]}, reading.policy, reading.budget)
    except InvalidCandidates as malformed:
        return Skipped(reason=malformed.reason, key=key)
    except ScopeNotAllowed as breach:
        # No policy can have excluded a scope that does not exist.
        if isinstance(item, Mapping) and _nameable(item.get("scope")) in frozenset(Level):
            raise
        return Skipped(reason=breach.reason, key=key)
    return checked.candidates[0] if checked.candidates else checked.skipped[0]


def _meant(key: object, target: Memory | None, reading: ProposalContext) -> object:
    """Return the key of an item: that of the memory it updates, or the known one that the model's refers to."""
    if key is None or not isinstance(key, str):
        return key
    if target is not None and target.key is not None:
        return target.key
    try:
        return known_key(canonical_key(key), reading.around, reading.policy)
    except InvalidInput:
        return key


def _supported(candidate: Candidate, target: Memory | None, reading: ProposalContext) -> Candidate | Skipped:
    message = reading.message
    grounded = ground(_from_channel(candidate, message), message)
    if grounded is None or not follows(grounded, reading.policy):
        return Skipped(reason=UNSUPPORTED, key=candidate.key)
    if candidate.key is None:
        grounded = _in_own_words(grounded, message)
    else:
        grounded = _under_right_key(grounded, reading.policy)
    if target is not None:
        grounded = replace(grounded, replaces=(target.memory_id,), context=_nearby_statement(grounded, target, message))
    reason = veto(grounded, message, reading.policy)
    if reason is not None:
        return Skipped(reason=reason, key=candidate.key, span=grounded.source.span)
    trusted = _trusted(grounded, reading)
    if target is not None and target.trust > TRUST[trusted.source.origin] and reading.policy.allows_keyless:
        # A reading of the model's replaces no words of the user, but the user's own words may.
        trusted = _trusted(_in_own_words(replace(grounded, key=None), message), reading)
    return trusted


def _nearby_statement(candidate: Candidate, target: Memory, message: Message) -> str:
    """Return the words that name the changed part of a known memory, if the stored ones do not: the user's other
    sentences ("Don't send it to Alder Close. We're at 3 Wharf Lane now"), or the memory itself for a few words ("Down
    to five!").
    """
    known, span = frame_of(target), candidate.source.span
    if candidate.context or span is None or bears(known, framed(candidate.content), 0.0):
        return candidate.context
    beside = [message.content[a:b] for a, b in sentences(message.content) if b <= span[0] or a >= span[1]]
    statement = next((one for one in beside if bears(known, framed(one), 0.0)), None)
    new = framed(candidate.source.quote or candidate.content)
    if statement is None and len(new.stems) <= FEW_STEMS and not _is_about_something_else(target.content, new):
        statement = target.content
    return (statement or "")[:MAX_BESIDE]


def _is_about_something_else(known: str, new: Frame) -> bool:
    """Return True if a few words have a subject, and begin unlike anything in `known`: "I quit Netflix" changes nothing
    of "I'm allergic to nuts", against any model, and "I'm on tablets now" may.
    """
    return bool(new.subject) and _opening(new.text) not in map(_opening, (known, *separate(known)))


def _opening(text: str) -> list[str]:
    """Return the subject and the verb that a sentence begins with, at least in form."""
    words = plain(text).split()
    return words[: 1 if words and "'" in words[0] else 2]


def _ending(quote: object, target: Memory | None, reading: ProposalContext) -> Candidate | Skipped:
    """Return the user's own words for the end of a known memory."""
    assert target is not None
    message = reading.message
    words = quote.strip() if isinstance(quote, str) else ""
    span = NormalisedText(message.content).find(words) if words else None
    if span is None:
        return Skipped(reason=UNSUPPORTED, key=target.key)
    key = None if reading.policy.allows_keyless else target.key
    start, end = clause_around(message.content, *span)
    said = message.content[start:end].strip()
    ending = Candidate(content=said, key=key, category="fact", source=Source(quote=said))
    try:
        checked = check_candidate(ending, reading.policy, reading.budget)
    except RunStopped as breach:
        return Skipped(reason=breach.reason, key=key)
    return _supported(checked, target, reading)


def _under_right_key(candidate: Candidate, policy: Policy) -> Candidate:
    """Return the candidate under the key that the tables give its value, if it is a key of theirs that was given."""
    if candidate.key not in TABLE_KEYS:
        return candidate
    read = [
        (key, value)
        for one in clauses(candidate.source.quote or "")
        for _, key, value in typed_facts(one.text, True, policy)
    ]
    right = {key for key, value in read if value.casefold() == candidate.content.casefold()}
    # `min` reads the only element, which `pop` takes once the policy allows it.
    return replace(candidate, key=right.pop()) if len(right) == 1 and policy.allows(min(right)) else candidate


def _from_channel(candidate: Candidate, message: Message) -> Candidate:
    """Return the candidate with the origin and confidence of the message's channel, overriding the model's claims."""
    ceiling = CONFIDENCE_CEILING[TRUST[message.origin]]
    too_sure = candidate.confidence > ceiling
    lowered = replace(
        candidate,
        confidence=min(candidate.confidence, ceiling),
        clamped=tuple(dict.fromkeys((*candidate.clamped, *(("confidence",) if too_sure else ())))),
        source=source_of(message, quote=candidate.source.quote),
        occurred_at=message.sent_at,
    )
    return timed(lowered, candidate.source.quote or "", message.sent_at)


def _in_own_words(candidate: Candidate, message: Message) -> Candidate:
    """Return a statement in the user's words: the clauses that its quote overlaps."""
    span = candidate.source.span
    assert span is not None
    start, end = clause_around(message.content, *span)
    end = start + said_until(message.content[start:end], span[1] - start)
    words = message.content[start:end].strip(" ,;:-–—\n")
    if not words:
        return candidate
    source = replace(candidate.source, quote=message.content[start:end], span=(start, end))
    return replace(candidate, content=words[0].upper() + words[1:], source=source)


def _trusted(candidate: Candidate, reading: ProposalContext) -> Candidate:
    """Return the candidate with its proper origin."""
    if _is_users_reading(candidate, reading.policy):
        return candidate
    inferred = lowered(candidate.source.origin, Origin.AGENT_INFERRED)
    return replace(candidate, source=replace(candidate.source, origin=inferred))


def _is_users_reading(candidate: Candidate, policy: Policy) -> bool:
    """Return True if the content is the user's own sentence, or the value that the tables read in it under the same
    key.
    """
    quote = candidate.source.quote or ""
    if candidate.key is None:
        whole = NormalisedText(quote).text.strip(" .,;:!") == NormalisedText(candidate.content).text.strip(" .,;:!")
        return whole and (candidate.category != INSTRUCTION or _is_lasting_instruction(quote))
    read = [(key, value) for one in clauses(quote) for _, key, value in typed_facts(one.text, True, policy)]
    return any(key == candidate.key and value.casefold() == candidate.content.casefold() for key, value in read)


def _is_lasting_instruction(text: str) -> bool:
    return weights().opinions([text])[0].share(INSTRUCTION) >= LASTING_FROM


def _nameable(key: object) -> str | None:
    try:
        return canonical_key(key) if isinstance(key, str) else None
    except InvalidInput:
        return None


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


__all__: Sequence[str] = ("CONFIDENCE_CEILING", "ProposalContext", "proposed", "source_of")
