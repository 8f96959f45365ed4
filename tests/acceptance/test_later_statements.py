"""What a person says later takes the place of what they said before, on every way in; what is about something else lets
it be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic import MemoryManager, Message
from mnemic.types import Candidate, Kind, Origin, Outcome, Source, Status

BEGAN = datetime(2026, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager("ada", store=tmp_path / "m.db") as memory:
        yield memory


def _add(memory: MemoryManager, text: str, at: datetime) -> None:
    memory.add(Candidate(content=text, occurred_at=at, source=Source(quote=text)))


def _keyed(memory: MemoryManager, text: str, at: datetime) -> None:
    city = "Turin" if "Turin" in text else "Genoa"
    memory.add(Candidate(content=city, key="home_city", occurred_at=at, source=Source(quote=text)))


def _capture(memory: MemoryManager, text: str, at: datetime) -> None:
    memory.capture(Message(role="user", content=text, sent_at=at))


def _record(memory: MemoryManager, text: str, at: datetime) -> None:
    memory.record([Message(role="user", content=text, sent_at=at)])


WAYS = {"add": _add, "key": _keyed, "capture": _capture, "record": _record}
Way = Callable[[MemoryManager, str, datetime], None]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("add", "add"), ("key", "key"), ("key", "add"), ("add", "key"), ("capture", "add"), ("add", "capture"),
        ("capture", "capture"), ("record", "record"), ("record", "add"),
    ],
)  # fmt: skip
def test_the_later_one_comes_first_on_every_way_in(memory: MemoryManager, first: str, second: str) -> None:
    WAYS[first](memory, "I live in Turin.", BEGAN)
    WAYS[second](memory, "I moved to Genoa and I live in Genoa now.", BEGAN + timedelta(days=90))
    hits = memory.search("Where do I live?").hits
    assert "Genoa" in hits[0].memory.content
    told = [one for one in memory.list(limit=50) if one.kind is Kind.LONG_TERM]
    assert not [one for one in told if "Turin" in one.content]


def test_what_is_closed_was_true_until_then_and_comes_back(memory: MemoryManager) -> None:
    old = memory.add(Candidate(content="I play the oboe.", occurred_at=BEGAN))
    new = memory.add(Candidate(content="I gave up the oboe.", occurred_at=BEGAN + timedelta(days=9)))
    assert (new.outcome, new.superseded) == (Outcome.SUPERSEDED, (old.memory_id,))
    ended = memory.history(old.memory_id or "")[-1]
    assert (ended.status, ended.valid_to) == (Status.SUPERSEDED, BEGAN + timedelta(days=9))
    kept = memory.get(new.memory_id or "")
    assert kept is not None
    assert kept.conflicts_with == (old.memory_id,)


def test_lower_trust_waits(memory: MemoryManager) -> None:
    memory.add("I play the oboe.")
    web = Source(origin=Origin.WEB)
    receipt = memory.add(Candidate(content="I gave up the oboe.", source=web))
    assert (receipt.outcome, receipt.reason) == (Outcome.PENDING_REVIEW, "lower_trust")


TRUE_TOGETHER = [
    ("My brother lives in Rome.", "My sister lives in Rome."),
    ("My husband likes football.", "My wife likes rugby."),
    ("My left knee hurts.", "My right knee does not hurt."),
    ("My class on Monday is yoga.", "My class on Tuesday is pilates."),
    ("I drink coffee in the morning.", "I drink tea in the evening."),
    ("I bake bread on Mondays.", "I bake bread on Fridays."),
    ("I work on weekdays.", "I don't work on weekends."),
    ("I speak Polish.", "I also speak Dutch."),
    ("We have a cat called Mimi.", "We got a second cat, Pablo."),
    ("I live in Turin.", "I used to live in Genoa as a child."),
    ("My mother is a teacher.", "My father is a teacher."),
    ("I have a dog.", "I have a cat."),
    ("The north entrance is open.", "The south entrance is closed."),
    ("Monday's class is at 9.", "Tuesday's class is at 10."),
    ("My first child was born in 2015.", "My second child was born in 2018."),
    ("I paid 20 euros for the book.", "I paid 30 euros for the lamp."),
    ("My son is 5.", "My daughter is 7."),
    ("Flight LH400 leaves at 10:05.", "Flight LH402 leaves at 14:20."),
    ("I can swim.", "I can't ski."),
    ("My uncle is tall.", "My aunt is short."),
    ("My old car was a Fiat.", "My new car is a Volvo."),
]


@pytest.mark.parametrize(("one", "other"), TRUE_TOGETHER)
def test_two_true_statements_are_both_kept(memory: MemoryManager, one: str, other: str) -> None:
    receipts = [memory.add(one), memory.add(other)]
    assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED, Outcome.CREATED]
    assert {memory.content for memory in memory.list(limit=9)} == {one, other}


def test_a_part_said_again_changes_nothing(memory: MemoryManager) -> None:
    whole = "I'm divorced and I have two boys who stay with me every weekend. I take night classes in bookkeeping."
    memory.add(whole)
    memory.add("I'm divorced and I have two boys who stay with me every weekend.")
    assert whole in {one.content for one in memory.list(limit=9)}


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("I take 20 mg of the blue tablet every morning.", "Correction: I take 30 mg of the blue tablet, not 20."),
        ("I weigh 80 kg.", "Actually I weigh 85 kg, not 80."),
        ("My son is 7 years old.", "My son is 8, not 7."),
        ("My rent is 900 euros.", "The landlord put the rent up to 960."),
        ("Our meeting is on Tuesdays at 10.", "Our meeting moved to Thursdays at 9."),
    ],
)
def test_a_corrected_number_is_no_longer_told(memory: MemoryManager, first: str, then: str) -> None:
    memory.add(first)
    memory.add(then)
    assert [one.content for one in memory.list()] == [then]


@pytest.mark.parametrize(
    "then",
    [
        "I take 30 mg of the white tablet, not 20.",
        "My sister takes 30 mg of the blue tablet, not 20.",
        "I take 2 blue tablets, not 20 mg.",
        "I took 30 minutes for the walk, not 20.",
    ],
)
def test_another_number_of_something_else_corrects_no_dose(memory: MemoryManager, then: str) -> None:
    dose = "I take 20 mg of the blue tablet every morning."
    memory.add(dose)
    memory.add(then)
    assert dose in [one.content for one in memory.list()]


def test_two_functions_of_like_names_are_two(memory: MemoryManager) -> None:
    for name in ("fetchUsers", "fetchUser"):
        memory.add(f"{name} returns an error.")
    assert len(memory.list()) == 2


@pytest.mark.parametrize("verb", ["add", "capture"])
@pytest.mark.parametrize(
    ("first", "second", "question"),
    [
        ("Leo takes 5 ml of ibuprofen.", "Mia takes 7 ml of ibuprofen.", "How much ibuprofen does Leo take?"),
        ("The cat takes 2.5 mg of thyroxine.", "The dog takes 5 mg of thyroxine.", "How much does the cat take?"),
        ("Jan is allergic to eggs.", "Piet is allergic to milk.", "What is Jan allergic to?"),
    ],
)
def test_what_one_child_or_pet_takes_is_shown_though_another_takes_something_else(
    tmp_path: Path, verb: str, first: str, second: str, question: str
) -> None:
    for text in (first, second):
        with MemoryManager("ana", store=tmp_path / "m.db", session=text) as memory:
            getattr(memory, verb)(text)
    with MemoryManager("ana", store=tmp_path / "m.db") as memory:
        assert {one.content for one in memory.list()} >= {first, second}
        hit = memory.search(question).hits[0]
    assert hit.memory.content == first
    assert hit.outdated_by is None
