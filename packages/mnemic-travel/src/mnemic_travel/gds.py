"""Itineraries as global distribution systems (GDS) print them: one flight per line, in columns.

1. EY  289 E  09JAN AMDAUH TK1  0505   0700  O*
2  LH 400 Y 05JUN 1 FRAJFK HK1  1005 1240  05JUN  E
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from mnemic_travel.dates import Clock, Date
from mnemic_travel.legs import Leg, Stop
from mnemic_travel.months import month_named

# Every repetition has an upper bound, so that a long line of blanks or digits cannot make the search quadratic.
_SEGMENT = re.compile(
    r"^[^\S\n]{0,40}\d{1,2}\s{0,9}[.)]?\s{0,9}(?P<airline>[A-Z0-9]{2})\s{0,9}(?P<number>\d{1,4})\s?(?P<cabin>[A-Z])\s{1,9}"
    r"(?P<day>\d{1,2})(?P<month>[A-Z]{3})(?P<year>\d\d)?\s{1,9}(?:[1-7]\s{1,9}|(?:MO|TU|WE|TH|FR|SA|SU)[A-Z]?\s{1,9})?"
    r"(?P<origin>[A-Z]{3})\s?(?P<goal>[A-Z]{3})\s{0,9}[* ]?(?P<state>[A-Z]{2}\d{1,2})\s{1,9}(?:\d\s{1,9})?"
    r"(?P<leaves>\d{3,4}[APN]?)\s{1,9}(?P<sign>[#+*]?)(?P<arrives>\d{3,4}[APN]?)(?P<later>[+-]\d)?"
    r"(?:\s{1,9}(?P<last_day>\d{1,2})(?P<last_month>[A-Z]{3}))?",
    re.MULTILINE,
)

_PASSENGER = re.compile(
    r"(?<![\w.])\d{1,2}\.\s?\d?(?P<family>[A-Z][A-Z'-]+)/(?P<given>[A-Z][A-Z ]*?)(?=\s{2}|\s*$|\s+\d)", re.MULTILINE
)


def gds_legs(text: str, *, sent_on: date | None) -> list[Leg]:
    """Return the flights of such lines, in order; an empty list if the text has none."""
    legs = []
    for match in _SEGMENT.finditer(text):
        month = month_named(match["month"])
        leaves, arrives = _clock(match["leaves"]), _clock(match["arrives"])
        if month is None or leaves is None or arrives is None:
            continue
        year = 2000 + int(match["year"]) if match["year"] else None
        day = Date(int(match["day"]), month, year).resolve_date(sent_on)
        legs.append(
            Leg(
                airline=match["airline"],
                number=match["number"].lstrip("0"),
                departure=Stop(code=match["origin"], day=day, clock=leaves),
                arrival=Stop(code=match["goal"], day=_last_day(match, day), clock=arrives),
                line=text.count("\n", 0, match.start("airline")),
            )
        )
    return legs


def gds_passengers(text: str) -> list[str]:
    """Return the passengers of lines like `1.1DOE/JOHNMR 2.1DOE/JANEMRS`, given name first."""
    return [f"{match['given'].strip()} {match['family']}" for match in _PASSENGER.finditer(text)]


def _clock(written: str) -> Clock | None:
    half = written[-1] if written[-1] in "APN" else ""
    hour, minute = divmod(int(written.rstrip("APN")), 100)
    if half:
        # A is a.m., P is p.m., N is noon.
        hour = hour % 12 + (12 if half in "PN" else 0)
    return Clock(hour, minute) if hour < 24 and minute < 60 else None


def _last_day(match: re.Match[str], day: date | None) -> date | None:
    """Return the day of arrival: as written, by the day sign (# is the next day), else the day of departure."""
    if day is None:
        return None
    if match["last_month"]:
        month = month_named(match["last_month"])
        if month is not None:
            return Date(int(match["last_day"]), month).resolve_date(day) or day
    if match["later"]:
        return day + timedelta(days=int(match["later"]))
    return day + timedelta(days={"#": 1, "+": 1, "*": 2}.get(match["sign"], 0))
