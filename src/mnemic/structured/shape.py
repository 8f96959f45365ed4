"""A shape of structured data: a name, a schema, and the identity of its things."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import total_ordering
from itertools import product
from typing import Any, NamedTuple

from mnemic.errors import InvalidInput
from mnemic.language.text.names import fold_name
from mnemic.structured.schema import Schema
from mnemic.types.facets import day_facet, undated_facet, value_facet
from mnemic.types.filter_language import accepts, check_conditions

_TITLES = frozenset("mr mrs ms miss mstr dr prof chd inf".split())
_WORD = re.compile(r"\w+")


def may_be_one(one: Any, other: Any) -> bool:
    """Return False if the two name different people: every word of the shorter name must occur in the longer one.

    A name is a text, or an object with `name` or with `givenName` and `familyName`. Letter case, accents, order and
    titles are ignored. If one of them has no name, the two are compatible.
    """
    short, long = sorted((person_words(one), person_words(other)), key=len)
    return all(any(_alike(word, another) for another in long) for word in short)


def person_words(value: Any) -> tuple[str, ...]:
    """Return the words of a name in alphabetical order, folded, without titles; empty if there is no name."""
    if isinstance(value, Mapping):
        value = value.get("name") or " ".join(str(value.get(part) or "") for part in ("givenName", "familyName"))
    if not isinstance(value, str):
        return ()
    return tuple(sorted(set(_WORD.findall(fold_name(value))) - _TITLES))


def _alike(one: str, other: str) -> bool:
    """Return True for equal words, also if an airline has appended the title to the given name (`ANAMRS`)."""
    short, long = sorted((one, other), key=len)
    return long.startswith(short) and long[len(short) :] in {"", *_TITLES}


def merge(known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return `new` over `known`, field by field. Neither is changed."""
    return {
        name: _merge_values(name, known.get(name), new.get(name))
        for name in [*known, *(name for name in new if name not in known)]
    }


def _merge_values(name: str, known: Any, new: Any) -> Any:
    if new in (None, "") or new == [] or new == {}:
        return known
    if known in (None, ""):
        return new
    if isinstance(known, Mapping) and isinstance(new, Mapping):
        return merge(known, new)
    if isinstance(known, str) and isinstance(new, str):
        return _text(name, known, new)
    return new


def _text(name: str, known: str, new: str) -> str:
    if name.lower().endswith("name") and _same_name(known, new):
        return max(known, new, key=_worth)
    if new.startswith(("http://", "https://")) and not known.startswith(("http://", "https://")):
        return known
    return new


def _same_name(known: str, new: str) -> bool:
    """Return True if the words of one are those of the other, or begin them ("K Ottens" and "Kevin Ottens")."""
    shorter, longer = sorted((_words(known), _words(new)), key=lambda words: (len(words), sum(map(len, words))))
    return bool(shorter) and all(any(word.startswith(part) for word in longer) for part in shorter)


def _words(name: str) -> list[str]:
    folded = unicodedata.normalize("NFKD", name.casefold())
    return "".join(c if c.isalnum() else "" if unicodedata.combining(c) else " " for c in folded).split()


def _worth(name: str) -> tuple[int, bool, int]:
    """Rank a spelling by its information: its letters, then mixed case, then accents."""
    accents = sum(not c.isascii() for c in name)
    return sum(map(len, _words(name))), not (name.isupper() or name.islower()), accents


@total_ordering
class Comparable(NamedTuple):
    """A time in its form for comparison; `local` if its text has no offset."""

    text: str
    local: bool

    def __lt__(self, other: tuple[object, ...]) -> bool:
        return self.text < str(other[0])


def comparable(text: object, *, local: bool = False) -> Comparable:
    """Return `text` in a comparable form; with `local` without its offset. A text that is not a time is unchanged."""
    try:
        moment = datetime.fromisoformat(str(text).strip().upper())
        if moment.tzinfo is None or local:
            return Comparable(moment.replace(tzinfo=None).isoformat(), True)
        return Comparable(moment.astimezone(UTC).replace(tzinfo=None).isoformat(), False)
    except (ValueError, OverflowError):
        return Comparable(str(text), True)


MAX_DAYS = 62
"""The longest span of days that is looked up day by day; a longer one is looked through."""

MAX_TITLE_CHARS = 120
MAX_CONTEXT_CHARS = 4096


def _as_given(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return data


def field_at(data: object, path: Sequence[str]) -> Any:
    """Return the value at `path` in JSON data; None if there is none."""
    for name in path:
        if not isinstance(data, Mapping):
            return None
        data = data.get(name)
    return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Shape of data called `name`.

    `identity` are the fields (dotted paths) that identify an item; without any, every `put` creates a new one. The
    first of them is required. `person` is the field that names whom the item is for: items that name different people
    are different. `title` are the fields of its one-line content. `normalise` brings data into the stored form before
    validation. Raises InvalidConfig for a schema that cannot be used.
    """

    name: str
    schema: Schema
    identity: tuple[str, ...] = ()
    person: str | None = None
    title: tuple[str, ...] = ()
    modified: str | None = None
    normalise: Callable[[Mapping[str, Any]], Mapping[str, Any]] = field(default=_as_given, repr=False)

    def check_data(self, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return `data` as it is stored. Raises InvalidInput (`invalid_input:data:<path>:<keyword>`)."""
        if not isinstance(data, Mapping):
            raise InvalidInput("data", hint="it must be a JSON object")
        stored = self.normalise(data)
        self.schema.require(stored)
        return stored

    def key(self, data: Mapping[str, Any]) -> str | None:
        """Return the key of the item: a hash of the known part of its identity; None without the first field of it."""
        values = [self._identifier(data, path) for path in self.identity]
        # Without a name the key is that of a shape without `person`.
        values += person_words(self._identity(data))
        return self._key(values) if values and values[0] is not None else None

    def keys(self, data: Mapping[str, Any]) -> list[str] | None:
        """Return every key under which the same item may be stored, including those of writers who knew less of its
        identity; None if `data` leaves a part of the identity open, so that others may have known more, and people's
        names are a part.
        """
        if self.person is not None:
            return None
        first, *others = [self._identifier(data, path) for path in self.identity] or [None]
        if first is None or None in others:
            return None
        return [self._key([first, *known]) for known in product(*((value, None) for value in others))]

    def _key(self, values: Sequence[str | None]) -> str:
        digest = hashlib.sha256(json.dumps(values).encode("utf-8", "surrogatepass")).hexdigest()
        return f"{self.name}:{digest[:24]}"

    def same(self, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
        """Return True if both name the same thing: equal in the first field of the identity, and in each other one that
        both have, for what may be the same person.
        """
        pairs = [(self._identifier(one, path), self._identifier(other, path)) for path in self.identity]
        return (
            bool(pairs)
            and None not in pairs[0]
            and all(left == right for left, right in pairs if left is not None and right is not None)
            and may_be_one(self._identity(one), self._identity(other))
        )

    def same_facets(self, data: Mapping[str, Any]) -> Sequence[frozenset[str]]:
        """Return the facets of which every version of the same item as `data` has one; empty if that cannot be
        determined.
        """
        path = self.identity[0].split(".")
        value = field_at(data, path)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return ()
        if (self.schema.find_property(path) or {}).get("format") == "date-time":
            day = _day_of(value, own=True)
            return () if day is None else (frozenset({day_facet(self.identity[0], day.isoformat(), utc=False)}),)
        return (frozenset(value_facet(self.identity[0], one) for one in (value, str(value), *_number(value))),)

    def merge_data(self, known: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
        """One version of both: the later one by `modified`, else `new`, prevails."""
        stamps = [field_at(data, self.modified.split(".")) if self.modified else None for data in (known, new)]
        if all(isinstance(stamp, str) for stamp in stamps) and comparable(stamps[0]) > comparable(stamps[1]):
            known, new = new, known
        return merge(known, new)

    def _identity(self, data: Mapping[str, Any]) -> Any:
        return None if self.person is None else field_at(data, self.person.split("."))

    def _identifier(self, data: Mapping[str, Any], path: str) -> str | None:
        value = field_at(data, path.split("."))
        if value in (None, "") or isinstance(value, Mapping | list | tuple):
            return None
        if (self.schema.find_property(path.split(".")) or {}).get("format") == "date-time":
            return str(value)[:10]
        return str(value).strip().casefold()

    # -- words ---------------------------------------------------------------------------------------------------------

    def content(self, data: Mapping[str, Any]) -> str:
        """Return the text for lists: the name and the title's fields."""
        said = [str(value) for path in self.title if (value := field_at(data, path.split("."))) is not None]
        return " ".join([self.name, *said])[:MAX_TITLE_CHARS].strip()

    def context(self, data: Mapping[str, Any]) -> str:
        """Every word of the data, so that a search finds it."""
        return " ".join(_texts(data))[:MAX_CONTEXT_CHARS]

    # -- queries -------------------------------------------------------------------------------------------------------

    def conditions(self, where: Mapping[str, Any]) -> tuple[Condition, ...]:
        """Return `where`, checked: each name (dotted for nested fields) must exist in the schema.

        Raises InvalidInput (`invalid_input:field:<name>`, `:operator`).
        """
        check_conditions(where)
        return tuple(self._condition(name, wanted) for name, wanted in where.items())

    def _condition(self, name: str, wanted: Any) -> Condition:
        path = tuple(str(name).split("."))
        schema = self.schema.find_property(path)
        if schema is None:
            raise InvalidInput(f"field:{name}", hint="the schema names no such field")
        return Condition(path, wanted, timed=schema.get("format") == "date-time")


@dataclass(frozen=True, slots=True)
class Condition:
    """Check of one field and its condition; see `mnemic.types.filter_language`. Times are compared as times."""

    path: tuple[str, ...]
    wanted: Any = field(repr=False)
    timed: bool = False

    def met_by(self, data: Mapping[str, Any]) -> bool:
        """Return True if the field of `data` is as wanted."""
        value, wanted = field_at(data, self.path), self.wanted
        if not self.timed or not isinstance(value, str):
            return accepts({"field": value}, {"field": wanted})
        wall_clock = _by_wall_clock(wanted)
        value = comparable(value, local=wall_clock).text
        if isinstance(wanted, Mapping):
            wanted = {name: comparable(one, local=wall_clock).text for name, one in wanted.items()}
        elif isinstance(wanted, str):
            wanted = comparable(wanted, local=wall_clock).text
        return accepts({"field": value}, {"field": wanted})

    def facets(self) -> frozenset[str] | None:
        """Return the facets of which every match has one; None if they would be too many or cannot be determined."""
        path, wanted = ".".join(self.path), self.wanted
        if isinstance(wanted, Mapping) and "$eq" in wanted:
            wanted = wanted["$eq"]
        if self.timed:
            found = _days(wanted)
            if found is None:
                return None
            days, utc = found
            return frozenset({undated_facet(path), *(day_facet(path, day, utc=utc) for day in days)})
        if isinstance(wanted, bool | int | float | str):
            return frozenset({value_facet(path, wanted)})
        return None


def _number(value: object) -> list[float]:
    """Return the number that a text may also be written as."""
    try:
        return [float(str(value))]
    except (ValueError, OverflowError):
        return []


def _days(wanted: Any) -> tuple[list[str], bool] | None:
    """Return every day of a matching time, and whether these are days in UTC; None if they are too many
    or cannot be determined.
    """
    if isinstance(wanted, Mapping):
        low = next((wanted[name] for name in ("$gt", "$gte") if name in wanted), None)
        high = next((wanted[name] for name in ("$lt", "$lte") if name in wanted), None)
    else:
        low = high = wanted
    own = _by_wall_clock(wanted)
    first, last = _day_of(low, own=own), _day_of(high, own=own)
    if first is None or last is None or (last - first).days > MAX_DAYS:
        return None
    return [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)], not own


def _day_of(text: object, *, own: bool) -> date | None:
    try:
        return datetime.fromisoformat(comparable(text, local=own).text).date() if isinstance(text, str) else None
    except (ValueError, OverflowError):
        return None


def _by_wall_clock(wanted: Any) -> bool:
    return any(isinstance(one, str) and comparable(one).local for one in _operands(wanted))


def _operands(wanted: Any) -> list[Any]:
    return list(wanted.values()) if isinstance(wanted, Mapping) else [wanted]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if not str(name).startswith("@"):
                yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
