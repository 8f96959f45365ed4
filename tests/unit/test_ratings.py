"""What a user says of a memory changes the order of their own searches, within bounds, and can be taken back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.policy.grant import Grant
from mnemic.retrieve.ratings import SHIFT
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Level
from mnemic.write.ratings import MOST

ANA, BEN = Actor(user="ana"), Actor(user="ben")
ASKED = "Which cafe near the office is good?"


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    grant = Grant(levels=frozenset({"user", "agent"}))
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), grant=grant) as engine:
        yield engine


async def told(engine: MemoryEngine, *texts: str, level: Level = Level.USER) -> list[str]:
    receipts = [await engine.add(text, actor=ANA, level=level) for text in texts]
    return [str(one.memory_id) for one in receipts]


async def order(engine: MemoryEngine, actor: Actor = ANA) -> list[str]:
    return [hit.memory.memory_id for hit in (await engine.search(ASKED, actor=actor)).hits]


CAFES = ("The cafe Fika near the office is good.", "The cafe Lumi near the office is good.")


async def test_a_memory_rated_useful_comes_before_one_that_is_as_near(engine: MemoryEngine) -> None:
    await told(engine, *CAFES)
    first, second = await order(engine)
    await engine.rate(second, "useful", actor=ANA)
    assert await order(engine) == [second, first]
    await engine.rate(second, "none", actor=ANA)
    assert await order(engine) == [first, second]


async def test_a_memory_rated_wrong_comes_later_and_is_less_relevant_but_stays_found(engine: MemoryEngine) -> None:
    await told(engine, *CAFES)
    first, second = await order(engine)
    before = {hit.memory.memory_id: hit for hit in (await engine.search(ASKED, actor=ANA)).hits}
    await engine.rate(first, "wrong", actor=ANA)
    after = {hit.memory.memory_id: hit for hit in (await engine.search(ASKED, actor=ANA)).hits}
    assert list(after) == [second, first]
    assert after[first].ranks["rating"].score == -SHIFT
    if before[first].relevance is not None:
        assert 0 < (after[first].relevance or 0) < before[first].relevance


async def test_rating_again_changes_no_more_than_rating_once(engine: MemoryEngine) -> None:
    await told(engine, *CAFES)
    _, second = await order(engine)
    for _ in range(3):
        await engine.rate(second, "useful", actor=ANA)
    found = (await engine.search(ASKED, actor=ANA)).hits
    assert found[0].ranks["rating"].score == SHIFT


async def test_a_rating_of_something_else_raises_nothing_above_what_answers(engine: MemoryEngine) -> None:
    answer, other = await told(engine, CAFES[0], "My passport is in the drawer.")
    await engine.rate(other, "useful", actor=ANA)
    assert (await order(engine))[0] == answer


async def test_what_one_user_says_of_a_shared_memory_changes_nothing_for_another(engine: MemoryEngine) -> None:
    await told(engine, *CAFES, level=Level.AGENT)
    first, second = await order(engine)
    await engine.rate(first, "wrong", actor=ANA)
    assert (await order(engine), await order(engine, BEN)) == ([second, first], [first, second])
    assert await engine.ratings(actor=BEN) == []


async def test_a_memory_that_was_corrected_is_no_longer_wrong(engine: MemoryEngine) -> None:
    await told(engine, *CAFES)
    first, _ = await order(engine)
    await engine.rate(first, "wrong", actor=ANA)
    [rated] = await engine.ratings(actor=ANA)
    assert (rated.rating.verdict, rated.shift) == ("wrong", -SHIFT)
    await engine.update(first, "The cafe Fika near the office is good on Mondays.", actor=ANA)
    [rated] = await engine.ratings(actor=ANA)
    assert rated.shift == 0


async def test_a_report_names_what_is_gone(engine: MemoryEngine) -> None:
    [memory_id] = await told(engine, CAFES[0])
    await engine.rate(memory_id, "useful", actor=ANA)
    await engine.forget(memory_id, actor=ANA)
    [rated] = await engine.ratings(actor=ANA)
    assert (rated.rating.memory_id, rated.memory, rated.shift) == (memory_id, None, 0)


@pytest.mark.parametrize("verdict", ["", "great", "USEFUL"])
async def test_another_word_is_refused_and_nothing_changes(engine: MemoryEngine, verdict: str) -> None:
    [memory_id] = await told(engine, CAFES[0])
    await engine.rate(memory_id, "useful", actor=ANA)
    with pytest.raises(InvalidInput, match="verdict"):
        await engine.rate(memory_id, verdict, actor=ANA)
    assert [one.rating.verdict for one in await engine.ratings(actor=ANA)] == ["useful"]


async def test_a_memory_of_another_user_cannot_be_rated(engine: MemoryEngine) -> None:
    [memory_id] = await told(engine, CAFES[0])
    with pytest.raises(MemoryNotFound):
        await engine.rate(memory_id, "wrong", actor=BEN)


async def test_only_the_newest_ratings_are_kept(engine: MemoryEngine) -> None:
    memory_ids = await told(engine, *(f"Parcel {number} has arrived." for number in range(MOST + 2)))
    for memory_id in memory_ids:
        await engine.rate(memory_id, "useful", actor=ANA)
    kept = [one.rating.memory_id for one in await engine.ratings(actor=ANA)]
    assert kept == memory_ids[:1:-1]


async def test_an_erasure_takes_the_ratings_and_an_export_shows_them(engine: MemoryEngine) -> None:
    memory_ids = await told(engine, *CAFES)
    await engine.rate(memory_ids[0], "wrong", actor=ANA)
    file: Any = json.loads("".join([part async for part in engine.export_subject("ana", actor=ANA)]))
    assert [(one["memory_id"], one["verdict"]) for one in file["ratings"]] == [(memory_ids[0], "wrong")]
    receipt = await engine.erase("ana", actor=ANA)
    assert receipt.complete
    assert await engine.ratings(actor=ANA) == []


async def test_a_rating_is_in_the_audit_without_content(engine: MemoryEngine) -> None:
    [memory_id] = await told(engine, CAFES[0])
    await engine.rate(memory_id, "wrong", actor=ANA)
    last = (await engine.audit(actor=ANA))[-1]
    assert (last.action, last.memory_id, last.detail["verdict"]) == ("rated", memory_id, "wrong")
