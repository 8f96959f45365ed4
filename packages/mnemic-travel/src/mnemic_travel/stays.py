"""Hotel stays: texts with labelled days of arrival and departure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from mnemic_travel.dates import Clock, find_dates, find_times, is_american

_CHECK_IN = re.compile(
    r"(?<!\w)(?:check-?\s?in|anreise(?:tag)?|ankunft|arrival(?: date)?|arriv[ée]e|llegada|entrada|arrivo|"
    r"aankomst|incheckning|innsjekking)(?!\w)",
    re.IGNORECASE,
)
_CHECK_OUT = re.compile(
    r"(?<!\w)(?:check-?\s?out|abreise(?:tag)?|departure(?: date)?|d[ée]part|salida|partenza|vertrek|"
    r"utcheckning|utsjekking)(?!\w)",
    re.IGNORECASE,
)
_HOUSE = re.compile(
    r"^[^\S\n]*+(?:hotel(?: ?name)?|property(?: name)?|accommodation|unterkunft|h[ée]bergement|[ée]tablissement|"
    r"alojamiento|struttura|"
    r"accommodatie|your hotel|ihr hotel)\s*:\s*(?P<name>\S.{2,80}?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(
    r"(?<!\w)(?P<name>(?:[A-ZÀ-Þ][\w'&.-]{1,40}+ ){0,3}(?:Hotel|Hôtel|Hostel|Inn|Resort|Gasthof|Pension|B&B)"
    r"(?: [A-ZÀ-Þ][\w'&.-]+){0,3})"
)
_IS_STAY = re.compile(
    r"hotel|hostel|room|zimmer|chambre|habitaci[óo]n|camera|nights?|n[äa]chte|nuit|noche|notti", re.IGNORECASE
)
_BELOW = 2


@dataclass(frozen=True, slots=True)
class Stay:
    """A stay, possibly incomplete."""

    name: str | None
    arrives: tuple[date, Clock | None]
    leaves: tuple[date, Clock | None]


def stay_in(text: str, *, sent_on: date | None) -> Stay | None:
    """Return the stay that `text` confirms: both days are required."""
    if not _IS_STAY.search(text):
        return None
    lines = text.splitlines()
    american = is_american(text)
    arrives = _find_labelled(lines, _CHECK_IN, sent_on, american)
    leaves = _find_labelled(lines, _CHECK_OUT, sent_on if arrives is None else arrives[0], american)
    if arrives is None or leaves is None or leaves[0] < arrives[0]:
        return None
    named = _HOUSE.search(text) or _NAMED.search(text)
    return Stay(named["name"].strip() if named else None, arrives, leaves)


def _find_labelled(
    lines: list[str], label: re.Pattern[str], sent_on: date | None, american: bool
) -> tuple[date, Clock | None] | None:
    """Return the first date after the label, on its line or just below, and the first time after that."""
    for number, line in enumerate(lines):
        match = label.search(line)
        if match is None:
            continue
        rest = "\n".join([line[match.end() :], *lines[number + 1 : number + 1 + _BELOW]])
        for _, end, written in find_dates(rest, american=american):
            day = written.resolve_date(sent_on)
            if day is not None:
                behind = rest[end:].split("\n", 1)[0]
                return day, next((clock for *_, clock in find_times(behind)), None)
    return None
