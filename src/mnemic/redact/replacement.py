"""Finds of detectors in a text, and their replacement.

**Markers.** A find becomes `[EMAIL#3fa9c1d27b08]`: the entity, a pseudonym of 8 hex digits, and a check of 4. Both are
HMAC-SHA-256 under the tenant's secret, the pseudonym of the value itself (so that two people stay distinct, and one
person stays one), the check of entity and pseudonym. So a marker proves itself: a genuine one is left alone, which
makes redaction idempotent; a typed look-alike has no valid check and loses its brackets, `(EMAIL#...)`, so that no text
can be passed off as redacted. A bare `[EMAIL]` is not a marker and stays.

**Overlaps.** All detectors see the same text. Matches that overlap are replaced together, under the name of the
longest, so that no part of a number or address is left.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import NamedTuple

from mnemic.redact.normalised_text import decode_escapes, fold
from mnemic.redact.types import PLACEHOLDER, Action, Detector, InvalidRules, Redaction, Span, Unredactable

MARKER = re.compile(r"\[([A-Z][A-Z_]{1,19})#([0-9A-Za-z]{1,64})\]")
_PSEUDONYM_DIGITS, _CHECK_DIGITS = 8, 4
_MAX_PASSES = 5


_Find = tuple[int, int, str, str]
"""The fields of a span; a text may have a thousand spans, most of them found twice."""


class _Marked(NamedTuple):
    """A marker in the place of `length` characters of the original text; without an entity if the original contained
    it.
    """

    marker: str
    length: int
    entity: str
    value: str


class Finds:
    """Finds and replaces the kinds of `detectors`, with the `actions` of each entity."""

    def __init__(self, detectors: Sequence[Detector], actions: Mapping[str, Action]) -> None:
        self._detectors = tuple(detectors)
        self._actions = actions

    def check(self) -> None:
        """Raise InvalidRules (`redaction.entities`) for an entity that no detector finds."""
        known = {detector.entity for detector in self._detectors}
        if not self._actions.keys() <= known:
            raise InvalidRules("redaction.entities", hint="what is found here: " + ", ".join(sorted(known)))

    def redact(self, text: str, secret: bytes) -> Redaction:
        """Replace every find. Raises Unredactable (`redaction`)."""
        text = MARKER.sub(lambda match: _keep_match(match, secret), text.replace(PLACEHOLDER, "\ufffd"))
        markers = [_Marked(one := match.group(), len(one), "", "") for match in MARKER.finditer(text)]
        text = MARKER.sub(PLACEHOLDER, text)
        replaced: list[str] = []
        blocked: list[str] = []
        tokens: dict[str, str] = {}
        for _ in range(_MAX_PASSES):
            spans = self._finds(text)
            if not spans:
                whole, places = _compose(text, markers)
                return Redaction(
                    text=whole, replaced=tuple(replaced), blocked=tuple(blocked), tokens=tokens, spans=places
                )
            if not self._actions:
                replaced += [entity for _, _, entity, _ in spans]
            else:
                self._note(text, spans, secret, replaced, blocked, tokens)
            text, markers = _replace(text, markers, spans, secret)
        raise Unredactable("redaction", hint="the text cannot be redacted safely")

    def _note(
        self,
        text: str,
        spans: Sequence[_Find],
        secret: bytes,
        replaced: list[str],
        blocked: list[str],
        tokens: dict[str, str],
    ) -> None:
        """Record the policy's action on each find."""
        for start, end, entity, value in spans:
            action = self._action(entity)
            (blocked if action is Action.BLOCK else replaced).append(entity)
            if action is Action.TOKENISE:
                tokens.setdefault(marker(entity, value, secret), text[start:end])

    def find(self, text: str) -> list[Span]:
        """Return the replacements of one pass over `text`, in order and without overlaps."""
        return [Span(*find) for find in self._finds(text)]

    def _action(self, entity: str) -> Action:
        return self._actions.get(entity, Action.REDACT)

    def _finds(self, text: str) -> list[_Find]:
        """Return the spans to replace, in order and without overlaps."""
        found = self._find_all(text)
        unescaped = decode_escapes(text)
        if unescaped:
            # In addition to the original text: a password may contain characters that look like an escape.
            plain, offsets = unescaped
            inside = {(start, end) for start, end, _, _ in found}
            more = [
                (offsets[start], offsets[end], entity, value) for start, end, entity, value in self._find_all(plain)
            ]
            found += [find for find in more if find[:2] not in inside]
        spans = _merge_finds(found, text)
        return [span for span in spans if self._action(span[2]) is not Action.ALLOW] if self._actions else spans

    def _find_all(self, text: str) -> list[_Find]:
        """Return every find in `text`, in no order."""
        folded, offsets = fold(text)
        has_placeholder = PLACEHOLDER in folded
        found: list[_Find] = []
        for detector in self._detectors:
            entity = detector.entity
            for start, end, value in detector.find(folded):
                if start < end and not (has_placeholder and PLACEHOLDER in folded[start:end]):
                    found.append((start, end, entity, value))
        found = _outside_uuids(found, folded)
        if offsets:
            found = [(offsets[start], offsets[end], entity, value) for start, end, entity, value in found]
        return found


_UUID = re.compile(r"(?i)(?<![\w-])[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}(?![\w-])")
"""An identifier by RFC 9562."""
_NUMBERS = frozenset({"CARD", "IBAN", "IMEI", "NATIONAL_ID", "PHONE", "SSN"})


def _outside_uuids(found: list[_Find], text: str) -> list[_Find]:
    """Return the matches, without digits of an identifier that look like a number by chance."""
    if not any(entity in _NUMBERS for _, _, entity, _ in found):
        return found
    identifiers = [match.span() for match in _UUID.finditer(text)]
    return [
        one
        for one in found
        if one[2] not in _NUMBERS or not any(start <= one[0] and one[1] <= end for start, end in identifiers)
    ]


def marker(entity: str, value: str, secret: bytes) -> str:
    """Return the marker of `value`, which must be spelled the same wherever it means the same thing."""
    pseudonym = _hmac(secret, "pseudonym", entity, value)[:_PSEUDONYM_DIGITS]
    return f"[{entity}#{pseudonym}{_check(entity, pseudonym, secret)}]"


def _check(entity: str, pseudonym: str, secret: bytes) -> str:
    return _hmac(secret, "marker", entity, pseudonym)[:_CHECK_DIGITS]


def _hmac(secret: bytes, *parts: str) -> str:
    return hmac.digest(secret, "\x1f".join(parts).encode("utf-8", "surrogatepass"), "sha256").hex()


def _keep_match(match: re.Match[str], secret: bytes) -> str:
    entity, token = match.groups()
    pseudonym, check = token[:_PSEUDONYM_DIGITS], token[_PSEUDONYM_DIGITS:]
    genuine = len(check) == _CHECK_DIGITS and hmac.compare_digest(check, _check(entity, pseudonym, secret))
    return match.group() if genuine else f"({entity}#{token})"


def _merge_finds(found: list[_Find], text: str) -> list[_Find]:
    """Return the matches in order; those that overlap as one, under the name of the longest."""
    merged: list[_Find] = []
    longest = until = 0
    torn = False  # the last is several that overlap, spelled by the text once it is known how far they reach
    for find in sorted(found, key=_by_start):
        start, end, entity, _ = find
        if start >= until:
            if torn:
                merged[-1], torn = _spell_find(merged[-1], text), False
            merged.append(find)
            longest, until = end - start, end
            continue
        begun, _, name, _ = last = merged[-1]
        if find == (_spell_find(last, text) if torn and (start, end) == (begun, until) else last):
            continue
        if end - start > longest:
            name, longest = entity, end - start
        if end > until or name != last[2]:
            until = max(until, end)
            torn = (start, end) != (begun, until)
            merged[-1] = (begun, until, name, find[3])
    if torn:
        merged[-1] = _spell_find(merged[-1], text)
    return merged


def _spell_find(find: _Find, text: str) -> _Find:
    start, end, entity, _ = find
    return (start, end, entity, text[start:end])


_by_start = itemgetter(0)


def _replace(text: str, markers: Sequence[_Marked], spans: Sequence[_Find], secret: bytes) -> tuple[str, list[_Marked]]:
    """Replace each span by one placeholder, and insert its marker among the others in the order of the text."""
    pieces: list[str] = []
    ordered: list[_Marked] = []
    waiting = iter(markers)
    made: dict[tuple[str, str], str] = {}
    cursor = 0
    for start, end, entity, value in spans:
        piece = text[cursor:start]
        if markers:
            ordered += islice(waiting, piece.count(PLACEHOLDER))
        name = (entity, value)
        one = made.get(name)
        if one is None:
            one = made[name] = marker(*name, secret)
        ordered.append(_Marked(one, end - start, entity, value))
        pieces.append(piece)
        cursor = end
    return PLACEHOLDER.join([*pieces, text[cursor:]]), [*ordered, *waiting]


def _compose(text: str, markers: Sequence[_Marked]) -> tuple[str, tuple[Span, ...]]:
    """Return the text with its markers, and the place in the original text of each new one."""
    pieces = text.split(PLACEHOLDER)
    whole = [""] * (2 * len(pieces) - 1)
    whole[::2] = pieces
    whole[1::2] = [one.marker for one in markers]
    places: list[Span] = []
    at = 0
    for piece, one in zip(pieces, markers, strict=False):
        at += len(piece)
        if one.entity:
            places.append(Span(at, at + one.length, one.entity, one.value))
        at += one.length
    return "".join(whole), tuple(places)
