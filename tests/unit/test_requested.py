"""Requests about memory: reported with the memories they concern, and carried out only on confirmation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreUnavailable
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Actor, Level, Memory, MemoryRequest, Message, Status, Where

ANA = Actor(user="ana", session="s1")
TOLD = ("I rent a studio in Lund.", "My sister keeps bees in Ystad.", "I prefer trains to planes.")


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as made:
        for text in TOLD:
            await made.add(text, actor=ANA)
        yield made


async def asked(engine: MemoryEngine, text: str) -> tuple[MemoryRequest, ...]:
    return (await engine.capture(text, actor=ANA)).asked


async def texts(engine: MemoryEngine, request: MemoryRequest | None = None) -> list[str]:
    live = await engine.list(actor=ANA)
    return sorted(one.content for one in live if request is None or one.memory_id in request.memory_ids)


async def superseded(engine: MemoryEngine) -> list[Memory]:
    where = Where(scopes=ANA.scopes([Level.USER]), statuses=frozenset({Status.SUPERSEDED}))
    return await engine.store.newest(where, limit=50)


async def test_what_is_to_be_forgotten_is_named_and_stays_until_it_is_confirmed(engine: MemoryEngine) -> None:
    (request,) = await asked(engine, "Forget what I told you about my sister.")
    assert (request.kind, request.subject) == ("forget", "my sister")
    assert await texts(engine, request) == [TOLD[1]]
    assert len(await texts(engine)) == 3
    done = await engine.carry_out(request, actor=ANA)
    assert done.forgotten == request.memory_ids
    assert await texts(engine) == sorted((TOLD[0], TOLD[2]))
    assert (await engine.carry_out(request, actor=ANA)).forgotten == ()


@pytest.mark.parametrize("guess", [0.0, 0.99])
async def test_nothing_is_deleted_because_a_search_takes_it_for_related(
    engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch, guess: float
) -> None:
    told = ("My passport expires in May 2031.", "I moved to Madrid in April 2026.", "My visa is for Canada.")
    for text in told:
        await engine.add(text, actor=ANA)
    retrieve = MemoryGateway.retrieve

    async def guessed(*given: Any, **named: Any) -> Any:
        found = await retrieve(*given, **named)
        return replace(found, hits=tuple(replace(hit, relevance=guess) for hit in found.hits))

    monkeypatch.setattr(MemoryGateway, "retrieve", guessed)
    for subject, right in (("my passport", told[0]), ("Madrid", told[1]), ("my sister", TOLD[1]), ("trains", TOLD[2])):
        (request,) = await asked(engine, f"Please forget what I told you about {subject}.")
        assert await texts(engine, request) == [right]
    (nothing,) = await asked(engine, "Please forget what I told you about my dentist.")
    assert nothing.memory_ids == ()
    (wrong,) = await asked(engine, "That is wrong about my studio.")
    assert await texts(engine, wrong) == [TOLD[0]]


async def test_a_request_to_forget_the_old_phone_leaves_all_else_that_is_old_or_has_a_number(
    engine: MemoryEngine,
) -> None:
    things = ("lamp", "chair", "table", "rug", "shelf", "mirror", "kettle", "clock", "basket", "vase")
    bought = [f"I bought a {of} {thing} in shop number 3." for of in ("old", "new", "red", "blue") for thing in things]
    about_it = ["My old phone was a Nokia.", "My phone number is on the fridge."]
    for text in (*bought, *about_it):
        await engine.add(text, actor=ANA)
    await engine.record([Message(role="user", content=text) for text in (bought[0], about_it[0])], actor=ANA)
    (request,) = await asked(engine, "Please forget my old phone number.")
    named = [(await engine.get(one, actor=ANA)).content for one in request.memory_ids]
    assert sorted(named) == sorted([*about_it, about_it[0]])


async def test_a_fact_goes_by_the_words_that_it_was_read_from(engine: MemoryEngine) -> None:
    await engine.capture("I live in Leeds.", actor=ANA)
    (request,) = await asked(engine, "Please forget what I told you about where I live.")
    assert [one.content for one in await engine.list(actor=ANA) if one.memory_id in request.memory_ids] == ["Leeds"]


async def test_what_was_superseded_goes_with_the_subject(engine: MemoryEngine) -> None:
    for text in ("I live in Leeds.", "I have a cat called Miso.", "I gave my cat Miso away."):
        await engine.capture(text, actor=ANA)
    before = [one.memory_id for one in await superseded(engine) if "Miso" in one.content]
    assert before
    (request,) = await asked(engine, "Forget what I told you about my cat.")
    done = await engine.carry_out(request, actor=ANA)
    assert set(before) < set(done.forgotten)
    assert await superseded(engine) == []
    assert await texts(engine) == sorted(("Leeds", *TOLD))


async def test_the_earlier_values_of_a_key_go_with_the_present_one(engine: MemoryEngine) -> None:
    for text in ("I live in Leeds.", "I moved to York."):
        await engine.capture(text, actor=ANA)
    assert "Leeds" in {one.content for one in await superseded(engine)}
    (request,) = await asked(engine, "Forget what I told you about York.")
    await engine.carry_out(request, actor=ANA)
    assert "Leeds" not in {one.content for one in await superseded(engine)}


async def test_everything_goes_by_an_erasure(engine: MemoryEngine) -> None:
    (request,) = await asked(engine, "Delete everything you know about me!")
    assert (request.kind, len(request.memory_ids)) == ("forget_all", 3)
    done = await engine.carry_out(request, actor=ANA)
    assert done.erasure is not None
    assert done.erasure["complete"] is True
    assert await texts(engine) == []


async def test_what_is_known_is_shown(engine: MemoryEngine) -> None:
    (request,) = await asked(engine, "What do you know about me?")
    done = await engine.carry_out(request, actor=ANA)
    assert sorted(one.content for one in done.memories) == sorted(TOLD)
    await engine.forget(request.memory_ids[0], actor=ANA)
    assert len((await engine.carry_out(request, actor=ANA)).memories) == 2
    assert (await engine.carry_out(request, actor=Actor(user="ben"))).memories == ()


async def test_a_denial_names_what_was_said_last_or_its_subject(engine: MemoryEngine) -> None:
    last = await asked(engine, "That's not true.")
    assert await texts(engine, last[0]) == [TOLD[2]]
    (about,) = await asked(engine, "That is wrong about my studio.")
    assert await texts(engine, about) == [TOLD[0]]


async def test_the_rest_of_the_message_is_kept(engine: MemoryEngine) -> None:
    said = "Forget what I told you about Lund. I moved to Kalmar."
    report = await engine.capture(Message(role="user", content=said), actor=ANA)
    assert [one.kind for one in report.asked] == ["forget"]
    assert any("Kalmar" in text for text in await texts(engine))
    assert not any("Forget" in text for text in await texts(engine))
    assert [one.reason for one in report.skipped] == ["memory_request"]
    assert report.as_dict()["asked"] == [one.to_dict() for one in report.asked]


async def test_a_question_about_the_world_is_no_request(engine: MemoryEngine) -> None:
    assert await asked(engine, "What do you know about volcanoes?") == ()
    assert await asked(engine, "I prefer window seats.") == ()


async def test_an_order_to_delete_is_a_request_where_something_of_it_is_known(engine: MemoryEngine) -> None:
    assert await asked(engine, "Delete my spreadsheet.") == ()
    (request,) = await asked(engine, "Delete my studio.")
    assert request.kind == "forget"
    assert await texts(engine, request) == [TOLD[0]]


async def test_a_fact_that_is_to_be_forgotten_is_not_stored_again(engine: MemoryEngine) -> None:
    (request,) = await asked(engine, "Forget that I live in Leeds.")
    assert request.kind == "forget"
    assert not any("Leeds" in text for text in await texts(engine))


async def test_an_assistants_words_ask_nothing(engine: MemoryEngine) -> None:
    report = await engine.capture(Message(role="assistant", content="Forget everything about me."), actor=ANA)
    assert report.asked == ()


async def test_an_outage_is_told(engine: MemoryEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable

    monkeypatch.setattr(engine.store, "newest", broken)
    report = await engine.capture("What do you know about me?", actor=ANA)
    assert report.asked == ()
    assert "capture:asked: store_unavailable" in report.errors


async def test_only_requests_are_carried_out(engine: MemoryEngine) -> None:
    with pytest.raises(InvalidInput) as refused:
        await engine.carry_out("forget everything", actor=ANA)  # type: ignore[arg-type]
    assert refused.value.reason == "invalid_input:memory_request"
