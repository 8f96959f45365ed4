"""Numbering plans: digits that may be a telephone number, by country. libphonenumber's metadata, by `phonenumberslite`.

The library is imported for the first number, and its plan of a country read at the first question about that country.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType

from mnemic.redact.search_primitives import digits
from mnemic.redact.types import Found, InvalidRules

TRIED = ("US", "GB", "DE", "FR", "IN", "BR", "IL", "CA")
"""Countries tried for a number without a country code if policy names none: those of Presidio's telephone recogniser,
the likeliest first.
"""
MAX_PARSED = 48
"""Maximum numbers that the library parses in one text. Each takes some 35 microseconds, which would dominate the cost
of a text of numbers alone.
"""
_GROUP = re.compile(r"\d+")


@cache
def _library() -> ModuleType:
    # Not at the top: it is 50 modules, and most texts hold no number.
    return import_module("phonenumbers")


class Plans:
    """The plans of `regions` (ISO 3166), and for numbers with a country code those of every country.

    Raises InvalidRules (`redaction.regions`) for a region without a plan.
    """

    def __init__(self, regions: Sequence[str] = ()) -> None:
        self.named = tuple(regions)
        if regions and not _library().SUPPORTED_REGIONS.issuperset(regions):
            raise InvalidRules("redaction.regions", hint="countries by their two letters (ISO 3166): DE, US, ...")

    def for_text(self) -> Asked:
        """Return the object that answers for one text."""
        return Asked(self.named)


class Asked:
    """Answers for one text, each computed once; beyond the limit every candidate counts as a number."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = named
        self._regions = named or TRIED
        self._left = MAX_PARSED
        self._answers: dict[str, str] = {}

    def spell_digits(self, number: str) -> str:
        """Return the digits of `number`, which may be written in groups and have an extension; "" if no plan has
        numbers of this length: with a plus or 00 that of the country whose code follows, else one of the regions.
        """
        answer = self._answers.get(number)
        if answer is None:
            answer = self._answers[number] = digits(number) if self._possible(number) else ""
        return answer

    def _possible(self, number: str) -> bool:
        plain = ("+" if number.startswith("+") else "") + digits(number.partition("x")[0].partition("e")[0])
        if plain.startswith("+"):
            return self._is_possible(plain, None)
        if plain.startswith("00") and self._is_possible(f"+{plain[2:]}", None):
            return True
        return any(self._is_possible(plain, region) for region in self._regions)

    def _is_possible(self, plain: str, region: str | None) -> bool:
        if not self._left:
            return True
        self._left -= 1
        library = _library()
        try:
            return bool(library.is_possible_number(library.parse(plain, region)))
        except library.NumberParseException:
            return False

    def valid(self, doubtful: Sequence[Found]) -> Iterator[Found]:
        """Numbers assigned in a region that policy names, and grouped as in that region. None of the regions tried by
        default: too many digits are grouped like a number of some region.

        None if there are more than the limit: an answer that depended on the number of earlier questions would change
        when the text is redacted again.
        """
        different = {found.value for found in doubtful}
        if len(different) * len(self._named) > MAX_PARSED:
            return
        known = {value for value in different if any(_is_valid(value, region) for region in self._named)}
        for start, end, value in doubtful:
            if value in known:
                yield Found(start, end, value)


def _is_valid(number: str, region: str) -> bool:
    library = _library()
    groups = _GROUP.findall(number)
    try:
        parsed = library.parse("".join(groups), region)
    except library.NumberParseException:
        return False
    if not (library.is_possible_number(parsed) and library.is_valid_number(parsed)):
        return False
    form = library.PhoneNumberFormat
    national, international = (
        _GROUP.findall(library.format_number(parsed, one)) for one in (form.NATIONAL, form.INTERNATIONAL)
    )
    return groups in (national, international[1:])
