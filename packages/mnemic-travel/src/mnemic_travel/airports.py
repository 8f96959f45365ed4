"""Airports by code and by the names that confirmations use."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mnemic.language.text.pattern import Pattern
from mnemic_travel.months import fold_text

_WORD = Pattern(r"[^\W_]+")
_CERTAIN = 0.75
"""Minimum share of a name's words, weighted by their rarity, that an airport must have in its name to match."""
_CLOSE = 0.02
_CITIES = {
    english: frozenset(names.split())
    for english, names in {
        "antwerp": "antwerpen anvers", "athens": "athen athenes atenas atene", "barcelona": "barcelone barcellona",
        "basel": "bale basle basilea", "beijing": "peking pekin pechino", "belgrade": "belgrad beograd",
        "berlin": "berlino", "bologne": "bologna", "brussels": "bruxelles brussel bruessel bruselas",
        "bucharest": "bukarest bucuresti bucarest", "cairo": "kairo caire", "cologne": "koln koeln colonia",
        "copenhagen": "kopenhagen kobenhavn copenhague copenaghen", "dublin": "dublino", "dusseldorf": "duesseldorf",
        "edinburgh": "edinburg edimbourg",
        "florence": "florenz firenze florencia", "frankfurt": "francfort francoforte",
        "geneva": "genf geneve ginevra ginebra", "genoa": "genua genova", "gothenburg": "goteborg",
        "hamburg": "hambourg amburgo", "hanover": "hannover", "havana": "havanna habana", "helsinki": "helsingfors",
        "krakow": "krakau cracovie cracow", "lisbon": "lissabon lisboa lisbonne", "ljubljana": "laibach",
        "london": "londres londra londen", "luxembourg": "luxemburg", "lyon": "lione", "marseille": "marsiglia",
        "milan": "mailand milano", "moscow": "moskau moskva moscou mosca", "munich": "munchen muenchen monaco",
        "naples": "neapel napoli", "new york": "nueva", "nice": "nizza niza", "nuremberg": "nurnberg nuernberg",
        "paris": "parigi", "porto": "oporto", "prague": "prag praha praga", "rome": "rom roma",
        "saint petersburg": "petersburg", "seville": "sevilla siviglia", "stockholm": "stoccolma estocolmo",
        "stuttgart": "stoccarda", "tokyo": "tokio", "turin": "torino", "valencia": "valence",
        "venice": "venedig venezia",
        "vienna": "wien vienne", "warsaw": "warschau warszawa varsovie", "zurich": "zuerich zurigo",
    }.items()
}  # fmt: skip
"""Other names of cities, in the table's English."""
_MAIN = {
    "athens": "ATH", "atlanta": "ATL", "auckland": "AKL", "barcelona": "BCN", "boston": "BOS", "copenhagen": "CPH",
    "dallas": "DFW", "delhi": "DEL", "denver": "DEN", "doha": "DOH", "dubai": "DXB", "dublin": "DUB",
    "edinburgh": "EDI",
    "frankfurt": "FRA", "hong kong": "HKG", "angeles los": "LAX", "madrid": "MAD", "manchester": "MAN",
    "melbourne": "MEL", "mexico": "MEX", "miami": "MIA", "montreal": "YUL", "munich": "MUC", "oslo": "OSL",
    "philadelphia": "PHL", "seattle": "SEA", "singapore": "SIN", "sydney": "SYD", "toronto": "YYZ", "vancouver": "YVR",
    "warsaw": "WAW", "zurich": "ZRH",
}  # fmt: skip
"""The usual airport of a city with several (words in alphabetical order)."""
_SEVERAL = frozenset(
    "bangkok beijing berlin chicago houston istanbul london milan moscow osaka paris rome seoul shanghai stockholm "
    "tokyo washington".split()
) | {"new york", "aires buenos", "janeiro rio", "paulo sao", "kuala lumpur"}
"""Cities whose name alone is ambiguous, even if only one airport has it."""
_ENGLISH = {name: english for english, names in _CITIES.items() for name in names}
NOTHING_SAID = frozenset(
    "airport flughafen aeroport aeropuerto aeroporto lufthavn flygplats luchthaven international intl".split()
)


@dataclass(frozen=True, slots=True)
class Airport:
    """One airport: its IATA code, its name, city and region, its country (ISO 3166) and time zone (IANA)."""

    code: str
    name: str
    city: str
    region: str = ""
    country: str = ""
    zone: str = ""


_CLOSED = (Airport("SXF", "Berlin Schönefeld Airport", "Berlin", "Brandenburg", "DE", "Europe/Berlin"),)


@dataclass(frozen=True)
class Airports:
    """A table of airports. An empty one matches nothing, and details that depend on it stay unknown."""

    rows: Sequence[Airport] = field(default=(), repr=False)

    @cached_property
    def _by_code(self) -> dict[str, Airport]:
        return {row.code: row for row in self.rows}

    def get(self, code: str) -> Airport | None:
        """Return the airport with this code."""
        return self._by_code.get(code)

    def __contains__(self, code: object) -> bool:
        return code in self._by_code

    def __bool__(self) -> bool:
        return bool(self.rows)

    def find_code(self, name: str) -> str | None:
        """Return the code of the airport called `name` ("BERLIN, DE (TEGEL)", "London Heathrow"); None if no airport,
        or more than one, fits.
        """
        named = [word for one in words(name) for word in _ENGLISH.get(one, one).split() if word not in NOTHING_SAID]
        asked = [word for word in named if len(word) > 2] or named
        if not asked or not self.rows or " ".join(sorted(asked)) in _SEVERAL:
            return None
        total = sum(self._rarity(word) for word in asked)
        scores: defaultdict[str, float] = defaultdict(float)
        for word in dict.fromkeys(asked):
            for code, share in self._holding(word).items():
                scores[code] += share * self._rarity(word)
        best = max(scores.values(), default=0.0)
        if best < _CERTAIN * total:
            return None
        close = [code for code, score in scores.items() if score >= best - _CLOSE * total]
        return self._likeliest(close, set(named))

    def shares_words(self, code: str, name: str) -> bool:
        """Return True if a name has a word of the name or city of the airport with this code."""
        row = self._by_code.get(code)
        named = {_ENGLISH.get(word, word) for word in words(name)} - NOTHING_SAID
        return row is not None and not named.isdisjoint(words(f"{row.name} {row.city}"))

    def _likeliest(self, codes: Sequence[str], named: set[str]) -> str | None:
        """Return, of several airports, the one in the named country, if its name has no further words or it is the
        usual airport of the city.
        """
        rows = [self._by_code[code] for code in codes]
        rows = [row for row in rows if row.country.lower() in named] or rows
        main = _MAIN.get(" ".join(sorted(named - {row.country.lower() for row in rows})))
        if len(rows) > 1:
            rows = [row for row in rows if row.code == main or not set(words(row.name)) - named - NOTHING_SAID]
        return rows[0].code if len(rows) == 1 else None

    def _rarity(self, word: str) -> float:
        """Return the weight of a word by its rarity; a word in no airport's name ("Co", a misprint) weighs little."""
        holding = len(self._holding(word))
        return math.log(1 + len(self.rows) / (1 + holding)) if holding else 2.0

    def _holding(self, word: str) -> dict[str, float]:
        """Return the airports with `word` in their name, or a word that shares a prefix of four letters or more."""
        found = dict.fromkeys(self._postings.get(word, ()), 1.0)
        if len(word) >= 4:
            for other in self._starting[word[:4]]:
                if other != word and (other.startswith(word) or word.startswith(other)):
                    for code in self._postings[other]:
                        found.setdefault(code, 0.8)
        return found

    @cached_property
    def _postings(self) -> dict[str, set[str]]:
        postings: defaultdict[str, set[str]] = defaultdict(set)
        for row in self.rows:
            for word in words(f"{row.name} {row.city} {row.region} {row.country} {row.code}"):
                postings[word].add(row.code)
        return dict(postings)

    @cached_property
    def _starting(self) -> defaultdict[str, list[str]]:
        starting: defaultdict[str, list[str]] = defaultdict(list)
        for word in self._postings:
            if len(word) >= 4:
                starting[word[:4]].append(word)
        return starting


def words(text: str) -> list[str]:
    """Return the words of a name, folded."""
    return [fold_text(word) for word in _WORD.findall(text)]


def airports_of(rows: Iterable[Mapping[str, object]]) -> Airports:
    """Return the table of rows as the package `airportsdata` has them, and the airports that were closed lately."""
    names = ("iata", "name", "city", "subd", "country", "tz")
    table = tuple(Airport(*(str(row.get(name, "")) for name in names)) for row in rows if row.get("iata"))
    return Airports((*table, *_CLOSED) if table else ())
