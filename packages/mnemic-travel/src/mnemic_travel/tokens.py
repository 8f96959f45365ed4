"""Tokens of a travel text: flights, times, dates, airports and terminals, each with its line and column."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from mnemic_travel.airports import Airports
from mnemic_travel.dates import find_dates, find_times, is_american
from mnemic_travel.labels import (
    ARRIVAL,
    BOOKING,
    DEPARTURE,
    FLIGHT,
    NOT_A_TIME,
    NOT_THE_FLIGHT,
    OTHER_LABEL,
    PLATFORM,
    TERMINAL,
)
from mnemic_travel.months import month_named

Sort = Literal["flight", "train", "date", "time", "airport", "terminal"]
Side = Literal["departure", "arrival"]

MAX_LINES = 5_000
MAX_LINE_CHARS = 1_000
FLIGHT_NUMBER = re.compile(
    r"(?<![\w.,:/+-])(?P<airline>[A-Z]{2}|[A-Z]\d|\d[A-Z])[ \u00a0-]?0{0,3}(?P<number>[1-9]\d{0,3})"
    r"(?![\w%:]|[.,/-]\d)"
)
_CODE_FOLLOWS = re.compile(rf"(?:{BOOKING.pattern})[^\w]*$", re.IGNORECASE)
TRAIN_NUMBER = re.compile(
    r"(?<![\w])(?P<sort>ICE|ICD|IC|ECE|EC|TGV(?: INOUI| LYRIA)?|INOUI|OUIGO|TER|RJX|RJ|NJ|EN|IRE|IR|RE|RB|THA|"
    r"THALYS|EST|"
    r"EUROSTAR|AVE|AVLO|ALVIA|FRECCIAROSSA|FRECCIARGENTO|FRECCIABIANCA|FR|ITALO|INTERCITY|SJ|X2000|WB|FLX)\s?"
    r"(?:n[°ºo.]{0,2}\s?)?(?P<number>\d{1,5})(?![\w:]|[.,]\d)",
    re.IGNORECASE,
)
# Airbus, Boeing and Embraer types look like flight numbers: "A320" would be flight 320 of the airline A3.
_AIRCRAFT = re.compile(r"A3[0-58]\d|B7[0-9]7|E1[79]\d")
_CODE = re.compile(r"(?<![\w])(?P<open>[(\[]\s?)?(?P<code>[A-Z]{3})(?P<close>\s?[)\]])?(?![\w])")
_ROUTE = re.compile(r"(?<!\w)([A-Z]{3})\s?(?:-|–|—|→|>|/|\bto\b|\bnach\b|✈)\s?([A-Z]{3})(?!\w)")
_NO_AIRPORT = frozenset(
    "MON TUE WED THU FRI SAT SUN JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC EUR USD GBP CHF SEK NOK DKK PLN AED "
    "MRS MSR PNR VAT PDF REF TAX NON THE AND FOR ARR DEP VIA FLT KGS TEL FAX WWW ETA ETD UTC GMT CET SMS APP".split()
)

_WEEKDAYS = frozenset(
    "DIE MIT DON FRE SAM SON LUN MAR MER JEU VEN DIM MIE JUE VIE SAB DOM GIO SEG TER QUA QUI SEX MAA DIN WOE VRI ZAT "
    "ZON TIR ONS TOR PON WTO CZW SOB NIE NED".split()
)
"""Weekdays in other languages than English. They are airports, too, on a line without a date."""
_NUMBER_FOLLOWS = re.compile(r"[ -]?\d{2,4}(?![\w:.,/-])")


@dataclass(frozen=True, slots=True)
class Token:
    """One token: its sort, its value, its line and column, and the side (departure or arrival) of its line."""

    sort: Sort
    value: Any
    line: int
    column: int
    side: Side | None = None
    labelled: bool = False


def lines_of(text: str) -> list[str]:
    """Return the lines that are read, with tabs as two spaces."""
    return [line.replace("\t", "  ").replace("\u00a0", " ")[:MAX_LINE_CHARS] for line in text.splitlines()[:MAX_LINES]]


def tokens_of(lines: list[str], airports: Airports, *, by_rail: bool = False) -> Iterator[Token]:
    """Yield the tokens of all lines, in reading order. With `by_rail` they are trains and platforms instead of flights
    and terminals, without airports.
    """
    american = is_american("\n".join(lines))
    side: Side | None = None
    flight_header = False
    for number, line in enumerate(lines):
        side = _side(line, side)
        header = FLIGHT.search(line) is not None and not any(find_times(line))
        flight_header = header or (flight_header and bool(line.strip()))
        found = sorted(_in_line(line, airports, american, by_rail), key=lambda one: one[1])
        for sort, column, value in found:
            labelled = sort == "flight" and (FLIGHT.search(line[:column]) is not None or flight_header)
            yield Token(sort, value, number, column, side, labelled)


def _side(line: str, before: Side | None) -> Side | None:
    """Return the side that the line's label names. A line with both labels is a heading, and another label ends the
    side.
    """
    departing, arriving = DEPARTURE.match(line.lstrip(" *|>-")), ARRIVAL.match(line.lstrip(" *|>-"))
    if departing and _is_label(line, departing):
        return None if _heads(line, ARRIVAL) else "departure"
    if arriving and _is_label(line, arriving):
        return None if _heads(line, DEPARTURE) else "arrival"
    if not line.strip() or OTHER_LABEL.match(line) or FLIGHT.match(line.strip()):
        return None
    return before


def _is_label(line: str, match: re.Match[str]) -> bool:
    """Return True if the match is a label: a colon, a gap or a slash with its translation follows, or the line ends.
    Short words need one of these.
    """
    rest = line.lstrip(" *|>-")[match.end() :]
    return not rest.strip() or re.match(r"\s*:|\s{2,}|\s*/|\s*\|", rest) is not None or len(match.group()) > 4


def _heads(line: str, other: re.Pattern[str]) -> bool:
    """Return True if `line` also has the other side's label as a separate column."""
    return any(
        re.search(r"\s{2,}$|\|\s*$|/\s*$", line[: match.start()]) for match in other.finditer(line) if match.start()
    )


def _in_line(line: str, airports: Airports, american: bool, by_rail: bool) -> Iterator[tuple[Sort, int, Any]]:
    """Yield the tokens of a line as sort, column and value. Characters that one sort has matched are not searched for
    the next.
    """
    taken = [False] * (len(line) + 1)
    found = chain(_dates_in(line, american), _times_in(line))
    if by_rail:
        found = chain(found, _trains_in(line), _terminals_in(line, PLATFORM))
    else:
        found = chain(found, _terminals_in(line, TERMINAL), _flights_in(line), _airports_in(line, airports))
    for sort, start, end, value in found:
        if not any(taken[start:end]):
            taken[start:end] = [True] * (end - start)
            yield sort, start, value


Found = Iterator[tuple[Sort, int, int, Any]]


def _dates_in(line: str, american: bool) -> Found:
    for start, end, day in find_dates(line, american=american):
        yield "date", start, end, day


def _times_in(line: str) -> Found:
    for start, end, clock in find_times(line):
        label = line[max(0, start - 24) : start]
        if not NOT_A_TIME.search(label.rpartition("  ")[2] or label):
            yield "time", start, end, clock


def _trains_in(line: str) -> Found:
    for match in TRAIN_NUMBER.finditer(line):
        yield "train", *match.span(), (match["sort"], match["number"])


def _terminals_in(line: str, pattern: re.Pattern[str]) -> Found:
    for match in pattern.finditer(line):
        if match["value"]:
            yield "terminal", *match.span(), match["value"].upper()


def _flights_in(line: str) -> Found:
    for match in FLIGHT_NUMBER.finditer(line):
        before = line[: match.start()]
        if not (_AIRCRAFT.fullmatch(match.group()) or NOT_THE_FLIGHT.search(before) or _CODE_FOLLOWS.search(before)):
            yield "flight", *match.span(), (match["airline"], match["number"])


def _airports_in(line: str, airports: Airports) -> Found:
    for match in _ROUTE.finditer(line):
        if all(_is_airport(code, airports) for code in match.groups()):
            for group in (1, 2):
                yield "airport", *match.span(group), match[group]
    for match in _CODE.finditer(line):
        fenced = bool(match["open"] and match["close"])
        known = _is_airport(match["code"], airports) if fenced else match["code"] in airports
        if known and not fenced and _says_something_else(match, line):
            continue
        if known and match["code"] not in _NO_AIRPORT and (fenced or not _is_shouted(line)):
            yield "airport", *match.span("code"), match["code"]


def _says_something_else(code: re.Match[str], line: str) -> bool:
    """Return True if a code is the airline of a flight on this line ("Flight KLM 1234"), or the weekday or month of a
    date.
    """
    if _NUMBER_FOLLOWS.match(line, code.end()) and FLIGHT.search(line[: code.start()]):
        return True
    word = code["code"]
    flight = FLIGHT_NUMBER.match(line, code.end() + 1)
    if flight and word.startswith(flight["airline"]):  # "KLM KL1234": its own number follows
        return True
    return (word in _WEEKDAYS or month_named(word) is not None) and any(find_dates(line))


def _is_airport(code: str, airports: Airports) -> bool:
    return code not in _NO_AIRPORT and (code in airports or not airports)


def _is_shouted(line: str) -> bool:
    """Return True if the line is in capitals, in which any short word looks like a code."""
    words = re.findall(r"[^\W\d_]{4,}", line)
    return bool(words) and all(word.isupper() for word in words)
