"""Journeys in running text: "your flight UA1234 to Paris departs Tuesday 10:30am from SFO, Terminal 3"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from mnemic_travel.airports import Airports
from mnemic_travel.months import fold_text
from mnemic_travel.tokens import Side

_NAME = r"(?P<place>[A-ZÀ-Þ][\w'’.-]*(?:[ -](?:(?:de|am|di|do|la|le|del|of|St\.)[ -])?[A-ZÀ-Þ(][\w'’.()-]*){0,3})"
_PREPOSITIONS: dict[Side, str] = {
    "departure": r"from|von|ab|desde|depuis|au départ de|da|van|från|fra|de",
    "arrival": r"to|nach|hacia|vers|à destination de|naar|till|til|à|a",
}
_SHORT_WORDS = frozenset(("de", "a", "à", "da", "ab", "til"))
_WEEKDAYS = (
    "monday montag lundi lunes lunedi segunda-feira maandag mandag",
    "tuesday dienstag mardi martes martedi terca-feira dinsdag tirsdag tisdag",
    "wednesday mittwoch mercredi miercoles mercoledi quarta-feira woensdag onsdag",
    "thursday donnerstag jeudi jueves giovedi quinta-feira donderdag torsdag",
    "friday freitag vendredi viernes venerdi sexta-feira vrijdag fredag",
    "saturday samstag sonnabend samedi sabado sabato zaterdag lordag lordag",
    "sunday sonntag dimanche domingo domenica zondag sondag",
)
_DAY = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}


def named_places(text: str, airports: Airports) -> dict[Side, str]:
    """Return the first places after "from" and "to" in `text`. A short word counts only before a place in the table."""
    found: dict[Side, str] = {}
    for side, words in _PREPOSITIONS.items():
        for match in re.finditer(rf"(?<!\w)(?P<word>{words})\s+(?-i:{_NAME})", text, re.IGNORECASE):
            place = match["place"].strip(" .,;()")
            if match["word"].lower() in _SHORT_WORDS and not (place in airports or airports.find_code(place)):
                continue
            found.setdefault(side, place)
    return found


def weekday_in(text: str, sent_on: date | None) -> date | None:
    """Return the date of the weekday in `text`: the next one after `sent_on`."""
    if sent_on is None:
        return None
    for word in re.findall(r"[^\W\d_]{4,}(?:-feira)?", text):
        number = _DAY.get(fold_text(word))
        if number is not None:
            return sent_on + timedelta(days=(number - sent_on.weekday() - 1) % 7 + 1)
    return None
