"""What is told is kept: only evidence about a known thing ends it. Every text has one vector here, so words decide."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mnemic.types import Actor, Outcome, Source

SESSION = Source(session="s1")


async def told(desk: Any, *texts: str, **fields: Any) -> list[str]:
    """The live contents after these statements, in order."""
    for text in texts:
        await desk.add(text, **fields)
    return [memory.content for memory in await desk.active()]


@pytest.mark.parametrize(
    ("known", "remark"),
    [
        ("I am allergic to hazelnuts.", "The hazelnut tree in the garden is gone."),
        ("I take metformin.", "I dropped a metformin pill behind the sofa."),
        ("I have asthma.", "The asthma leaflet was thrown away."),
        ("I am married to Ines.", "Ines lost her phone."),
        ("I work at Solvay.", "Solvay cancelled the summer party."),
        ("We have a dog called Rex.", "We gave Rex's old basket away."),
        ("I live in Porto.", "My cousin left Porto."),
        ("My sister plays the oboe.", "I stopped playing the oboe."),
        ("Always answer in short sentences.", "The answer was short."),
        ("I live in Porto.", "I moved to Braga in 2001."),
        ("I live in Porto.", "We moved to Braga when I was nine."),
    ],
)
async def test_a_remark_about_something_else_ends_nothing(blind: Any, known: str, remark: str) -> None:
    assert known in await told(blind, known, remark)


@pytest.mark.parametrize(
    ("known", "change", "reason"),
    [
        ("I live in Porto.", "We moved to Braga last month.", "changed"),
        ("I drive a Fiat Panda.", "I sold the Panda.", "ended"),
        ("I play the oboe.", "I gave up the oboe.", "ended"),
        ("My boss is Odile.", "Odile left, I report to Sanjay now.", "ended"),
        ("My rent is 840 euros.", "My rent goes up to 905 in May.", "changed"),
        ("I eat meat.", "I don't eat meat.", "opposed"),
        ("I take metformin.", "I stopped taking metformin.", "ended"),
        ("I'm allergic to hazelnuts.", "I'm no longer allergic to hazelnuts.", "opposed"),
        ("Our build runs on Jenkins.", "We moved our build from Jenkins to Buildkite.", "changed"),
    ],
)
async def test_a_stated_change_ends_what_it_names(blind: Any, known: str, change: str, reason: str) -> None:
    first = await blind.add(known)
    receipt = await blind.add(change)
    assert (receipt.outcome, receipt.reason) == (Outcome.SUPERSEDED, reason)
    assert first.memory_id not in {memory.memory_id for memory in await blind.active()}


@pytest.mark.parametrize(
    "series",
    [
        ("Patient Olsen takes 5 mg of ramipril.", "Patient Berg takes 10 mg of ramipril."),
        ("Ticket 17: customer reported a paper jam", "Ticket 18: customer reported a paper jam"),
        ("Store 1 sold 40 books.", "Store 2 sold 55 books."),
        ("In March we sold 40 books.", "In April we sold 55 books."),
        ("The service billing is owned by Tom.", "The service api.billing is owned by Ann now."),
        ("Walked the dog for 45 minutes.", "Walked the dog for 30 minutes."),
        ("Mia takes 7 ml of ibuprofen.", "Leo takes 5 ml of ibuprofen now."),
        ("We have a cat called Fig.", "We have a cat called Moss now."),
    ],
)
async def test_statements_about_different_things_are_both_kept(blind: Any, series: tuple[str, ...]) -> None:
    assert sorted(await told(blind, *series)) == sorted(series)


async def test_the_same_words_are_one_memory_and_both_wordings_are_kept(blind: Any) -> None:
    first = await blind.add("The dentist is on Elm Street.")
    again = await blind.add("the dentist is at Elm street")
    assert again.outcome is Outcome.MERGED
    assert (await blind.get(again.memory_id)).supersedes == (first.memory_id,)
    assert await told(blind) == ["the dentist is at Elm street"]


@pytest.mark.parametrize("other", ["The dentist is not on Elm Street.", "The dentist is on Elm Street 4."])
async def test_a_number_or_negation_more_is_never_the_same(blind: Any, other: str) -> None:
    await blind.add("The dentist is on Elm Street.")
    assert (await blind.add(other)).outcome is not Outcome.MERGED


@pytest.mark.parametrize(
    ("one", "other"), [("It is -5 outside", "It is 5 outside"), ("Sort if a < b", "Sort if a > b")]
)
async def test_statements_with_other_signs_are_two(blind: Any, one: str, other: str) -> None:
    await blind.add(one)
    assert (await blind.add(other)).outcome is not Outcome.MERGED


async def test_other_data_or_another_day_is_another_memory(desk: Any) -> None:
    for number in (1, 2):
        await desk.add("Invoice paid", data={"invoice": number})
    for day in (1, 2):
        await desk.add("Watered the tomatoes", occurred_at=desk.clock.now() - timedelta(days=day))
    live = await desk.active()
    assert len(live) == 4
    assert sorted(memory.data["invoice"] for memory in live if memory.data) == [1, 2]


async def test_a_correction_replaces_what_was_just_said_in_the_talk(blind: Any) -> None:
    await told(blind, "My sister is called Ana.", "The meeting is in room 3.", source=SESSION)
    receipt = await blind.add("Sorry, room 5, not 3.", source=SESSION)
    memory = await blind.get(receipt.memory_id)
    assert (receipt.outcome, receipt.reason, memory.content) == (
        Outcome.SUPERSEDED,
        "corrected",
        "The meeting is in room 5.",
    )
    assert memory.context == "Sorry, room 5, not 3.", "the user's own words stay findable"


async def test_a_correction_in_another_talk_replaces_nothing(blind: Any) -> None:
    await told(blind, "The meeting is in room 3.", source=SESSION)
    receipt = await blind.add("Sorry, room 5, not 3.", source=Source(session="s2"))
    assert receipt.outcome is Outcome.CREATED


async def test_an_end_that_could_mean_two_things_ends_neither(blind: Any) -> None:
    await told(blind, "I have a cat called Fig.", "I have a cat called Moss.")
    receipt = await blind.add("The cat died.")
    assert (receipt.outcome, receipt.reason) == (Outcome.CREATED, "which_of_several")
    assert len(await blind.active()) == 3


@pytest.mark.parametrize(
    ("known", "words", "replaced"),
    [
        ("I am allergic to peanuts.", "I had pasta for lunch.", False),
        ("I am allergic to wasps.", "The wasp nest under the roof is gone.", False),
        ("I take insulin twice a day.", "I quit smoking.", False),
        ("I love fish.", "Emma doesn't like fish.", False),
        ("I have a violin lesson every Tuesday.", "The violin lesson is cancelled this week.", False),
        ("We have two cats, Pixel and Bug.", "Bug had to be put down.", False),
        ("My girlfriend is Ana.", "We broke up.", True),
        ("I drive a Fiat Panda.", "Picked up a Zoe, the Panda went to my cousin.", True),
    ],
)
async def test_a_named_memory_is_replaced_only_by_words_that_bear_on_it(
    blind: Any, known: str, words: str, replaced: bool
) -> None:
    first = await blind.add(known)
    receipt = await blind.add(words, replaces=(first.memory_id,))
    assert (receipt.outcome is Outcome.SUPERSEDED) is replaced
    assert receipt.outcome is Outcome.SUPERSEDED or known in await told(blind)


async def test_a_general_key_holds_many_values(desk: Any) -> None:
    live = await told(desk, "I prefer trains to planes", "I refuse to use WhatsApp", key="preference")
    assert len(live) == 2


async def test_another_user_of_a_shared_scope_never_replaces(blind: Any) -> None:
    shared: dict[str, Any] = {"level": "workspace"}
    ada = Actor(user="ada", workspace="team", session="s1")
    bob = Actor(user="bob", workspace="team", session="s2")
    await blind.add("Standup is at 9.", actor=ada, **shared)
    receipt = await blind.add("Standup is at 10.", actor=bob, **shared)
    assert (receipt.outcome, receipt.reason) == (Outcome.PENDING_REVIEW, "contradiction:value")
