"""Flights of a text, read from the tokens around each flight number."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import islice

from mnemic_travel.airports import NOTHING_SAID, Airports
from mnemic_travel.dates import Date
from mnemic_travel.labels import ARRIVAL, DEPARTURE, PLATFORM
from mnemic_travel.legs import Leg, Stop
from mnemic_travel.months import fold_text
from mnemic_travel.tokens import FLIGHT_NUMBER, TRAIN_NUMBER, Side, Sort, Token, lines_of, tokens_of

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


MAX_TOKENS = 20_000
MAX_LEGS = 100
"""Maximum number of flights read from a text: more than any confirmation has."""
_AROUND = 6
_COLUMNS = 8
"""Minimum distance in characters at which two times on one line are two columns."""
_SIDES: tuple[Side, Side] = ("departure", "arrival")


def flight_legs(text: str, *, sent_on: date | None, airports: Airports, certain: bool = False) -> list[Leg]:
    """Return the flights of `text` of which at least two details are known, in order, without duplicates. With
    `certain`, everything that looks like a flight number is one.
    """
    lines = lines_of(text)
    tokens = list(islice(tokens_of(lines, airports), MAX_TOKENS))
    anchors = [token for token in tokens if token.sort == "flight"]
    anchors = anchors if certain else _journeys(anchors, tokens)
    return _legs(anchors, tokens, lines, sent_on, airports)


def train_legs(text: str, *, sent_on: date | None) -> list[Leg]:
    """Return the trains of `text`, found like flights, with names of stations and platforms."""
    lines = lines_of(text)
    tokens = list(islice(tokens_of(lines, Airports(), by_rail=True), MAX_TOKENS))
    anchors = _journeys([token for token in tokens if token.sort == "train"], tokens)
    return _legs(anchors, tokens, lines, sent_on, Airports())


def _legs(
    anchors: Sequence[Token], tokens: Sequence[Token], lines: Sequence[str], sent_on: date | None, airports: Airports
) -> list[Leg]:
    anchors = anchors[:MAX_LEGS]
    years = Years([token for token in tokens if token.sort == "date"], sent_on)
    readings = [
        [_leg(anchor, part, tokens, lines, years, airports) for anchor, part in parts(anchors, tokens)]
        for parts in (_following, _preceding)
    ]
    # Some senders print the details after the flight number, others before it: the reading that explains more wins.
    best = max(readings, key=lambda legs: sum(leg.known for leg in legs))
    return _each_once(leg.arriving(airports) for leg in best if leg.known >= 2)


def _journeys(numbers: Sequence[Token], tokens: Sequence[Token]) -> list[Token]:
    """Return the numbers that are labelled as flights, or that have times and places around them."""
    sorts: defaultdict[int, set[Sort]] = defaultdict(set)
    for token in tokens:
        sorts[token.line].add(token.sort)

    def stands_among(number: Token) -> bool:
        near = set[Sort]().union(*(sorts[at] for at in range(number.line - _AROUND, number.line + _AROUND + 1)))
        return "time" in near and bool(near & {"airport", "date"})

    return [number for number in numbers if number.labelled or stands_among(number)]


Part = list[tuple[Token, list[Token]]]


def _following(anchors: Sequence[Token], tokens: Sequence[Token]) -> Part:
    """Each flight with the tokens of its line and those up to the next flight."""
    ends = [*(anchor.line for anchor in anchors[1:]), 10**9][: len(anchors)]
    return [
        (anchor, [token for token in tokens if anchor.line <= token.line < max(end, anchor.line + 1)])
        for anchor, end in zip(anchors, ends, strict=True)
    ]


def _preceding(anchors: Sequence[Token], tokens: Sequence[Token]) -> Part:
    """Each flight with the tokens of its line and those back to the previous flight."""
    starts = [-1, *(anchor.line for anchor in anchors[:-1])][: len(anchors)]
    return [
        (anchor, [token for token in tokens if min(start, anchor.line - 1) < token.line <= anchor.line])
        for anchor, start in zip(anchors, starts, strict=True)
    ]


def _each_once(legs: Iterable[Leg]) -> list[Leg]:
    """Merge repeated mentions of a flight on a day, with the details of both."""
    found: dict[tuple[str, str, date | None], Leg] = {}
    for leg in legs:
        name = leg.airline, leg.number, leg.departure.day
        same = found.get(name)
        found[name] = leg if same is None or leg.known > same.known else same
    dated = {key[:2] for key in found if key[2] is not None}
    return [leg for key, leg in found.items() if key[2] is not None or key[:2] not in dated]


# -- years -------------------------------------------------------------------------------------------------------------


class Years:
    """Infer missing years: from the same day with a year, from the day the text was sent, else from the nearest earlier
    date that has a year.
    """

    def __init__(self, tokens: Sequence[Token], sent_on: date | None) -> None:
        self.sent_on = sent_on
        self._full: list[tuple[int, Date]] = [
            (token.line, token.value) for token in tokens if token.value.year is not None
        ]
        self._same = {(full.day, full.month): full for _, full in self._full}

    def day(self, written: Date, line: int, begins: date | None = None) -> date | None:
        """Return the date, not before `begins`."""
        if written.year is not None:
            return written.resolve_date(None)
        same = self._same.get((written.day, written.month))
        if same is not None:
            return same.resolve_date(None)
        before = [full.resolve_date(None) for at, full in self._full if at <= line]
        return written.resolve_date(begins or self.sent_on or (before[-1] if before else None))


# -- one leg -----------------------------------------------------------------------------------------------------------


def _leg(
    anchor: Token,
    part: Sequence[Token],
    tokens: Sequence[Token],
    lines: Sequence[str],
    years: Years,
    airports: Airports,
) -> Leg:
    airline, number = anchor.value
    clocks = _by_side([token for token in part if token.sort == "time"])
    heading = [token for token in tokens if token.sort == "date" and token.line < anchor.line]
    days = _by_side(_own_dates(part, clocks, bool(heading)))
    codes = _by_side(_distinct([token for token in part if token.sort == "airport"]))
    terminals = _terminals(part, codes, clocks)
    names = _names(part, lines, codes, airports)
    first = days.get("departure") or (heading[-1] if heading and not days else None)
    begins = years.day(first.value, first.line) if first else None
    last = days.get("arrival")
    ends = years.day(last.value, last.line, begins) if last else None
    begun: dict[Side, date | None] = {"departure": begins, "arrival": ends}
    found = {
        side: Stop(
            code=codes[side].value if side in codes else None,
            name=names.get(side),
            day=day if day is None or begins is None or day >= begins else None,
            clock=clocks[side].value if side in clocks else None,
            terminal=terminals.get(side),
        )
        for side, day in begun.items()
    }
    result = _from_prose([lines[at] for at in sorted({token.line for token in part})], found, years, airports)
    return Leg(airline, number, result["departure"], result["arrival"], anchor.line)


def _own_dates(part: Sequence[Token], clocks: dict[Side, Token], headed: bool) -> list[Token]:
    """Return the dates of a part. If days are headings, those after its last time belong to the next flight."""
    last = max((clock.line for clock in clocks.values()), default=10**9) if headed and len(clocks) == 2 else 10**9
    return [token for token in part if token.sort == "date" and (token.line <= last or token.side is not None)]


def _from_prose(lines: Sequence[str], found: dict[Side, Stop], years: Years, airports: Airports) -> dict[Side, Stop]:
    """Return the stops, with missing details filled from running text: "to Paris", "on Tuesday"."""
    text = "\n".join(lines)
    places = named_places(text, airports)
    day = found["departure"].day or weekday_in(text, years.sent_on)
    stops = {side: replace(stop, name=stop.name or places.get(side)) for side, stop in found.items()}
    codes = {side: places[side] for side in places if places[side] in airports}
    if codes and not all(stop.code in (None, codes.get(side)) for side, stop in stops.items()):
        # In running text the order of the places means nothing, the words before them do.
        stops = {side: replace(stop, code=codes.get(side), name=places.get(side)) for side, stop in stops.items()}
    stops["departure"] = replace(stops["departure"], day=day)
    return {side: _add_code(stop, airports) for side, stop in stops.items()}


def _add_code(stop: Stop, airports: Airports) -> Stop:
    if stop.code is not None or not stop.name:
        return stop
    return replace(stop, code=stop.name if stop.name in airports else airports.find_code(stop.name))


def _by_side(tokens: Sequence[Token]) -> dict[Side, Token]:
    """Return departure and arrival among tokens of one sort: by the labels of their lines, the rest in order.

    Two of them on one labelled line are two columns.
    """
    found: dict[Side, Token] = {}
    for token in tokens:
        if token.side is None:
            continue
        taken = found.get(token.side)
        if taken is None:
            found[token.side] = token
        elif taken.line == token.line and token.side == "departure":
            found.setdefault("arrival", token)
    if "departure" in found and "arrival" in found:
        return found
    for token in tokens:
        if token.side is None:
            free = [side for side in _SIDES if side not in found]
            same_day = token.sort == "date" and any(token.value.day == one.value.day for one in found.values())
            if free and not (same_day and "departure" in found and not _stands_after(token, found)):
                found[free[0]] = token
    return found


def _stands_after(token: Token, found: dict[Side, Token]) -> bool:
    return all((one.line, one.column) < (token.line, token.column) for one in found.values())


def _distinct(tokens: Sequence[Token]) -> list[Token]:
    """Return the first mention of each airport."""
    seen: dict[str, Token] = {}
    for token in tokens:
        seen.setdefault(token.value, token)
    return list(seen.values())


def _terminals(part: Sequence[Token], codes: dict[Side, Token], clocks: dict[Side, Token]) -> dict[Side, str]:
    """Return the terminals: in the column of a time, else by the line's label, else after an airport or time."""
    found: dict[Side, str] = {}
    for token in part:
        if token.sort == "terminal":
            side = _in_column(token, clocks) or token.side or _side_behind(token, codes) or _side_behind(token, clocks)
            found.setdefault(side or "departure", token.value)
    return found


def _in_column(token: Token, clocks: dict[Side, Token]) -> Side | None:
    if len(clocks) < 2:
        return None
    one, other = clocks["departure"], clocks["arrival"]
    if one.line != other.line or token.line == one.line or abs(one.column - other.column) < _COLUMNS:
        return None
    return min(_SIDES, key=lambda side: abs(clocks[side].column - token.column))


def _side_behind(token: Token, found: dict[Side, Token]) -> Side | None:
    before = [side for side, one in found.items() if (one.line, one.column) <= (token.line, token.column)]
    return before[-1] if before else None


_NOISE = re.compile(r"[\s|*:,;.()\[\]/-]+$|^[\s|*:,;.()\[\]/-]+")
_GAP = re.compile(r"\s{2,}|\s\|\s")


_BETWEEN = re.compile(
    r"[:;|>/]|\.\s|\s[-\u2013\u2014\u2192]+\s|\s{2,}|(?<!\w)(?:from|to|von|nach|via|at|on|de|vers|desde|hasta|da|a)\s"
)
"""What ends the name of a place within a sentence."""
_PARTICLES = frozenset("de del della di do dos da la le les der den am an of the and y et e und sur upon".split())
MAX_NAME_WORDS = 6


def _names(
    part: Sequence[Token], lines: Sequence[str], codes: dict[Side, Token], airports: Airports
) -> dict[Side, str]:
    """Return the name of a place: the rest of a labelled line, else the words next to a time or code."""
    found: dict[Side, str] = {}
    clocks = [token for token in part if token.sort == "time"]
    sided: dict[Side, list[Token]] = {side: [token for token in clocks if token.side == side] for side in _SIDES}
    for side in _SIDES:
        token = codes.get(side) or next(iter(sided[side]), None)
        if token is None:
            free = [one for one in clocks if one.side is None]
            token = free[_SIDES.index(side)] if len(free) > 1 and free[0].line != free[1].line else None
        name = place_beside(lines[token.line], token.column) if token is not None else None
        name = _bare(name, codes.get(side)) if name else None
        if name and not _is_name(name, side, codes, airports):
            code = codes.get(side)
            name = _bare(_words_at(lines[code.line], code.column), code) if code is not None else None
        if name and _is_name(name, side, codes, airports):
            found[side] = name
    return found


def _is_name(name: str, side: Side, codes: dict[Side, Token], airports: Airports) -> bool:
    """Return True if the words can name the place of this side: no sentence, and not the other side's airport."""
    found = name.split()
    small = [word for word in found if word[0].islower() and fold_text(word) not in _PARTICLES | NOTHING_SAID]
    if small or len(found) > MAX_NAME_WORDS or re.search(r"[\d:]", name):
        return False
    own, other = codes.get(side), next((code for of, code in codes.items() if of != side), None)
    if own is None or other is None or own.value == other.value:
        return True
    return airports.shares_words(own.value, name) or not airports.shares_words(other.value, name)


def _words_at(line: str, column: int) -> str:
    """Return the words of a sentence around a column, without the number of the flight."""
    start = max([0, *(match.end() for match in _BETWEEN.finditer(line, 0, column))])
    end = min([len(line), *(match.start() for match in _BETWEEN.finditer(line, column)), *_commas(line, column)])
    return FLIGHT_NUMBER.sub(" ", line[start:end])


def _commas(line: str, column: int) -> Iterator[int]:
    found = line.find(",", column)
    if found >= 0:
        yield found


def _bare(name: str, code: Token | None) -> str:
    """Return the name without its airport's code and without the word before it."""
    if code is not None:
        name = re.sub(rf"(?<!\w)\(?{code.value}\)?(?!\w)", " ", name)
    return _NOISE.sub(
        "", re.sub(r"^(?:from|to|von|nach|via|at)(?:\s+|$)", "", " ".join(name.split()), flags=re.IGNORECASE)
    )


def place_beside(line: str, column: int) -> str | None:
    """Return the words on a line that name a place, those nearest to `column` first."""
    words = line
    for pattern in _STRIP:
        words = pattern.sub(lambda match: " " * len(match.group()), words)
    label = DEPARTURE.match(words.lstrip()) or ARRIVAL.match(words.lstrip())
    if label:
        cut = len(words) - len(words.lstrip()) + label.end()
        words = " " * cut + words[cut:]
    pieces: list[tuple[int, str]] = []
    start = 0
    for piece in _GAP.split(words):
        at = words.find(piece, start) if piece else start
        start = at + len(piece)
        clean = _NOISE.sub("", piece)
        if sum(c.isalpha() for c in clean) >= 3:
            pieces.append(
                (abs(at + len(piece) // 2 - column), clean + (")" if clean.count("(") > clean.count(")") else ""))
            )
    return min(pieces)[1] if pieces else None


_STRIP: Sequence[re.Pattern[str]] = (
    re.compile(r"(?<!\w)\d{1,2}[:.h]\d\d(?::\d\d)?(?:\s?[ap]\.?m\.?)?(?:\s?(?:Uhr|hrs?|h))?(?!\w)", re.IGNORECASE),
    re.compile(r"(?<!\w)\d{1,2}[./-]?\s?[^\W\d_]{3,9}\.?(?:[ ./-]\d{2,4})?(?=\s|$)(?=\s{2}|\s\d|$)"),
    re.compile(r"(?<!\w)\d{1,4}[./-]\d{1,2}[./-]\d{2,4}(?!\w)"),
    re.compile(r",?(?:(?<!\s)\s++)?\bterminal\b.*$", re.IGNORECASE),
    re.compile(rf"[,(]?(?:(?<!\s)\s++)?{PLATFORM.pattern}\)?", re.IGNORECASE),
    re.compile(rf"{TRAIN_NUMBER.pattern}\s?(?:,|$)?", re.IGNORECASE),
    re.compile(r"\([A-Z]{3}\)"),
)
