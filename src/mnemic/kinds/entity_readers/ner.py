"""Entities by rules and by a named-entity model, which finds more names and their kinds but no relations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mnemic.extract.entities import EntityReading, NamedEntity
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.language.entities.relations import ORGANISATION, PERSON, PLACE, THING
from mnemic.language.text.names import core
from mnemic.types import Deadline, Message, Skipped

FoundNames = Iterable[tuple[int, int, str]]
"""Begin, end and label (OntoNotes) of each name in a text."""

LABELS_OF: Mapping[str, str] = MappingProxyType(
    {
        "PERSON": PERSON,
        "ORG": ORGANISATION,
        "GPE": PLACE,
        "LOC": PLACE,
        "FAC": PLACE,
        "EVENT": "event",
        "PRODUCT": "product",
        "WORK_OF_ART": "product",
    }
)
"""The labels of OntoNotes 5 in our terms; the others (dates, sums, languages) name no entity."""


class NamesEntityReader:
    """`RuleEntityReader` extended by the names that `find` detects, and by their kinds if rules give none.

    `find` runs in a thread. Rules alone decide whether a sentence states anything: a name in a question, a hypothesis
    or a quotation is left out. Relations come from rules only.
    """

    def __init__(self, find: Callable[[str], FoundNames]) -> None:
        self._find = find
        self._rules = RuleEntityReader()

    async def read(self, message: Message, *, deadline: Deadline) -> EntityReading:
        """See `EntityReader`."""
        reading = await self._rules.read(message, deadline=deadline)
        if any(one.reason == "origin" for one in reading.skipped):
            return reading
        found = await asyncio.to_thread(lambda: list(self._find(message.content)))
        recognised = [
            NamedEntity(name=message.content[start:end], label=LABELS_OF[label], span=(start, end))
            for start, end, label in found
            if label in LABELS_OF and not is_left_out(start, reading.skipped)
        ]
        return replace(reading, named=tuple(join_entities(reading.named, recognised)))


def is_left_out(place: int, skipped: Sequence[Skipped]) -> bool:
    """Return True if the words at `place` state nothing."""
    return any(one.span is not None and one.span[0] <= place < one.span[1] for one in skipped)


def join_entities(by_rules: Sequence[NamedEntity], found: Sequence[NamedEntity]) -> list[NamedEntity]:
    """Return every name once. A kind given by a rule takes precedence over one given by the model."""
    new = {core(one.name, one.label): one for one in reversed(found)}
    known = {core(name, THING) for one in by_rules for name in (one.name, *one.aliases)}
    known |= {core(name, one.label) for one in by_rules for name in (one.name, *one.aliases)}
    labels = {name: one.label for name, one in new.items()}
    kept = [
        replace(one, label=labels.get(core(one.name, THING), THING)) if one.label == THING else one for one in by_rules
    ]
    return [*kept, *(one for name, one in reversed(new.items()) if name not in known and not _inside(one, by_rules))]


def _inside(one: NamedEntity, by_rules: Sequence[NamedEntity]) -> bool:
    """Return True if it is a part of a longer name that rules read."""
    return any(f" {core(one.name, THING)} " in f" {core(other.name, THING)} " for other in by_rules)
