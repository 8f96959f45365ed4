"""Who a user is and what holds now, with the proof of each line."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mnemic import Actor, AsyncMemoryManager, Candidate, MemoryEngine, Policy
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.inject import InjectionConfig, injector_for
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Origin, Source

ANA, BEN = Actor(user="ana"), Actor(user="ben")
TOLD = (
    "My sister keeps bees in Bergen.",
    "I'm Ana and I live in Oslo.",
    "I hate coriander.",
    "I'm allergic to peanuts.",
)


@pytest.fixture
async def memory() -> AsyncMemoryManager:
    engine = MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock())
    async with AsyncMemoryManager("ana", engine=engine) as opened:
        for text in TOLD:
            await opened.capture(text)
        yield opened


async def test_it_says_who_somebody_is_first_and_once_and_shows_the_proof(memory: AsyncMemoryManager) -> None:
    profile = await memory.profile()
    lines = [one.text for one in profile]
    assert {"name: Ana", "home city: Oslo"} == set(lines[:2])
    assert lines[2] == "I'm allergic to peanuts."
    assert TOLD[1] not in lines
    assert all(one.memory.source.quote for one in profile)
    assert "home city: Oslo" in profile.text


async def test_the_sentence_of_a_value_is_not_said_again_where_its_message_has_no_full_stop(
    memory: AsyncMemoryManager,
) -> None:
    await memory.capture("My birthday is on 14 June, put it in your calendar")
    assert [one.text for one in await memory.profile() if "14 June" in one.text] == ["birthday: 14 June"]


async def test_it_follows_what_is_said_corrected_and_forgotten(memory: AsyncMemoryManager) -> None:
    await memory.capture("I moved to Bergen.")
    (home,) = (one for one in await memory.profile() if one.memory.key == "home_city")
    assert home.text == "home city: Bergen"
    await memory.update(home.memory.memory_id, "Trondheim")
    assert "home city: Trondheim" in (await memory.profile()).text
    await memory.forget(home.memory.memory_id)
    assert "home city: Trondheim" not in (await memory.profile()).text


async def test_it_has_room_for_what_matters_first(memory: AsyncMemoryManager) -> None:
    whole = await memory.profile()
    short = await memory.profile(max_tokens=140)
    assert 0 < len(short) < len(whole)
    assert short.without_room == len(whole) - len(short)
    assert {one.section for one in short} <= {"identity", "constraint"}
    for wrong in (0, True, "3"):
        with pytest.raises(InvalidInput, match="max_tokens"):
            await memory.profile(max_tokens=wrong)  # type: ignore[arg-type]


async def test_it_is_of_one_user_and_of_what_that_user_is_trusted_to_have_said(memory: AsyncMemoryManager) -> None:
    engine = memory.engine
    page = Candidate(content="Ana is an administrator.", source=Source(origin=Origin.WEB))
    await engine.add(page, actor=ANA)
    await engine.add("Ben keeps <b>goats</b>.", actor=BEN)
    assert "administrator" not in (await memory.profile()).text
    ben = await engine.profile(actor=BEN)
    assert [one.text for one in ben] == ["Ben keeps <b>goats</b>."]
    assert "&lt;b&gt;goats" in ben.text
    assert (await engine.profile(actor=Actor(user="cleo"))).text == ""


async def test_what_has_ended_or_is_hidden_is_not_in_it() -> None:
    clock = ManualClock()
    policy = Policy()
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, policy=policy) as engine:
        now = clock.now()
        begun, ended = now - timedelta(days=9), now - timedelta(days=1)
        over = Candidate(content="I rent a flat in Oslo.", valid_from=begun, valid_to=ended)
        await engine.add(over, actor=ANA)
        await engine.add("Paid by card.", actor=ANA, key="payment")
        await engine.revoke_consent("payment", actor=ANA)
        assert (await engine.profile(actor=ANA)).lines == ()


async def test_a_line_of_an_old_chat_is_as_old_as_the_chat() -> None:
    clock = ManualClock()
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock) as engine:
        said = clock.now() - timedelta(days=300)
        await engine.add("I am vegetarian.", occurred_at=said, actor=ANA)
        (line,) = await engine.profile(actor=ANA)
        assert line.since == said


async def test_what_is_still_to_come_is_among_the_plans_with_its_day() -> None:
    clock = ManualClock()
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder(), clock=clock) as engine:
        then = clock.now() + timedelta(days=30)
        await engine.add("I see the dentist.", occurred_at=then, actor=ANA)
        await engine.add("I run in Oslo.", occurred_at=clock.now() - timedelta(days=1), actor=ANA)
        called_off = Candidate(content="I fly to Rome.", occurred_at=then, valid_to=then + timedelta(days=1))
        receipt = await engine.add(called_off, actor=ANA)
        await engine.forget(receipt.memory_id or "", actor=ANA)
        profile = await engine.profile(actor=ANA)
        assert {line.text: line.topic == "plans" for line in profile} == {
            "I see the dentist.": True,
            "I run in Oslo.": False,
        }
        assert f'on="{then:%Y-%m-%d}">I see the dentist.' in profile.text
        clock.advance(timedelta(days=31))
        assert len(await engine.profile(actor=ANA)) == 2
        assert "on=" not in (await engine.profile(actor=ANA)).text


async def test_a_sentence_stands_without_the_key_it_is_stored_under() -> None:
    async with AsyncMemoryManager(
        "ana", engine=MemoryEngine(store=InProcessStore(), embedder=WordEmbedder())
    ) as memory:
        await memory.add("I prefer aisle seats.", key="seat")
        await memory.add("small, quiet", key="hotel")
        assert {one.text for one in await memory.profile()} == {"I prefer aisle seats.", "hotel: small, quiet"}


async def test_each_line_has_what_it_is_about() -> None:
    said = {
        "I'm Ana.": "you",
        "I live in Oslo.": "home",
        "I rent a flat near the river.": "home",
        "I work at Northwind.": "work",
        "I'm allergic to peanuts.": "health",
        "I love jazz.": "tastes",
        "My sister's name is Hana.": "people",
        "I'm flying to Denver next month.": "plans",
        "I just started as a physiotherapist at the hospital.": "work",
        "I ran my first marathon in October.": "you",
    }
    async with AsyncMemoryManager(
        "ana", engine=MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder())
    ) as memory:
        for text in said:
            await memory.capture(text)
        found = {line.memory.source.quote or line.text: line.topic for line in await memory.profile()}
        assert found == said


async def test_a_past_move_is_no_plan_and_the_number_of_a_card_says_nothing_of_a_home() -> None:
    clock = ManualClock()
    said = {
        "I moved to Bergen last week.": "home",
        "My card number is 4111 1111 1111 1111.": "you",
        "I like small hotels within walking distance of the old town.": "tastes",
        "My airline status is gold until next spring.": "you",
        "Mira and I want to see the cherry blossoms in Kyoto next year.": "plans",
    }
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder(), clock=clock) as engine:
        for text in said:
            await engine.add(text, actor=ANA)
        found = {line.text[:18]: line.topic for line in await engine.profile(actor=ANA)}
        assert found == {text[:18]: topic for text, topic in said.items()}
        for key, since in (("visit", None), ("aunt", clock.now() - timedelta(days=20))):
            held = Candidate(content="I will visit my aunt next year.", key=key, valid_from=since)
            await engine.add(held, actor=ANA)
        lines = {line.memory.key: line.topic == "plans" for line in await engine.profile(actor=ANA)}
        assert (lines["visit"], lines["aunt"]) == (True, False)


async def test_it_comes_first_in_every_block_within_its_own_tokens(memory: AsyncMemoryManager) -> None:
    question = "Where does my sister keep bees?"
    known = [one.memory.memory_id for one in await memory.profile()]
    assert (await memory.context(question)).memory_ids[0] not in known[:3]
    block = await memory.context(question, profile_tokens=60)
    ahead = block.memory_ids[:-1]
    assert 2 <= len(ahead) < len(known)
    assert list(ahead) == known[: len(ahead)]
    assert block.hits[-1].memory.content == TOLD[0]  # the profile takes no place of what answers
    assert (await memory.context("Thanks!", profile_tokens=60)).memory_ids == ahead
    engine = memory.engine
    told = await injector_for(engine, ANA, InjectionConfig(profile_tokens=60)).inject(
        [{"role": "user", "content": "Hi"}]
    )
    assert told.block().memory_ids == ahead
    with pytest.raises(InvalidConfig, match="profile_tokens"):
        InjectionConfig(profile_tokens=3, max_tokens=2)


async def test_a_question_for_it_is_shown_the_same_lines_in_the_same_order(memory: AsyncMemoryManager) -> None:
    """However much was said since: a search alone finds the hundred that resemble the question."""
    for number in range(130):
        await memory.add(f"The box in aisle {number} holds the parts of machine {number + 200}.")
    known = [one.memory.memory_id for one in await memory.profile(max_tokens=8000)]
    shown = await memory.context("What do you know about me?", max_tokens=8000)
    assert [hit.memory.memory_id for hit in shown.hits] == known[: len(shown.hits)]
    assert len(shown.hits) > 100
    short = await memory.context("What do you know about me?", max_tokens=200)
    assert {hit.memory.key for hit in short.hits[:2]} == {"name", "home_city"}
