"""Payment cards: digits that an issuer's numbers begin with, of its length, with a check digit (ISO/IEC 7812-1); and
international bank account numbers: ISO 13616, lengths by the SWIFT IBAN registry.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, compress, count
from operator import itemgetter

from mnemic.redact.search_primitives import Folded, digits, drawn, found, pattern
from mnemic.redact.types import Found

_LENGTHS = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",
    26: "IS TR", 27: "FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB PL SV", 29: "BR EG PS QA UA", 30: "JO KW MU",
    31: "MT SC", 32: "LC",
}  # fmt: skip
_DIGITS_ALONE = frozenset(
    "AE AT BA BE CR CZ DE DK EE EG ES FI FO GL HR HU IL IS LT LY ME MR NO PL PT RS SD SE SI SK ST TL TN VA XK".split()
)
"""Countries whose accounts have digits only: a digest in hexadecimal digits has the form of others by chance."""
LENGTH = {country: length for length, countries in _LENGTHS.items() for country in countries.split()}

_START = re.compile(r"(?<![^\W_])[A-Za-z]{2,14}\d{2}(?=[ \-]?[A-Za-z0-9])", re.ASCII)
"""The country and the check digits; a word may stand before them ("IBANDE89...")."""
_begun = drawn(b"aa00")
_AS_NUMBER = str.maketrans({chr(65 + at): str(10 + at) for at in range(26)})
_SEPARATORS = str.maketrans("", "", " -")


@lru_cache(maxsize=64)
def _account(characters: int) -> re.Pattern[str]:
    """So many letters and digits; a word may follow the last digit."""
    return re.compile(
        rf"(?:[ \-]?+[A-Za-z0-9]){{{characters}}}+(?:(?![^\W_])|(?<=\d)(?=[A-Za-z]{{1,12}}(?![^\W_])))", re.ASCII
    )


def ibans(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and compact spelling of every valid IBAN, written in one piece or in groups."""
    if not _begun(text):
        return
    valid: dict[str, bool] = {}
    for match in _START.finditer(text):
        end = match.end()
        start = end - 4
        length = LENGTH.get(text[start : start + 2].upper())
        account = _account(length - 4).match(text, end) if length else None
        if account is None:
            continue
        end = account.end()
        compact = text[start:end].upper()
        if len(compact) != length:
            compact = compact.translate(_SEPARATORS)
        if compact not in valid:
            well_formed = compact[:2] not in _DIGITS_ALONE or compact[4:].isdecimal()
            valid[compact] = well_formed and int((compact[4:] + compact[:4]).translate(_AS_NUMBER)) % 97 == 1
        if valid[compact]:
            yield start, end, compact


# Issuers' ranges under ISO/IEC 7812: Diners (30, 36, 38, 39), Maestro (also 0604), RuPay (81, 82), Troy, UzCard, Humo.
_NUMBER = (
    r"(?:4(?:\d{18}|\d{15}|\d{12})|3[47]\d{13}|3[0689]\d{12}|35\d{14}|(?:1800|2131)\d{11}"
    r"|0604\d{8,15}|8[12]\d{14}|(?:8600|9792|9860)\d{12}|5[1-5]\d{14}|2[2-7]\d{14}|(?:5[06-9]|6\d)\d{10,17})"
)
_CARD = Folded(_NUMBER)
_ANY = tuple(range(19, 11, -1))
_ISSUED = {
    **{f"{first}{second}": _ANY for first in "6" for second in range(10)},
    **{f"4{second}": (19, 16, 13) for second in range(10)}, "34": (15,), "37": (15,), "30": (14,), "36": (14,),
    "38": (14,), "39": (14,), "35": (16,), "18": (15,), "21": (15,),
    **dict.fromkeys(("06", "50", "56", "57", "58", "59"), _ANY),
    **dict.fromkeys(("22", "23", "24", "25", "26", "27", "51", "52", "53", "54", "55"), (16,)),
    **dict.fromkeys(("81", "82", "86", "97", "98"), (16,)),
}  # fmt: skip
"""Number of digits of a card by its first digits, the longest prefix first."""
_PIECE = Folded(rf"\d(?<!\d\d)(?<=(?={_NUMBER}(?!\d)).)\d{{11,18}}")
_RUN = Folded(
    r"\d(?<!\d\d)\d{2,5}+(?!\d)"
    r"(?:(?:[ .\-]{1,2}+\d{3,6}+(?!\d)){2,}+|(?<=\d{6})[ .\-]{1,2}+\d{6}(?!\d))"
)
"""Groups that may have twelve digits together: three of them, or two of six."""
_BETWEEN = Folded(r"([ .\-]+)")
_GROUP = Folded(r"\d+")
_FIRST_TWO = itemgetter(slice(2))
_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_SINGLE = bytes.maketrans(b"0123456789", bytes(range(10)))


def luhn(digits: str) -> bool:
    """Return True if the check digit is right (ISO/IEC 7812-1, annex B)."""
    raw = digits.encode()
    return (sum(raw[::-2].translate(_SINGLE)) + sum(raw[-2::-2].translate(_DOUBLED))) % 10 == 0


def _is_card(number: str) -> bool:
    return luhn(number) and _CARD.fullmatch(number) is not None


_GLUED = Folded(r"[^\W_]{1,16}")


def _stands_alone(match: re.Match[str]) -> bool:
    """Letters at both ends, further digits after those at one, or one or two leading letters (a licence, "U629...")
    make a number part of a longer identifier. A word at one end does not: "visa4111...", "4111...exp".
    """
    text, (start, end) = match.string, match.span()
    before = _GLUED.compiled.match(text[max(0, start - 16) : start][::-1])
    behind = _GLUED.compiled.match(text, end)
    if before is None:
        return behind is None or behind.group().isalpha()
    return behind is None and before.group().isalpha() and before.end() >= _LETTERS_OF_A_WORD


_LETTERS_OF_A_WORD = 3


_in_one_piece = pattern(_PIECE.text, needs=drawn(b"0" * 12), fits=luhn, accept=_stands_alone)
_in_groups_drawn = drawn(b"000 000", b"000  000")


def _in_groups(text: str) -> Iterator[Found]:
    """Card numbers in groups of three to six digits."""
    if not _in_groups_drawn(text):
        return
    for run in _RUN.finditer(text):
        whole = run.group()
        numbers = [*_of_groups(_GROUP.findall(whole))]
        if numbers:
            places = [*accumulate(map(len, _BETWEEN.split(whole)), initial=run.start())]
            for begin, end, number in numbers:
                yield found((places[2 * begin], places[2 * end - 1], number))


def _of_groups(groups: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Find the groups, from one up to another, that are card numbers together."""
    issued = [*map(_ISSUED.get, map(_FIRST_TWO, groups))]
    begun = [*compress(count(), issued)]
    places = [*accumulate(map(len, groups), initial=0)]
    if not begun or places[-1] - places[begun[0]] < _ANY[-1]:
        return
    ends = dict(zip(places, count(), strict=False))
    number = _Number(groups)
    first = 0
    for at in begun:
        if at < first:
            continue
        begin = places[at]
        for length in issued[at] or ():
            end = ends.get(begin + length)
            if end is not None and number.is_card(begin, begin + length):
                yield at, end, number.digits[begin : begin + length]
                first = end
                break


class _Number:
    """The digits of all groups, with running sums, so that the check digit of any stretch is one subtraction."""

    def __init__(self, groups: Sequence[str]) -> None:
        self.digits = "".join(groups)

    @cached_property
    def _sums(self) -> tuple[list[int], list[int]]:
        raw = self.digits.encode()
        return _running(raw, 0), _running(raw, 1)

    def is_card(self, start: int, end: int) -> bool:
        """Return True if this stretch is a card number of a known issuer."""
        sums = self._sums[end % 2]
        return (sums[end] - sums[start]) % 10 == 0 and _CARD.compiled.fullmatch(self.digits, start, end) is not None


def _running(raw: bytes, doubled: int) -> list[int]:
    values = bytearray(raw.translate(_SINGLE))
    values[doubled::2] = raw[doubled::2].translate(_DOUBLED)
    return [0, *accumulate(values)]


_digit_by_digit = pattern(
    r"\d(?<![\w.\-].)(?<!\d \d)(?: \d){12,18}(?! ?\d|\w)",
    needs=drawn(b" ".join([b"0"] * 13)),
    fits=lambda number: _is_card(digits(number)),
    spell=digits,
)

cards = (_in_one_piece, _in_groups, _digit_by_digit)
"""Card numbers of the known issuers: in one piece, in groups, or with a blank behind each digit."""
