"""Long-term memory: said once, found by meaning and by words, current value only."""

from __future__ import annotations

from datetime import timedelta

from mnemic.types import Kind
from tests.unit.kinds.conftest import House


async def test_it_is_found_with_its_scores_and_only_its_kind(house: House) -> None:
    memory = house.kinds().long_term
    receipt = await memory.add("Ben enjoys skiing and coffee with a mountain view.")
    await house.kinds().add("Ben went skiing.", "episodic")
    (hit,) = await memory.search("skiing")
    assert hit.memory.memory_id == receipt.memory_id
    assert hit.memory.kind is Kind.LONG_TERM
    assert hit.ranks


async def test_a_new_value_of_a_key_takes_the_place_of_the_old_one(house: House) -> None:
    memory = house.kinds().long_term
    await memory.add("window", key="seat")
    before = house.clock.now()
    house.clock.advance(timedelta(days=1))
    await memory.add("aisle", key="seat")
    assert [hit.memory.content for hit in await memory.search("seat")] == ["aisle"]
    assert [hit.memory.content for hit in await memory.search("seat", as_of=before)] == ["window"]


async def test_it_is_kept_unless_it_is_told_for_how_long(house: House) -> None:
    memory = house.kinds().long_term
    await memory.add("Ben enjoys skiing.")
    await memory.add("Ben enjoys skiing in Davos this week.", ttl=timedelta(days=7))
    house.clock.advance(timedelta(days=3650))
    assert [hit.memory.content for hit in await memory.search("skiing")] == ["Ben enjoys skiing."]
