"""What a model that can tell what helps is shown: what bears on a task, and the profile where it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import MemoryManager

OTHERS = (
    "The garage door is green.",
    "Our archive is in the basement.",
    "I once saw a walrus in Svalbard.",
    "The lawn is mown every second week.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[MemoryManager]:
    with MemoryManager("ana", store=str(tmp_path / "m.db")) as memory:
        for other in OTHERS:
            memory.add(other)
        yield memory


def shown(memory: MemoryManager, request: str) -> list[str]:
    return [hit.memory.content for hit in memory.context(request).hits]


@pytest.mark.parametrize(
    ("told", "request_"),
    [
        ("My nephew Tomas collects old maps.", "What could I bring my nephew?"),
        ("I have physiotherapy with Ruth on Thursday at 9.", "Am I free on Thursday morning?"),
        ("Our stove runs on induction.", "Which frying pan should I buy?"),
        ("I'm colour-blind.", "Suggest a chart style for my talk."),
        ("I work early shifts at the bakery.", "When should I plan the call with the landlord?"),
        ("I don't eat meat.", "Recommend a starter for Saturday."),
    ],
)
def test_what_bears_on_a_task_is_shown_though_it_does_not_answer(
    memory: MemoryManager, told: str, request_: str
) -> None:
    receipts = memory.capture(told).receipts
    wanted = {memory.get(one.memory_id).content for one in receipts if one.memory_id}
    assert wanted & set(shown(memory, request_))
    assert len(shown(memory, request_)) <= 2, "and not everything that is known"


@pytest.mark.parametrize(
    ("found", "told", "request_"),
    [
        ("The boiler is serviced every May.", "I work late shifts at the hospital.", "When should I book the plumber?"),
        ("Our terrace was tiled last year.", "My son uses a wheelchair.", "Plan a garden party on the terrace."),
    ],
)
def test_what_bears_on_a_task_is_shown_beside_what_resembles_it(
    memory: MemoryManager, found: str, told: str, request_: str
) -> None:
    memory.add(found)
    memory.capture(told)
    assert told in shown(memory, request_)
    assert len(shown(memory, request_)) <= 2


def test_a_wish_for_short_answers_hides_nothing_that_bears_on_a_task(memory: MemoryManager) -> None:
    memory.capture("Please keep your answers short.")
    memory.capture("I work early shifts at the bakery.")
    assert "I work early shifts at the bakery." in shown(memory, "When should I plan the call with the landlord?")


@pytest.mark.parametrize(
    "request_",
    [
        "Thanks, that was quick!",
        "Who painted The Night Watch?",
        "Refactor this loop into a generator.",
        "How old is my dog?",
    ],
)
def test_a_request_that_nothing_bears_on_is_shown_nothing(memory: MemoryManager, request_: str) -> None:
    assert shown(memory, request_) == []


@pytest.mark.parametrize(
    "request_",
    [
        "What do you know about me?",
        "Who am I?",
        "Please summarise my profile.",
        "Wer bin ich?",
        "Qui suis-je ?",
        "¿Quién soy?",
        "Chi sono io?",
        "Quem sou eu?",
        "Wie ben ik?",
    ],
)
def test_a_question_for_the_profile_is_shown_what_is_known_of_the_person(memory: MemoryManager, request_: str) -> None:
    for told in ("I live in Tromsø.", "I work as a glazier.", "I prefer window seats.", "My sister Ada is a pilot."):
        memory.capture(told)
    found = shown(memory, request_)
    assert any("Tromsø" in one for one in found)
    assert any("glazier" in one for one in found)
    assert any("window" in one for one in found)
    assert any("Ada" in one for one in found)
    assert max(found.index(one) for one in found if "Troms" in one or "glazier" in one) < found.index(OTHERS[0])


def test_who_somebody_else_is_is_no_question_for_the_profile(memory: MemoryManager) -> None:
    memory.capture("I work as a glazier.")
    assert "The garage door is green." not in shown(memory, "Who is Ada?")


@pytest.mark.parametrize(
    "request_",
    [
        "What is 17 times 23?",
        "Write a limerick about trains.",
        "Write a limerick about a picnic next summer.",
        "Give me three synonyms for 'quick'.",
    ],
)
def test_a_task_that_has_nothing_to_do_with_the_person_is_shown_nothing_of_them(
    memory: MemoryManager, request_: str
) -> None:
    for text in ("Call me Max.", "I'm diabetic.", "My landlady plays the cello."):
        memory.capture(text)
    assert shown(memory, request_) == []


@pytest.mark.parametrize("request_", ["Good morning!", "Draft an email to my landlady about the heating."])
def test_an_answer_that_greets_the_user_or_speaks_for_them_is_shown_their_name(
    memory: MemoryManager, request_: str
) -> None:
    memory.capture("Call me Max.")
    assert "Max" in shown(memory, request_)
