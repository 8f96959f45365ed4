"""The bar code of a boarding pass: IATA Resolution 792, format M."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

# Fields of the standard have fixed widths. The lookahead tests the beginning of the first leg, because 20 capitals
# after "M1" occur in ordinary upper-case text too.
_HEAD = re.compile(r"M[1-4](?P<name>[A-Z/ '.-]{20})[E ](?=[A-Z0-9 ]{7}[A-Z]{3}[A-Z]{3}[A-Z0-9 ]{3}[\d ]{4,5})")
# Cabin, seat and sequence are optional here: mails often cut the code after the day. `more` is the length of the
# conditional items, in hexadecimal.
_LEG = re.compile(
    r"(?P<code>[A-Z0-9 ]{7})(?P<origin>[A-Z]{3})(?P<goal>[A-Z]{3})(?P<airline>[A-Z0-9 ]{3})(?P<number>[\d ]{4}[A-Z\d ])"
    r"(?P<day>\d{3})(?:(?P<cabin>[A-Z ])(?P<seat>[A-Z0-9 ]{4})(?P<sequence>[A-Z0-9 ]{5})"
    r"(?P<state>.)(?P<more>[0-9A-F]{2}))?"
)
# The day of issue: the last digit of the year and the day of that year.
_ISSUED = re.compile(r">.{6}(?P<year>\d)(?P<day>\d{3})")


@dataclass(frozen=True, slots=True)
class Boarding:
    """One leg of a boarding pass."""

    passenger: str
    code: str
    origin: str
    goal: str
    airline: str
    number: str
    day: date | None
    seat: str | None = None
    sequence: str | None = None


def boardings(text: str, *, sent_on: date | None) -> list[Boarding]:
    """Return the legs of every boarding pass whose code is in `text`, in order. The code has the day of the year
    without the year: the date nearest to the day of issue, or to `sent_on`, is taken.
    """
    found: list[Boarding] = []
    for head in _HEAD.finditer(text):
        at = head.end()
        for _ in range(int(text[head.start() + 1])):
            leg = _LEG.match(text, at)
            if leg is None:
                break
            extra = int(leg["more"], 16) if leg["more"] else 0
            issued = _ISSUED.match(text[leg.end() : leg.end() + extra])
            found.append(_boarding(head["name"], leg, issued, sent_on))
            at = leg.end() + extra
    return found


def _boarding(name: str, leg: re.Match[str], issued: re.Match[str] | None, sent_on: date | None) -> Boarding:
    seat = (leg["seat"] or "").strip().lstrip("0")
    return Boarding(
        passenger=" ".join(part.strip() for part in reversed(name.strip().split("/"))),
        code=leg["code"].strip(),
        origin=leg["origin"],
        goal=leg["goal"],
        airline=leg["airline"].strip(),
        number=leg["number"].strip().lstrip("0"),
        day=_nearest_date(int(leg["day"]), issued, sent_on),
        seat=seat or None,
        sequence=(leg["sequence"] or "").strip().lstrip("0") or None,
    )


def _nearest_date(day_of_year: int, issued: re.Match[str] | None, sent_on: date | None) -> date | None:
    if sent_on is None or not 1 <= day_of_year <= 366:
        return None
    around = sent_on
    if issued is not None:
        # The year of issue has one digit, so the decade is the one that puts it nearest to the day on which the mail
        # was sent.
        decade = sent_on.year - sent_on.year % 10
        years = [decade + shift + int(issued["year"]) for shift in (-10, 0, 10)]
        year = min(years, key=lambda one: abs(one - sent_on.year))
        around = date(year, 1, 1) + timedelta(days=int(issued["day"]) - 1)
    # Three years, because a pass issued in December may be for a day in January, and one sent in January for December.
    days = [date(around.year + shift, 1, 1) + timedelta(days=day_of_year - 1) for shift in (-1, 0, 1)]
    return min(days, key=lambda one: abs(one - around))
