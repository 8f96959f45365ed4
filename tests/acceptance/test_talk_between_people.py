"""Capture of a talk between two people: what the other said is heard, and nothing of it becomes the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.types import BETWEEN_PEOPLE, Memory, Message, Origin


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager("ana", store=tmp_path / "m.db") as manager:
        yield manager


def _talk(memory: MemoryManager, *said: str, other: str = "participant") -> list[Memory]:
    """Capture a talk of lines "A: ..." and "B: ...", of which A is the user; return the live memories."""
    messages = [
        Message(
            role="user" if line.startswith("A") else other,
            content=line[3:],
            session="s",
            speaker=line[0],
            origin=Origin.IMPORT,
        )
        for line in said
    ]
    memory.capture_many(messages)
    return list(memory.list())


def _texts(found: list[Memory]) -> list[str]:
    return [one.content for one in found if one.key is None]


def test_an_answer_is_kept_with_what_it_answers(memory: MemoryManager) -> None:
    found = _talk(memory, "B: What's your brother's name again?", "A: Álvaro. See you later!")
    assert [(one.content, one.source.quote) for one in found] == [("My brother's name is Álvaro.", "Álvaro.")]
    assert found[0].context == "What's your brother's name"


def test_an_assistant_is_answered_too(memory: MemoryManager) -> None:
    found = _talk(memory, "B: Sure. How long have you been married?", "A: for nine years", other="assistant")
    assert "married for nine years" in " ".join(one.content for one in found)
    assert all(BETWEEN_PEOPLE not in one.data for one in found)


def test_an_assistant_is_not_confirmed(memory: MemoryManager) -> None:
    assert _talk(memory, "B: Are you vegan?", "A: yes", other="assistant") == []


def test_what_the_other_says_is_never_the_users(memory: MemoryManager) -> None:
    assert _talk(memory, "B: I'm allergic to nuts and I live in Graz.", "A: oh ok") == []


def test_a_pronoun_that_nobody_can_tell_is_left_out(memory: MemoryManager) -> None:
    assert _texts(_talk(memory, "B: and?", "A: He's a nurse at the children's hospital now.")) == []


@pytest.mark.parametrize("text", ["Little Sprouts on 9th.", "No more snake as of friday.", "I don't know their names."])
def test_between_people_less_is_kept(memory: MemoryManager, text: str) -> None:
    assert _talk(memory, "B: what place", f"A: {text}") == []


@pytest.mark.parametrize("text", ["I'm vegetarian.", "I live with two medics in Cork.", "My aunt has a beagle, Hank."])
def test_between_people_facts_are_kept(memory: MemoryManager, text: str) -> None:
    found = _talk(memory, "B: anything new?", f"A: {text}")
    assert found
    assert all(one.data[BETWEEN_PEOPLE] for one in found)


def test_a_plain_change_closes_what_it_changes(memory: MemoryManager) -> None:
    found = _texts(
        _talk(memory, "A: I hate yellow.", "B: why", "A: no idea", "B: still?", "A: I don't hate yellow any more.")
    )
    assert "I hate yellow." not in found


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I share a flat with two Italians.", "She wants me to move to Leeds"),
        ("I'm from Vancouver.", "I'm actually from Vancouver, not that it matters"),
    ],
)
def test_what_is_not_plain_closes_nothing(memory: MemoryManager, earlier: str, later: str) -> None:
    assert earlier in _texts(_talk(memory, "B: hi", f"A: {earlier}", "B: and the job?", f"A: {later}"))


def test_what_opens_a_session_is_said_to_the_other_too(memory: MemoryManager) -> None:
    first = Message(role="user", content="I'm vegetarian and I share a flat with two nurses.", session="s1")
    memory.capture_many([first, Message(role="participant", content="cool", session="s2")])
    assert all(one.data[BETWEEN_PEOPLE] for one in memory.list())


def test_a_value_under_a_key_closes_only_what_it_plainly_changes(memory: MemoryManager) -> None:
    found = _talk(
        memory,
        "B: strict?",
        "A: We're not vegan vegetarians.",
        "B: ok",
        "A: Um, I've been a vegetarian for, uh, two years now.",
    )
    assert {"We're not vegan vegetarians.", "vegetarian"} <= {one.content for one in found}
