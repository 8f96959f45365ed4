"""Travel confirmations, field by field: the share of fields that extraction by rules reads exactly.

PATH is a file, or a folder searched with everything under it. A document is a `.txt`, `.html`, `.eml` or `.ics` with
its gold, a JSON list of schema.org reservations, in `<document>.json` or `<stem>.json` beside it; three files
`<stem>.lhs.json`, `.rhs.json` and `.merged.json` are two versions of a reservation and what they make together. The day
a document was sent is an input: a mail's own date, else that of a `context.eml` beside or above it, else the gold's
`modifiedTime`, which the set's makers took from that mail.

`exact` is the share of the gold's fields, of those that `FIELDS` names, that are read exactly: codes and numbers as
they are, days as days, times by the local clock, names without case. Every field of a gold reservation that was not
found at all counts as missed. `precision` is the share of what was read that the gold says too. `more` are fields that
no aim is set for. Split: by the checksum (CRC-32) of the document's path below PATH, so that no document is in both.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.structured.shape import field_at
from mnemic_eval.conditions import conditions
from mnemic_eval.outcome import SEED, SPLITS
from mnemic_eval.progress import Progress, silent
from mnemic_eval.samples import files, half, json_list, share, shares_of_true
from mnemic_travel.airport_table import airport_table
from mnemic_travel.airports import Airports
from mnemic_travel.document import document_of
from mnemic_travel.reservation_reader import reservations
from mnemic_travel.schema_org import RESERVATIONS, normal

_DOCUMENTS = (".txt", ".html", ".htm", ".eml", ".ics")
_STATIONS = ("Airport", "Station", "BusStop")


@dataclass(frozen=True, slots=True)
class _Field:
    """A field: its possible paths, and the form in which it is compared."""

    paths: tuple[str, ...]
    form: Callable[[str], str] = str.strip

    def value_of(self, reservation: Mapping[str, Any]) -> str | None:
        values = (field_at(reservation, path.split(".")) for path in self.paths)
        value = next((one for one in values if one not in (None, "")), None)
        return None if value is None else self.form(str(value))


def _day(value: str) -> str:
    return value[:10]


def _clock(value: str) -> str:
    match = re.search(r"T(\d\d:\d\d)", value)
    return match[1] if match else ""


def _value_of(thing: str) -> str:
    return f"reservationFor.{thing}"


def _ends(end: str, name: str) -> tuple[str, ...]:
    return tuple(_value_of(f"{end}{station}.{name}") for station in _STATIONS)


FIELDS: Mapping[str, _Field] = {
    "number": _Field((_value_of("flightNumber"), _value_of("trainNumber"), _value_of("busNumber"))),
    "airline": _Field((_value_of("airline.iataCode"),)),
    "departure_airport": _Field((_value_of("departureAirport.iataCode"),)),
    "arrival_airport": _Field((_value_of("arrivalAirport.iataCode"),)),
    "departure_station": _Field(_ends("departure", "name")[1:], str.casefold),
    "arrival_station": _Field(_ends("arrival", "name")[1:], str.casefold),
    "departure_date": _Field((_value_of("departureTime"), _value_of("departureDay")), _day),
    "departure_time": _Field((_value_of("departureTime"),), _clock),
    "arrival_date": _Field((_value_of("arrivalTime"),), _day),
    "arrival_time": _Field((_value_of("arrivalTime"),), _clock),
    "departure_terminal": _Field((_value_of("departureTerminal"),)),
    "arrival_terminal": _Field((_value_of("arrivalTerminal"),)),
    "place": _Field((_value_of("name"),), str.casefold),
    "start": _Field(("checkinTime", "startTime", "pickupTime", _value_of("startDate"))),
    "end": _Field(("checkoutTime", "endTime", "dropoffTime", _value_of("endDate"))),
    "booking_code": _Field(("reservationNumber",)),
}
"""The fields that count, for every type of reservation that has them."""
MORE: Mapping[str, _Field] = {
    "passenger": _Field(("underName.name",), str.casefold),
    "status": _Field(("reservationStatus",)),
    "seat": _Field(("airplaneSeat", "reservedTicket.ticketedSeat.seatNumber")),
    "ticket": _Field(("reservedTicket.ticketToken",)),
    "gate": _Field((_value_of("departureGate"),)),
    "boarding_time": _Field((_value_of("boardingTime"),), _clock),
}


@dataclass(slots=True)
class _Seen:
    """Observations in one half."""

    fields: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    more: dict[str, list[bool]] = field(default_factory=lambda: defaultdict(list))
    said: list[bool] = field(default_factory=list)
    documents: int = 0
    spurious: int = 0

    def figures(self) -> dict[str, Any]:
        exact = [right for every in self.fields.values() for right in every]
        return {
            "exact": share(sum(exact), len(exact)),
            "precision": share(sum(self.said), len(self.said)),
            "fields": len(exact),
            "by_field": shares_of_true(self.fields),
            "more": shares_of_true(self.more),
            "documents": self.documents,
            "spurious": self.spurious,
        }

    def look(self, gold: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]]) -> None:
        """Count one document."""
        self.documents += 1
        left = list(found)
        for one in gold:
            best = max(left, key=lambda other: _agreement(one, other), default={})
            if best and _agreement(one, best):
                left.remove(best)
            else:
                best = {}
            self._compare(one, best)
        self.spurious += len(left)
        self.said += [False for one in left for each in FIELDS.values() if each.value_of(one)]

    def _compare(self, gold: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        for names, counts in ((FIELDS, self.fields), (MORE, self.more)):
            for name, each in names.items():
                wanted, read = each.value_of(gold), each.value_of(found)
                if wanted:
                    counts[name].append(wanted == read)
                if read and names is FIELDS:
                    self.said.append(wanted == read)


def _agreement(gold: Mapping[str, Any], found: Mapping[str, Any]) -> int:
    if gold.get("@type") != found.get("@type"):
        return 0
    return sum(each.value_of(gold) == each.value_of(found) is not None for each in (*FIELDS.values(), *MORE.values()))


# -- the set -----------------------------------------------------------------------------------------------------------

Case = tuple[str, list[dict[str, Any]], list[dict[str, Any]]]


def cases(path: Path, airports: Airports) -> Iterator[Case]:
    """Yield name, gold and extraction of every document and every pair of versions."""
    for file in files(path, (*_DOCUMENTS, ".json")):
        name = file.relative_to(path).as_posix() if path.is_dir() else file.name
        if file.name.endswith(".merged.json"):
            yield name, _gold(file), _merge_files(file)
        elif file.suffix.lower() in _DOCUMENTS and file.name != "context.eml":
            beside = [one for one in (Path(f"{file}.json"), file.with_suffix(".json")) if one.is_file()]
            if beside:
                document = document_of(_text(file), sent_on=_sent_on(file, path, json_list(beside[0])))
                yield name, _gold(beside[0]), reservations(document, airports=airports)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "replace")


def _gold(file: Path) -> list[dict[str, Any]]:
    return [normal(one) for one in json_list(file) if isinstance(one, Mapping) and _is_known(one)]


def _is_known(reservation: Mapping[str, Any]) -> bool:
    return str(reservation.get("@type")) in RESERVATIONS


def _merge_files(file: Path) -> list[dict[str, Any]]:
    sides = [_gold(file.with_name(file.name.replace(".merged.", f".{side}."))) for side in ("lhs", "rhs")]
    return [RESERVATIONS[one["@type"]].merge_data(one, other) for one, other in zip(*sides, strict=False)]


def _sent_on(file: Path, root: Path, gold: Sequence[Any]) -> date | None:
    """Return the day on which the document was sent, if known."""
    for folder in file.parents:
        context = folder / "context.eml"
        if context.is_file():
            return document_of(_text(context)).sent_on
        if folder in (root, root.parent):
            break
    stamps = (one.get("modifiedTime") for one in gold if isinstance(one, Mapping))
    stamp = next((one for one in stamps if isinstance(one, str)), "")
    return date.fromisoformat(stamp[:10]) if re.match(r"\d{4}-\d\d-\d\d", stamp) else None


def run(path: str | Path, *, progress: Progress = silent, seed: int = SEED, **_: object) -> dict[str, Any]:
    """Measure the documents at `path`: the figures of all of them, of `dev` and of `test`, and `settings`. Draws
    nothing. Raises InvalidInput for data that is not there or in no known format.
    """
    airports = airport_table()
    halves = {split: _Seen() for split in SPLITS}
    whole = _Seen()
    for place, (name, gold, found) in enumerate(cases(Path(path), airports), start=1):
        halves[half(name)].look(gold, found)
        whole.look(gold, found)
        progress("documents", place, place)
    if not whole.documents:
        raise InvalidInput("data:structured", hint="no document there has its reservations beside it")
    measured = {split: seen.figures() for split, seen in halves.items()}
    settings = conditions(seed=seed, set="structured", embedder="none", airports=len(airports.rows))
    return {**whole.figures(), **measured, "settings": settings}
