"""International bank account numbers: ISO 13616, lengths by the SWIFT IBAN registry."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from mnemic.redact.character_mask import drawn

_LENGTHS = {
    15: "NO", 16: "BE", 18: "DK FI FO GL NL SD", 19: "MK SI", 20: "AT BA EE KZ LT LU XK", 21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA", 23: "AE GI IL IQ TL", 24: "AD CZ ES MD PK RO SA SE SK TN VG", 25: "LY PT ST",
    26: "IS TR", 27: "FR GR IT MC MR SM", 28: "AL AZ BY CY DO GT HU LB PL SV", 29: "BR EG PS QA UA", 30: "JO KW MU",
    31: "MT SC", 32: "LC",
}  # fmt: skip
LENGTH = {country: length for length, countries in _LENGTHS.items() for country in countries.split()}

_START = re.compile(r"(?<![^\W_])[A-Za-z]{2,14}\d{2}(?=[ \-]?[A-Za-z0-9])", re.ASCII)
"""The country and the check digits; a word may stand before them ("IBANDE89...")."""
_begun = drawn(b"aa00")
_AS_NUMBER = str.maketrans({chr(65 + at): str(10 + at) for at in range(26)})
_SEPARATORS = str.maketrans("", "", " -")
_UUID = re.compile(r"(?<![^\W_])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![^\W_])", re.ASCII | re.IGNORECASE)
"""An identifier, part of which has the form of an IBAN by chance: one in 6,700 of them."""


@lru_cache(maxsize=64)
def _account(characters: int) -> re.Pattern[str]:
    """So many letters and digits; a word may follow the last digit."""
    return re.compile(
        rf"(?:[ \-]?+[A-Za-z0-9]){{{characters}}}+(?:(?![^\W_])|(?<=\d)(?=[A-Za-z]{{1,12}}(?![^\W_])))", re.ASCII
    )


def ibans(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and compact spelling of every valid IBAN, written in one piece or in groups, outside identifiers."""
    if not _begun(text):
        return
    identifiers = [match.span() for match in _UUID.finditer(text)]
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
            valid[compact] = int((compact[4:] + compact[:4]).translate(_AS_NUMBER)) % 97 == 1
        if valid[compact] and not any(left <= start and end <= right for left, right in identifiers):
            yield start, end, compact
