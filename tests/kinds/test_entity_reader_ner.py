"""Names that a model finds, joined with what rules read. The real model runs in tests/ner."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from mnemic.extract.entities import EntityReading
from mnemic.kinds.entity_readers.ner import NamesEntityReader
from mnemic.types import Deadline, Message

Find = Callable[[str], Sequence[tuple[int, int, str]]]


def finds(**names: str) -> Find:
    """A model that knows these names by their labels."""
    return lambda text: [
        (text.index(name), text.index(name) + len(name), label) for name, label in names.items() if name in text
    ]


async def read(text: str, find: Find, role: str = "user") -> EntityReading:
    reader = NamesEntityReader(find)
    return await reader.read(Message(role=role, content=text), deadline=Deadline(float("inf"), lambda: 0.0))


def labels(reading: EntityReading) -> dict[str, str]:
    return {one.name: one.label for one in reading.named}


async def test_a_thing_is_what_it_was_found_to_be_and_rules_that_know_stand() -> None:
    reading = await read("I read about Zephyr; my sister Eva liked it.", finds(Zephyr="ORG", Eva="GPE"))
    assert labels(reading) == {"Zephyr": "organisation", "Eva": "person"}


async def test_names_that_rules_do_not_see_are_added_with_their_place() -> None:
    reading = await read("yesterday i met tom in oslo.", finds(tom="PERSON", oslo="GPE"))
    assert labels(reading) == {"tom": "person", "oslo": "place"}
    assert [one.span for one in reading.named] == [(16, 19), (23, 27)]


@pytest.mark.parametrize("label", ["DATE", "MONEY", "CARDINAL"])
async def test_what_is_no_entity_is_left_out(label: str) -> None:
    assert labels(await read("it was cheap.", finds(cheap=label))) == {}


async def test_what_is_asked_or_said_by_others_names_nothing() -> None:
    assert labels(await read("does tom live in oslo?", finds(tom="PERSON"))) == {}
    assert labels(await read("i met tom.", finds(tom="PERSON"), role="assistant")) == {}


async def test_a_part_of_a_longer_name_is_no_second_one() -> None:
    reading = await read("My sister Eva García lives in Oslo.", finds(García="PERSON", Oslo="GPE"))
    assert labels(reading) == {"Eva García": "person", "Oslo": "place"}
