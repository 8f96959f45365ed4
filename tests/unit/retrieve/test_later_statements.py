"""Of two statements that disagree, the later one first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from mnemic.inject.memory_source import SourceEntry
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve.later_statements import LONGEST, LONGEST_REQUEST, find_outdated, later_relevances, latest_first
from mnemic.retrieve.policy_candidates import PINNED, RELEVANCE
from mnemic.testing.record_store.fixtures import START, memory
from mnemic.types import Actor, Hit, Kind, Memory, Source, Trust

SAID = ("My office is in Turin.", "The office moved from Turin to Genoa.", "I play the flute.")


@pytest.fixture
async def told() -> Sequence[Memory]:
    vectors = await MiniLmEmbedder().embed(SAID)
    return [
        memory(text, at=START + timedelta(days=day), vector=vector)
        for day, (text, vector) in enumerate(zip(SAID, vectors, strict=True))
    ]


async def test_the_later_one_outdates_the_earlier(told: Sequence[Memory]) -> None:
    first, second, third = told
    assert find_outdated([third, first, second]) == {first.memory_id: second.memory_id}


async def test_the_later_one_takes_its_place(told: Sequence[Memory]) -> None:
    first, second, third = (one.memory_id for one in told)
    entries = [(first, 0.5, RELEVANCE), (third, 0.4, RELEVANCE), (second, 0.1, RELEVANCE)]
    moved, passed = latest_first(entries, {one.memory_id: one for one in told})
    assert ([entry[0] for entry in moved], passed) == ([second, first, third], {first: second})
    entries = [(second, 0.5, RELEVANCE), (first, 0.5, RELEVANCE)]
    moved, _ = latest_first(entries, {one.memory_id: one for one in told})
    assert [entry[0] for entry in moved] == [second, first]


def test_the_latest_is_as_relevant_as_what_it_outdates() -> None:
    relevances = {"oslo": 0.72, "bergen": 0.08, "flute": 0.3}
    assert later_relevances(relevances, {"oslo": "bergen"}) == {"oslo": 0.08, "bergen": 0.72, "flute": 0.3}
    assert later_relevances(relevances, {"bergen": "oslo"}) == relevances
    chain = {"oslo": "bergen", "bergen": "flute"}
    assert later_relevances(relevances, chain) == {"oslo": 0.3, "bergen": 0.08, "flute": 0.72}
    assert later_relevances({}, chain) == {}


async def test_what_stands_stays(told: Sequence[Memory]) -> None:
    first, second, _ = (one.memory_id for one in told)
    entries = [(first, 0.5, PINNED), (second, 0.1, RELEVANCE)]
    assert latest_first(entries, {one.memory_id: one for one in told}) == (entries, {})


@pytest.mark.parametrize(
    "changes",
    [
        {"trust": Trust.LOW},
        {"author": "ben"},
        {"source": Source(speaker="Ben")},
        {"source": Source(speaker="assistant")},
        {"kind": Kind.ENTITY},
        {"vector": None},
    ],
)
async def test_nobody_elses_word_outdates_it(told: Sequence[Memory], changes: dict[str, object]) -> None:
    first, second, _ = told
    assert find_outdated([first, replace(second, **changes)]) == {}  # type: ignore[arg-type]


async def test_what_the_assistant_said_is_outdated_by_the_user(told: Sequence[Memory]) -> None:
    first, second, _ = told
    said = replace(first, source=Source(speaker="assistant"))
    assert find_outdated([said, second]) == {said.memory_id: second.memory_id}


async def test_a_model_is_shown_when_it_was_said(told: Sequence[Memory]) -> None:
    hit = Hit(memory=told[0], score=0.5, outdated_by="later")
    assert (
        SourceEntry.from_hit(hit, "memory", reader=Actor(user="ada")).content
        == f"My office is in Turin. (as of {START:%Y-%m-%d})"
    )


async def test_the_message_that_told_what_was_closed_is_outdated_with_it(told: Sequence[Memory]) -> None:
    first, _, third = told
    message = replace(first, memory_id="message", kind=Kind.EPISODIC, content="Hi! My office is in Turin. Any tips?")
    closing = replace(third, supersedes=(first.memory_id,))
    closed = {first.memory_id: first}
    assert find_outdated([message, closing], closed) == {"message": closing.memory_id}
    assert find_outdated([message, third], closed) == {}
    elsewhere = replace(message, source=Source(session="another"))
    assert find_outdated([elsewhere, closing], closed) == {}
    long = replace(message, content=message.content + " And so on, and so forth." * 9)
    assert find_outdated([long, closing], closed) == {}
    later = replace(message, occurred_at=START + timedelta(days=9))
    assert find_outdated([later, closing], closed) == {}


async def test_what_a_tool_said_may_be_outdated_by_the_user(told: Sequence[Memory]) -> None:
    first, second, _ = told
    tool = replace(first, source=Source(speaker="tool"))
    assert find_outdated([tool, second]) == {tool.memory_id: second.memory_id}
    assert find_outdated([first, replace(second, source=Source(speaker="tool"))]) == {}


async def test_nothing_is_outdated_by_its_own_words(told: Sequence[Memory]) -> None:
    said = "I quit Umbra Labs, I now work for Northwind."
    first, second, _ = told
    value = replace(first, key="employer", content="Northwind", source=Source(quote=said))
    assert find_outdated([value, replace(second, content=said)]) == {}
    assert find_outdated([value, replace(second, content=said, source=Source(quote=said))]) == {}
    assert find_outdated([value, replace(second, content="I quit Northwind.")]) != {}


DOUBTED = [
    ("I take my tea without milk.", "I put oat milk in my tea now."),
    ("My locker code ends in 33.", "There's a new locker code, it ends in 71."),
    ("Ida takes 4 drops of the tincture.", "The nurse raised Ida's drops to 6."),
]
REMARKS = [
    ("I take my tea without milk.", "The tea shop on the corner is closed now."),
    ("My locker code ends in 33.", "My brother has a new locker."),
    ("Ida takes 4 drops of the tincture.", "Ben takes 6 drops now."),
    ("I live in Turin.", "Turin sold its old trams."),
]


@pytest.mark.parametrize(("known", "later"), DOUBTED)
async def test_a_statement_of_which_a_change_is_told_says_by_what_it_may_be_outdated(known: str, later: str) -> None:
    old, new = await in_order_of_telling(known, later)
    assert find_outdated([old, new]) == {old.memory_id: new.memory_id}
    message = replace(new, kind=Kind.EPISODIC)
    assert find_outdated([old, message]) == {}, "what is said in passing marks nothing"


@pytest.mark.parametrize(("known", "later"), REMARKS)
async def test_a_remark_marks_nothing(known: str, later: str) -> None:
    assert find_outdated(await in_order_of_telling(known, later)) == {}


async def in_order_of_telling(*said: str) -> list[Memory]:
    vectors = await MiniLmEmbedder().embed(said)
    return [
        memory(text, at=START + timedelta(days=day), vector=vector)
        for day, (text, vector) in enumerate(zip(said, vectors, strict=True))
    ]


def long(text: str, length: int) -> str:
    """Return a message that says `text`, and then nothing that matters, of `length` characters."""
    return text + " " + "." * (length - len(text) - 1)


@pytest.mark.parametrize(
    ("said", "compared"),
    [
        (long(SAID[1], LONGEST), True),
        (long(SAID[1], LONGEST + 1), False),
        (long(SAID[1], LONGEST_REQUEST + 1), True),
        (long("Can you help? " + SAID[1], LONGEST_REQUEST), True),
        (long("Is it far? " + SAID[1], LONGEST_REQUEST + 1), False),
        (long("Could you look it up. " + SAID[1], LONGEST_REQUEST + 1), False),
        (long("HELP ME with the address. " + SAID[1], LONGEST_REQUEST + 1), False),
    ],
)
async def test_long_messages_and_less_long_requests_are_not_compared(
    told: Sequence[Memory], said: str, compared: bool
) -> None:
    first, second, _ = told
    assert (LONGEST, LONGEST_REQUEST) == (300, 160)
    assert find_outdated([first, replace(second, content=said)]) == (
        {first.memory_id: second.memory_id} if compared else {}
    )


async def test_what_was_changed_more_than_once_is_outdated_by_the_latest(told: Sequence[Memory]) -> None:
    first, second, third = told
    message = replace(first, memory_id="message", kind=Kind.EPISODIC, content="my office is in Turin")
    between = replace(second, memory_id="between", supersedes=(first.memory_id,))
    latest = replace(third, supersedes=("between",))
    assert find_outdated([message, latest], {"between": between, first.memory_id: first}) == {
        "message": latest.memory_id
    }
    turning = {"between": between, first.memory_id: replace(first, supersedes=("between",))}
    assert find_outdated([message, latest], turning) == {"message": latest.memory_id}
