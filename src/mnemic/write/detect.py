"""What may not be stored as it stands: detectors of personal data and secrets, as one table.

Every search is linear in the text: quantifiers are bounded, or possessive. What a pattern finds is validated where a
rule exists: Luhn for cards (ISO/IEC 7812-1), mod 97 for IBANs (ISO 13616), area rules for US social security numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate

from mnemic.types import Detector, Found
from mnemic.write.credentials import secrets
from mnemic.write.iban import ibans
from mnemic.write.network import imeis, ips, macs
from mnemic.write.patterns import Finder, digits, holds, is_numbered, numbered, pattern, spelled
from mnemic.write.phones import Phones

# -- e-mail ----------------------------------------------------------------------------------------

_LOCAL_MARKS = frozenset("._%+-'’&")
_LOCAL_CHARS = 64
_DOMAIN = re.compile(r"@(?:[^\W_](?:[^\W_]|-){0,62}\.){1,8}(?:xn--[A-Za-z0-9\-]{1,59}|[^\W\d_]{2,24})")
_HIDDEN = re.compile(
    r"(?i) ?[(\[{<] ?at ?[)\]}>] ?(?P<host>[^\W_](?:[^\W_]|-){0,62}"
    r"(?: ?(?:\.|[(\[{<] ?(?:dot|\.) ?[)\]}>]) ?[^\W_](?:[^\W_]|-){0,62}){1,4})"
)
_OPENING = tuple(f"{bracket}{gap}at" for bracket in "([{<" for gap in ("", " "))
_HIDDEN_DOT = re.compile(r"(?i) ?(?:\.|[(\[{<] ?(?:dot|\.) ?[)\]}>]) ?")


def emails(text: str) -> Iterator[Found]:
    """Addresses, found from their @ outwards: each character is looked at once from either side."""
    for match in _DOMAIN.finditer(text):
        at, end = match.span()
        start = _local_start(text, at)
        if start < at:
            yield Found(start, end, text[start:end].casefold())


def hidden_emails(text: str) -> Iterator[Found]:
    """Addresses written "jane (at) acme (dot) com"."""
    if not holds(text, _OPENING):
        return
    for match in _HIDDEN.finditer(text):
        start = _local_start(text, match.start())
        if start < match.start():
            plain = _HIDDEN_DOT.sub(".", match.group("host"))
            yield Found(start, match.end(), f"{text[start : match.start()]}@{plain}".casefold())


def _local_start(text: str, at: int) -> int:
    if at and text[at - 1] == '"':
        opening = text.rfind('"', max(0, at - _LOCAL_CHARS), at - 1)
        return opening if opening != -1 else at
    start, floor = at, max(0, at - _LOCAL_CHARS)
    while start > floor and (text[start - 1].isalnum() or text[start - 1] in _LOCAL_MARKS):
        start -= 1
    while start < at and text[start] in ".-'’&":
        start += 1
    return start


# -- US social security number: areas 000, 666 and 900 to 999, group 00 and serial 0000 are not issued

_SSN = r"(?!000|666|9)\d{3}%s(?!00)\d\d%s(?!0000)\d{4}"
_ssns = (
    pattern(r"(?<![\w.\-])" + _SSN % (r"([ .\-])", r"\1") + r"(?!\w|[.\-][\d\ufdd0])"),
    pattern(
        r"(?i)(?:ssn|social security)(?: number| no\.?|#)?(?: is|:|=| -)? {0,2}("
        + _SSN % (r"[ .\-]?", r"[ .\-]?")
        + r")(?!\d)",
        needs=("ssn", "social security"),
        group=1,
    ),
)


# -- payment card ----------------------------------------------------------------------------------

_NUMBER_RUN = re.compile(r"(?<!\d)(?:\d{12,19}(?!\d)|\d{3,6}+(?!\d)(?:[ .\-]{1,2}+\d{3,6}+(?!\d))++)")
_GROUP = re.compile(r"\d+")
_LONG = re.compile(r"\d(?:[ .\-]{0,2}\d){11}")
_ANY = tuple(range(19, 11, -1))
_ISSUED = {
    "4": (19, 16, 13), "34": (15,), "37": (15,), "30": (14,), "36": (14,), "38": (14,), "39": (14,), "35": (16,),
    "18": (15,), "21": (15,), "6": _ANY, **dict.fromkeys(("06", "50", "56", "57", "58", "59"), _ANY),
    **dict.fromkeys(("22", "23", "24", "25", "26", "27", "51", "52", "53", "54", "55"), (16,)),
    **dict.fromkeys(("81", "82", "86", "97", "98"), (16,)),
}  # fmt: skip
"""How many digits a card number has that begins so, the longest first."""
_MAX_GROUPS = 6
# Issuers' ranges under ISO/IEC 7812: Diners (30, 36, 38, 39), Maestro (also 0604), RuPay (81, 82), Troy, UzCard, Humo.
_CARD = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|3[47]\d{13}|3[0689]\d{12}|35\d{14}|(?:1800|2131)\d{11}"
    r"|0604\d{8,15}|8[12]\d{14}|(?:8600|9792|9860)\d{12}|5[1-5]\d{14}|2[2-7]\d{14}|(?:5[06-9]|6\d)\d{10,17}"
)
_SEPARATORS = str.maketrans("", "", " .-")
_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_SINGLE = bytes.maketrans(b"0123456789", bytes(range(10)))


def luhn(digits: str) -> bool:
    """Whether the check digit holds (ISO/IEC 7812-1, annex B)."""
    raw = digits.encode()
    return (sum(raw[::-2].translate(_SINGLE)) + sum(raw[-2::-2].translate(_DOUBLED))) % 10 == 0


def cards(text: str) -> Iterator[Found]:
    """Card numbers of the known issuers, written in one piece or in groups of three to six digits."""
    if not (is_numbered(text) and _LONG.search(text)):
        return
    for run in _NUMBER_RUN.finditer(text):
        compact = run.group().translate(_SEPARATORS)
        if len(compact) < _ANY[-1]:
            continue
        groups = [group.span() for group in _GROUP.finditer(text, run.start(), run.end())]
        # A letter at either end makes the number part of a longer name.
        first = 1 if run.start() and text[run.start() - 1].isalnum() else 0
        last = len(groups) - (1 if run.end() < len(text) and text[run.end()].isalnum() else 0)
        if len(groups) == 1:
            if first < last and _CARD.fullmatch(compact) and luhn(compact):
                yield Found(*run.span(), compact)
            continue
        number = _Number(compact)
        places = [0, *accumulate(end - start for start, end in groups)]
        ends = {place: group for group, place in enumerate(places)}
        while first < last:
            begin = places[first]
            lengths = _ISSUED.get(compact[begin]) or _ISSUED.get(compact[begin : begin + 2])
            if lengths is None:
                first += 1
                continue
            end = next(
                (
                    end
                    for length in lengths
                    if first < (end := ends.get(begin + length, 0)) <= min(last, first + _MAX_GROUPS)
                    and number.is_card(begin, begin + length)
                ),
                0,
            )
            if end:
                yield Found(groups[first][0], groups[end - 1][1], compact[begin : places[end]])
            first = end or first + 1


class _Number:
    """A long number, with running sums, so that the check digit of any stretch of it is one subtraction."""

    def __init__(self, digits: str) -> None:
        self.digits = digits
        raw = digits.encode()
        self._sums = [self._running(raw, doubled) for doubled in (0, 1)]

    @staticmethod
    def _running(raw: bytes, doubled: int) -> list[int]:
        values = bytearray(raw.translate(_SINGLE))
        values[doubled::2] = raw[doubled::2].translate(_DOUBLED)
        return [0, *accumulate(values)]

    def is_card(self, start: int, end: int) -> bool:
        """Whether this stretch is a card number of a known issuer."""
        sums = self._sums[end % 2]
        return (sums[end] - sums[start]) % 10 == 0 and _CARD.fullmatch(self.digits, start, end) is not None


_spaced = spelled(
    digits,
    pattern(
        r"(?<![\w.\-])(?<!\d )\d(?: \d){12,18}(?! ?\d|\w)",
        accept=lambda match: luhn(digits(match.group())) and _CARD.fullmatch(digits(match.group())) is not None,
    ),
)
"""Card numbers spaced digit by digit."""


def _iban(text: str) -> Iterator[Found]:
    return (Found(*found) for found in ibans(text))


def detectors(regions: Sequence[str] = ()) -> tuple[Detector, ...]:
    """The table; telephone numbers without a country code are those of `regions` (`mnemic.write.plans`). Where two
    matches of one length compete, the earlier line wins.

    Raises InvalidConfig (`invalid_config:redaction.regions`).
    """
    return (
        Finder("SECRET", secrets),
        Finder("IBAN", (_iban,)),
        Finder("IMEI", imeis),
        Finder("CARD", (cards, numbered(_spaced))),
        Finder("SSN", spelled(digits, numbered(_ssns))),
        Finder("EMAIL", (emails, hidden_emails)),
        Finder("PHONE", (Phones(regions),)),
        Finder("MAC", macs),
        Finder("IP", ips),
    )


DETECTORS = detectors()
