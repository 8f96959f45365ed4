"""The composer without a model: it cites only what stands in its text."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from mnemic.compose import Basis
from mnemic.compose.template_composer import OfflineComposer
from mnemic.types import Deadline

INCIDENT = {
    "date": "2026-03-04",
    "region": "US",
    "severity": "P1",
    "gateway_status": "degraded",
    "failed_payment_rate": 0.034,
    "chargeback_alerts": 5,
    "eta_minutes": 45,
}


def item(key: str | None, value: str, ref: str | None = None) -> dict[str, Any]:
    return {"ref": ref or key, "key": key, "value": value, "scope": "user", "confidence": 0.9}


async def compose(goal: str, context: dict[str, Any], *memories: dict[str, Any]) -> dict[str, Any]:
    deadline = Deadline.after(timedelta(seconds=5), time.monotonic)
    answer = await OfflineComposer().compose(goal, context, memories, deadline=deadline)
    assert set(answer) == {"answer", "used_memory_keys", "basis"}
    return dict(answer)


async def test_the_incident_update_follows_three_preferences() -> None:
    answer = await compose(
        "Draft today's payment incident update and next actions.",
        INCIDENT,
        item("language", "english"),
        item("update_channel", "email"),
        item("response_style", "concise"),
    )
    assert answer["answer"].startswith("Incident update: ")
    assert "failed payment rate 3.4%" in answer["answer"]
    assert "via email" in answer["answer"]
    assert answer["used_memory_keys"] == ["language", "update_channel", "response_style"]


async def test_a_time_zone_shows_in_the_answer() -> None:
    answer = await compose("Draft the update.", INCIDENT, item("timezone", "Europe/Madrid"))
    assert "Europe/Madrid" in answer["answer"]
    assert answer["used_memory_keys"] == ["timezone"]


async def test_spanish_is_spoken_and_an_unknown_language_is_not_claimed() -> None:
    spanish = await compose("Draft the update.", INCIDENT, item("language", "spanish"))
    klingon = await compose("Draft the update.", INCIDENT, item("language", "klingon"))
    assert spanish["answer"].startswith("Actualización del incidente:")
    assert klingon["used_memory_keys"] == []


async def test_travel_preferences_become_one_sentence() -> None:
    answer = await compose("Find me a flight to Denver.", {}, item("seat", "aisle"), item("flight_time", "morning"))
    assert answer["answer"] == "I will prioritize morning flights and aisle seats for the flight to Denver."
    assert sorted(answer["used_memory_keys"]) == ["flight_time", "seat"]
    assert answer["basis"] == "echo"


async def test_a_preference_that_has_nothing_to_do_with_the_request_is_left_out() -> None:
    known = [item("seat", "aisle"), item("diet", "vegan")]
    table = await compose("Book a table for dinner.", {}, *known)
    assert (table["answer"], table["used_memory_keys"]) == (
        "I will prioritize vegan meals for the table for dinner.",
        ["diet"],
    )
    plumber = await compose("Find me a plumber.", {}, *known)
    assert plumber["basis"] == "none"


async def test_what_no_template_serves_is_not_answered_but_quoted() -> None:
    answer = await compose("Where did Ana go?", {}, item(None, "Ana went to Oslo.", "m1"))
    assert "“Ana went to Oslo.”" in answer["answer"]
    assert (answer["used_memory_keys"], answer["basis"]) == (["m1"], "none")
    unanswered = "No language model is configured, and no template answers this."
    assert answer["answer"].startswith(unanswered)
    nothing = await compose("Where did Ana go?", {})
    assert nothing == {
        "answer": f"{unanswered} Nothing relevant is remembered.",
        "used_memory_keys": [],
        "basis": "none",
    }
    question = await compose("Who is Julia?", {}, item("seat", "aisle"))
    assert question["answer"] == f"{unanswered} From what is remembered: “seat: aisle”"


async def test_where_a_memory_answers_nothing_that_only_might_matter_is_quoted() -> None:
    hiking, diet = item(None, "I love hiking.", "m1"), item("diet", "vegetarian")
    answer = await compose("Do I like hiking?", {}, hiking | {"relevance": 0.9}, diet | {"relevance": 0.1})
    assert answer["answer"].endswith("From what is remembered: “I love hiking.”")
    assert answer["used_memory_keys"] == ["m1"]
    asked = await compose("What should I cook tonight?", {}, diet | {"relevance": 0.1}, hiking | {"relevance": None})
    assert asked["used_memory_keys"] == ["diet", "m1"]


def test_a_models_own_word_on_where_its_answer_comes_from_does_not_count() -> None:
    class Model:
        asks_model = True

    assert Basis.from_answer(Model(), {"answer": "x", "basis": "none"}) is Basis.MODEL
    assert Basis.from_answer(OfflineComposer(), {"answer": "x", "basis": "echo"}) is Basis.ECHO
    assert Basis.from_answer(object(), {"answer": "x"}) is Basis.MODEL


async def test_a_question_for_the_profile_is_answered_by_all_of_it_that_an_answer_has_room_for() -> None:
    known = [item(None, f"I have told fact number {number}.", ref=f"m{number}") for number in range(40)]
    answer = await compose("What do you know about me?", {}, item("job", "glazier"), *known)
    assert answer["answer"].startswith("From what is remembered: “job: glazier” “I have told fact number 0.”")
    assert 10 < len(answer["used_memory_keys"]) < 40
    assert len(answer["answer"]) <= 700
    assert answer["basis"] == Basis.ECHO
    assert (await compose("Who am I?", {}))["answer"] == "Nothing relevant is remembered."
