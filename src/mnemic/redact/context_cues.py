"""Evidence in the words around a number: for a telephone number, or for another kind of number."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

from mnemic.redact.languages import ANNOUNCED_AFTER, CALLS, OTHER_NUMBERS, TELEPHONES
from mnemic.redact.search_primitives import AnyCase, Folded, holds

TELEPHONY = (
    "phone", "cell", "mobile", "tel", "whatsapp", "fax", "sms", "dial", "call", "text", "ring", "reach", "landline",
    "hotline", "voicemail", "desk", "handy", "mobil", "telefon", "ph",
)  # fmt: skip
"""Words for a telephone, and for calling somebody."""
_NEAR = AnyCase(
    rf"(?<![^\W_])(?:(?:tele)?(?:{'|'.join(TELEPHONY)})|answer(?:s|ing|ed)?|messages?|contact(?:ed|ing)?|registered"
    r"|(?:my|his|her|their|your|our|the|this|new|home|work|office|emergency|direct|business|personal|contact|private)"
    r" (?:number|line|no\.?)|numbers?)(?![^\W\d_])"
)
_NEAR_SIGNS = (*TELEPHONY, "answer", "messag", "contact", "regist", "number", " line", " no")
"""Substrings of which every match of `_NEAR` contains one."""
_OTHER = AnyCase(
    r"(?:order|invoice|account|card|ticket|tracking|case|reference|confirmation|booking|policy|licen[cs]e|passport"
    r"|room|flight|model|part|item|id|student|member|membership|tax|routing|registration|employee|customer|build|batch"
    r"|lot|claim|patent|security)[ #\-](?:number|no\.?|nr|#)|serial|isbn|version|build|barcode|article|code|key"
)
_CALLED = AnyCase(
    r"(?<![^\W_])(?:tele|cell|mobile ?)?(?:phone|call|dial|reach|ring|whatsapp|sms|fax|mobile|cell|telefon|handy)"
    r"(?:s|ed|ing)?(?![^\W\d_])"
    r"|(?<![^\W_])(?:contact|(?:my|his|her|their|your|our)(?: new| old)? number)(?![^\W\d_])"
)
_ANNOUNCED_AFTER = Folded(
    r"(?i)\.?,? (?:is|was) (?:my|his|her|their|your|our|the)(?: [^\W\d_]{3,12}){0,2}"
    r" (?:number|phone|cell|mobile|fax|line)(?![^\W\d_])"
    # Types of a telephone on a card (RFC 6350, 6.4.1): "555 0123-Fax", "555 0123 (home)".
    r"|(?i: ?- ?| \()(?:home|work|office|direct|text|voice|fax|cell(?:ular)?|mobile|video|pager|tel(?:ephone)?|phone)"
    r"(?![^\W_])"
)
_AFTER_SIGNS = (
    "number", "phone", "cell", "mobile", "fax", "line", "home", "work", "office", "direct", "text", "voice", "video",
    "pager", "tel",
)  # fmt: skip
"""Substrings of which every match of `_ANNOUNCED_AFTER` contains one."""
_OTHER_SIGNS = (
    "number", "no.", "nr", "#", "serial", "isbn", "version", "build", "barcode", "article", "code", "key"
)  # fmt: skip
"""Substrings of which every match of `_OTHER` contains one."""
_ABROAD = AnyCase(f"(?P<telephone>{TELEPHONES.expression}|{CALLS.expression})|(?P<other>{OTHER_NUMBERS.expression})")
_AFTER_ABROAD = AnyCase(f"[ ,]{{0,2}}{ANNOUNCED_AFTER.expression}")
_WITHIN = 48


@lru_cache(maxsize=2)
def calls_abroad(text: str) -> bool:
    """Return True if a word for telephones or for calling may be in `text`, in another language than English."""
    return TELEPHONES.may_be_in(text) or CALLS.may_be_in(text)


class Before:
    """Check whether a word matched by `words` is shortly before a number; called for numbers from left to right.

    A part that was searched is not searched again: a word that labels a number contains no digits, so a match cannot
    cross the start of a number.
    """

    def __init__(self, words: AnyCase, text: str, needs: tuple[str, ...]) -> None:
        self._words, self._text, self._needs = words, text, needs
        self._last = -1
        self._seen = 0

    @cached_property
    def ever(self) -> bool:
        """True if the text contains any of the words."""
        return holds(self._text, self._needs)

    @cached_property
    def _looked_for(self) -> tuple[re.Pattern[str], str]:
        return self._words.on(self._text)

    def __call__(self, start: int) -> bool:
        """Of the number that begins at `start`."""
        if not self.ever:
            return False
        nearest = max(0, start - _WITHIN)
        if self._last < nearest:
            words, text = self._looked_for
            for match in words.finditer(text, max(nearest, self._seen), start):
                self._last = match.start()
            self._seen = start
        return self._last >= nearest


class _Abroad:
    """The same in languages other than English; if a word for another kind of number follows it, that word counts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._last = -1
        self._seen = 0

    @cached_property
    def ever(self) -> bool:
        return calls_abroad(self._text)

    @cached_property
    def _looked_for(self) -> tuple[re.Pattern[str], str]:
        return _ABROAD.on(self._text)

    def __call__(self, start: int) -> bool:
        if not self.ever:
            return False
        nearest = max(0, start - _WITHIN)
        words, text = self._looked_for
        for match in words.finditer(text, max(nearest, self._seen), start):
            self._last = match.start() if match.lastgroup == "telephone" else -1
        self._seen = start
        return self._last >= nearest


class Telephone:
    """Check whether words shortly before a number mark it as a telephone's; called for numbers from left to right."""

    def __init__(self, english: Before, text: str) -> None:
        self._english = english
        self._abroad = _Abroad(text)

    @cached_property
    def ever(self) -> bool:
        """True if the text contains any such word."""
        return self._english.ever or self._abroad.ever

    def __call__(self, start: int) -> bool:
        """Of the number that begins at `start`."""
        return self._english(start) or self._abroad(start)


def telephony_near(text: str) -> Telephone:
    """For a number that is grouped or has a country code: "numbers" and "my office line" suffice."""
    return Telephone(Before(_NEAR, text, _NEAR_SIGNS), text)


def telephony_calling(text: str) -> Telephone:
    """For digits in one piece, which may be anything."""
    return Telephone(Before(_CALLED, text, (*TELEPHONY, "contact", "number")), text)


def another(text: str) -> Before:
    """Return a check whether words shortly before a number mark it as that of an order, a version, a key."""
    return Before(_OTHER, text, _OTHER_SIGNS)


class After:
    """Check whether the words after a place of `text` mark the number before it as a telephone's."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def ever(self) -> bool:
        """True if the text contains any of those words."""
        return self._english or self._abroad

    @cached_property
    def _english(self) -> bool:
        return holds(self._text, _AFTER_SIGNS)

    @cached_property
    def _abroad(self) -> bool:
        return ANNOUNCED_AFTER.may_be_in(self._text)

    def __call__(self, end: int) -> bool:
        """Of the number that ends at `end`."""
        return (self._english and _ANNOUNCED_AFTER.compiled.match(self._text, end) is not None) or (
            self._abroad and self._says_abroad(end)
        )

    def _says_abroad(self, end: int) -> bool:
        words, text = _AFTER_ABROAD.on(self._text)
        return words.match(text, end) is not None
