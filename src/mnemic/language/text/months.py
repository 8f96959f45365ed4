"""Names of months in six languages other than English, by the number of the month.

Some are words of another language ("mayo", "mars"): such a word counts only after a preposition or a day, or before a
year.
"""

from __future__ import annotations

import re

from mnemic.language.text.pattern import Pattern, plain_letters

_NAMES = (
    "januar jänner janvier enero gennaio janeiro januari",
    "februar feber février febrero febbraio fevereiro februari",
    "märz mars marzo março maart",
    "april avril abril aprile",
    "mai mayo maggio maio mei",
    "juni juin junio giugno junho",
    "juli juillet julio luglio julho",
    "august août aout agosto augustus",
    "september septembre septiembre settembre setembro",
    "oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "dezember décembre diciembre dicembre dezembro december",
)
MONTH_NUMBERS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
_NAME = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_MONTH = Pattern(
    rf"\b(?:(?P<day>\d{{1,2}})\.?(?: de| di)? |(?:im|am|seit|bis|vom|en|au|de|du|depuis|desde|em|in|dal?|nel|vanaf"
    rf"|sinds|van|mois de|mois d')\s?)(?P<name>{_NAME})\b|\b(?P<dated>{_NAME})(?=\s(?:de\s|del\s)?(?:19|20)\d\d\b)",
    re.IGNORECASE,
)


def named_month(text: str) -> tuple[int, int | None] | None:
    """Return the number of the first month that `text` names in one of these languages, and the day before it."""
    found = _MONTH.search(plain_letters(text))
    if found is None:
        return None
    name = found["name"] or found["dated"]
    return MONTH_NUMBERS[name.lower()], int(found["day"]) if found["day"] else None
