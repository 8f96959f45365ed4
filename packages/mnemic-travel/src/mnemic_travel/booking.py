"""The booking code of a text: the value after or below a label such as "Booking reference"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic_travel.labels import BOOKING

_VALUE = re.compile(
    r"(?<![\w/.@-])(?:[A-Z0-9]{2}/)?(?P<code>[A-Z0-9](?:[A-Z0-9]{4,11}|[A-Z0-9]{2,5}[ -][A-Z0-9]{2,6}))(?![\w@]|\.\w)"
)
_NO_CODE = re.compile(
    r"(?:BOOKING|RESERVATION|REFERENCE|NUMBER|CONFIRM(?:ED|ATION)|STATUS|FLIGHT|TICKETS?|ETICKET|PASSENGERS?|DETAILS|"
    r"NAME|DATE|PLEASE|ECONOMY|BUSINESS|ISSUED|TRAVEL|AGENCY|NUMMER|BUCHUNG|RESERVA|DOSSIER|VOYAGE|LOCATOR|RECORD|"
    r"CODE|ADDRESS|CHECK|ONLINE|MANAGE|SEATS?|CLASS|PRICE|TOTAL)\b"
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}-\d{1,2}")
BELOW = 3
ASIDE = 16


def booking_codes(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line and code of every booking code, in order."""
    for number, line in enumerate(lines):
        for label in BOOKING.finditer(line):
            found = _text_behind(line, label.end()) or _under(lines, number, label.start())
            if found is not None:
                yield number, found


def _text_behind(line: str, start: int) -> str | None:
    rest = line[start:]
    label = re.match(
        r"\s*(?:/[^\d:]{0,40}?(?=\s{2}|:|$))?\s*(?:\([^)]*\))?\s*(?:number|no\b\.?|nr\b\.?|code|(?:is|es|est|ist|lautet|è)\b|[:=*#|.\s])*",
        rest,
        re.IGNORECASE,
    )
    match = _VALUE.match(rest, label.end() if label else 0)
    return _code(match)


def _under(lines: list[str], number: int, column: int) -> str | None:
    """Return the code on one of the next lines that begins near the column of the label."""
    if re.search(r":\s*\S", lines[number][column:]):
        return None
    for line in lines[number + 1 : number + 1 + BELOW]:
        for match in _VALUE.finditer(line):
            if abs(match.start() - column) <= ASIDE and _code(match) is not None:
                return _code(match)
    return None


def _code(match: re.Match[str] | None) -> str | None:
    """Return the matched text if it can be a code: no word, no date, at most one gap."""
    if match is None:
        return None
    code = match["code"]
    if " " in code or "-" in code:
        head = code.replace("-", " ").split()[0]
        if _ISO.match(code) or not any(c.isdigit() for c in code) or len(code) > 9:
            code = head
    return None if len(code) < 5 or _NO_CODE.match(code) else code
