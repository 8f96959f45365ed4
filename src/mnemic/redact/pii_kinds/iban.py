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
