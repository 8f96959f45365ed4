"""What the rules read, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.extract.entities import ME, ROLE, EntityReading
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.types import Deadline, Message, Origin
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


NEVER = Deadline(float("inf"), lambda: 0.0)


async def read(text: str, **more: object) -> EntityReading:
    return await RuleEntityReader().read(Message(role="user", content=text, **more), deadline=NEVER)  # type: ignore[arg-type]


def triples(reading: EntityReading) -> set[tuple[str, str, str]]:
    return {(one.source, one.relation, one.target) for one in reading.relations if not one.ended}


def labels(reading: EntityReading) -> dict[str, str]:
    return {one.name: one.label for one in reading.named}


async def test_relations() -> None:
    async def check(text: str) -> Any:
        return triples(await read(text))

    await EXAMPLES.assert_each_right(check, "relations")


async def test_kinds_of_things() -> None:
    found = labels(
        await read("I had dinner at Le Chat Noir in Paris. My sister Ana works at Siemens with her dog Rex.")
    )
    assert found["Le Chat Noir"] == "restaurant"
    assert found["Paris"] == "place"
    assert found["Ana"] == "person"
    assert found["Siemens"] == "organisation"


async def test_other_names() -> None:
    reading = await read("Robert, also known as Bob, works for NASA. Bob lives in Houston.")
    assert [(one.name, one.aliases) for one in reading.named if one.aliases] == [("Robert", ("Bob",))]
    assert triples(reading) == {("Robert", "works_at", "NASA"), ("Robert", "lives_in", "Houston")}


async def test_beginnings_and_ends() -> None:
    (began,) = (await read("Ana has worked at Siemens, no, Ana lives in Ulm since 2019.")).relations[-1:]
    assert began.since is not None
    assert began.since.year == 2019
    (ended,) = (await read("Ana no longer works at Siemens.")).relations
    assert (ended.relation, ended.ended) == ("works_at", True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Does Ana work at Siemens?", "transient"),
        ("If Ana worked at Siemens, she would tell me.", "hypothetical"),
        ("Tom said that Ana works at Siemens.", "quoted"),
        ("x" * 700 + " Ana works at Siemens", "too_long"),
    ],
)
async def test_what_is_not_told(text: str, reason: str) -> None:
    reading = await read(text)
    assert reading.relations == ()
    assert reason in {one.reason for one in reading.skipped}


async def test_only_the_users_own_words_are_read() -> None:
    reading = await read("Ana works at Siemens.", origin=Origin.TOOL_OUTPUT)
    assert (reading.named, [one.reason for one in reading.skipped]) == ((), ["origin"])


async def test_words_that_only_begin_a_sentence_are_no_names() -> None:
    reading = await read("Yesterday was great. The weather was nice. On Monday we go. Please remember it.")
    assert reading.named == ()


@given(st.text(max_size=300))
async def test_any_text_can_be_read(text: str) -> None:
    try:
        reading = await read(text)
    except ValueError:
        return
    named = {one.name for one in reading.named} | {alias for one in reading.named for alias in one.aliases}
    ends = {end for one in reading.relations for end in (one.source, one.target)}
    assert {end for end in ends if end != ME and not end.startswith(ROLE)} <= named
