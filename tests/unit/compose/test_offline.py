"""The composer without a model: it cites only what stands in its text."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from mnemic.compose.offline import OfflineComposer
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
    assert set(answer) == {"answer", "used_memory_keys"}
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


async def test_other_memories_are_quoted_and_an_empty_memory_is_said() -> None:
    answer = await compose("Where did Ana go?", {}, item(None, "Ana went to Oslo.", "m1"))
    assert "“Ana went to Oslo.”" in answer["answer"]
    assert answer["used_memory_keys"] == ["m1"]
    nothing = await compose("Where did Ana go?", {})
    assert nothing == {"answer": "Nothing relevant is remembered.", "used_memory_keys": []}
