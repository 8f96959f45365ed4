"""The claims of ADR-049 ("Memory types and storage strategy"), each in its own scenario: a file, the real sentence
embedder, and the face that most users meet.

The latency targets are figures, not assertions: `mnemic bench` prints each kind's beside its budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic import MemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.kinds.persona import Profile
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Kind, Origin, Outcome
from mnemic.types.memory_kinds import CATALOG

pytestmark = pytest.mark.acceptance

DAY = timedelta(days=1)
REVIEWER = Actor(user="rita", agent="travel")
PLANNER = Profile(
    role="Expert ski trip planner",
    tone="friendly, knowledgeable",
    expertise=("skiing", "mountain resorts"),
    constraints=("safety-first", "budget-conscious"),
)
FLIGHT_MAIL = "Email: Your flight UA1234 to Paris departs Tuesday 10:30am from SFO, Terminal 3"
SENT = datetime(2027, 3, 1, 9, tzinfo=UTC)


class House:
    """Managers of several users on one file and one clock; each gets an engine of its own, as in its own process."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self.path, self.clock, self._stack = path, ManualClock(), stack
        self.sessions = InProcessSessions(self.clock)

    def manager(self, user: str, *, session: str = "s1") -> MemoryManager:
        engine = MemoryEngine(
            store=SqliteStore(self.path),
            embedder=MiniLmEmbedder(),
            clock=self.clock,
            sessions=self.sessions,
            graph=SqliteGraph(self.path),
        )
        manager = MemoryManager(user, "travel", session=session, engine=engine, profile=PLANNER)
        return self._stack.enter_context(manager)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with ExitStack() as stack:
        yield House(tmp_path / "m.db", stack)


@pytest.fixture
def ben(house: House) -> MemoryManager:
    return house.manager("ben")


def test_working_memory_is_scratch_paper_of_one_task(ben: MemoryManager) -> None:
    with ben.working.task() as scratch:
        scratch.set("current_request", "book trip")
        ben.add("Paris", "working", key="destination")
        assert scratch.get("destination") == "Paris"
    assert ben.working.get("destination") is None


def test_short_term_memory_knows_what_there_means_within_the_conversation(house: House, ben: MemoryManager) -> None:
    ben.short_term.append("user", "How much would a flight to Paris cost?")
    ben.add("What about accommodation there?", "short_term")
    assert [message.content for message in ben.short_term.tail(2)] == [
        "How much would a flight to Paris cost?",
        "What about accommodation there?",
    ]
    assert house.manager("ben", session="another").short_term.tail() == []
    house.clock.advance(timedelta(hours=1))
    assert ben.short_term.tail() == []


def test_short_term_memory_stays_within_a_budget_and_keeps_the_newest(ben: MemoryManager) -> None:
    for number in range(40):
        ben.short_term.append("user", f"Day {number}: we saw the old town of Annecy and had fondue by the lake.")
    done = ben.short_term.compact(max_tokens=300)
    assert done.tokens_after <= 300 < done.tokens_before
    assert ben.short_term.tail()[-1].content.startswith("Day 39")
    assert done.summary is not None
    assert len(done.summary.derived_from) == done.folded


def test_long_term_memory_finds_by_meaning_across_sessions_and_only_ones_own(house: House, ben: MemoryManager) -> None:
    ben.add("Ben enjoys skiing and outdoor activities.")
    ben.add("Ben likes coffee with a mountain view.")
    ben.add("Ben wants to avoid advanced ski slopes due to a past injury.")
    later = house.manager("ben", session="later")
    assert "skiing" in later.long_term.search("winter sports")[0].memory.content
    assert "injury" in later.long_term.search("which runs are too difficult for him?", top_k=2)[0].memory.content
    for other in ("ana", "ben' or user_id ne 'ben", "ben*"):
        assert list(house.manager(other).long_term.search("skiing")) == []
    for user in ("", " ben", "ben\n"):
        with pytest.raises(InvalidInput):
            house.manager(user)


def test_a_persona_is_a_file_and_what_was_learnt_and_approved_since(house: House, ben: MemoryManager) -> None:
    assert "<role>Expert ski trip planner</role>" in ben.persona.prompt()
    proposed = ben.persona.learn("Always mentions the avalanche report.", evidence="Is it safe up there?")
    assert proposed.outcome is Outcome.PENDING_REVIEW
    assert "avalanche" not in ben.persona.prompt()
    ana = house.manager("ana")
    ana._portal.call(ana.engine.approve, proposed.memory_id or "", actor=REVIEWER, whole_tenant=True)
    prompt = ana.persona.prompt()
    assert "avalanche" in prompt
    assert prompt.index("safety-first") < prompt.index("avalanche")
    assert [one.version for one in ben.persona.history(proposed.memory_id or "")] == [1, 2]


def test_episodes_are_found_again_with_their_steps_and_what_failed(house: House, ben: MemoryManager) -> None:
    ben.episodic.record(
        "Book a flight to Paris",
        [
            {"action": "book flight AF1234", "result": "unavailable", "ok": False},
            {"action": "book alternative AF5678", "result": "confirmed", "ok": True},
        ],
        outcome="success",
        episode_id="task-1",
    )
    dinner = ben.episodic.record(
        "Find a restaurant for dinner", [{"action": "recommend Le Chat Noir", "ok": True}], outcome="success"
    )
    ben.episodic.feedback(dinner.memory_id or "", "They loved it.")
    later = house.manager("ben", session="later")
    best = later.episodic.similar("get me a plane ticket to the French capital")[0]
    assert best.task == "Book a flight to Paris"
    assert [step.action for step in best.steps] == ["book flight AF1234", "book alternative AF5678"]
    lesson, *_ = later.episodic.lessons("I need to fly to Paris again")
    assert (lesson.action, lesson.result, lesson.worked) == (
        "book flight AF1234", "unavailable", "book alternative AF5678",
    )  # fmt: skip
    assert later.episodic.similar("where shall we eat?")[0].feedback == ("They loved it.",)
    assert later.episodic.similar("what happened with AF1234?")[0].task == "Book a flight to Paris"
    house.clock.advance(90 * DAY)
    assert later.episodic.similar("book a flight to Paris") == []


def test_structured_memory_reads_the_mail_and_finds_it_by_its_fields(house: House, ben: MemoryManager) -> None:
    (receipt,) = ben.structured.capture(FLIGHT_MAIL, sent_at=SENT)
    assert receipt.outcome is Outcome.CREATED
    query = {"reservationFor.flightNumber": "1234", "reservationFor.departureTime": {"$gte": "2027-03-02"}}
    (stored,) = ben.structured.query("FlightReservation", query)
    flight = stored.data["reservationFor"]
    assert isinstance(flight, dict) or flight is not None
    assert flight["airline"]["iataCode"] == "UA"  # type: ignore[index,call-overload]
    assert flight["departureAirport"]["iataCode"] == "SFO"  # type: ignore[index,call-overload]
    assert flight["arrivalAirport"]["name"] == "Paris"  # type: ignore[index,call-overload]
    assert flight["departureTime"].startswith("2027-03-02T10:30")  # type: ignore[index,call-overload,union-attr]
    assert flight["departureTerminal"] == "3"  # type: ignore[index,call-overload]
    assert house.manager("ana").structured.query("FlightReservation") == []
    assert ben.structured.query("FlightReservation", {"reservationFor.flightNumber": "1234' or '1' eq '1"}) == []
    with pytest.raises(InvalidInput, match="field:"):
        ben.structured.query("FlightReservation", {"reservationFor.price eq 1 or x": "1"})


def test_a_changed_and_a_cancelled_booking_are_versions_of_one_memory(ben: MemoryManager) -> None:
    mail = (
        "Booking code: QWE123\nFlight LH 400\n"
        "Departure: 5 May 2027 10:05 Frankfurt (FRA){}\nArrival: 5 May 2027 12:40 New York (JFK)\n"
    )
    ben.structured.capture(mail.format(""))
    ben.structured.capture(mail.format(" Terminal 1"))
    ben.structured.capture("Your booking has been cancelled.\n" + mail.format(""))
    (stored,) = ben.structured.query("FlightReservation", {"reservationNumber": "QWE123"})
    versions = ben.structured.history(stored.memory_id)
    assert [one.version for one in versions] == [1, 2, 3]
    assert str(stored.data["reservationStatus"]).endswith("ReservationCancelled")
    assert "departureTerminal" in stored.data["reservationFor"]  # type: ignore[operator]
    (blocked,) = ben.structured.put(
        "FlightReservation", stored.data | {"underName": {"name": "Eve"}}, origin=Origin.WEB
    )
    assert blocked.reason == "lower_trust"


def shape_of(kind: Kind) -> dict[str, Any]:
    """Structured memory is never free text."""
    return {"category": "Slope", "data": {"colour": "black"}} if kind is Kind.STRUCTURED else {}


def test_one_face_over_all_kinds(house: House, ben: MemoryManager) -> None:
    for kind in Kind:
        receipt = ben.add(f"Ben once fell on the black slope in Chamonix ({kind}).", kind, **shape_of(kind))
        assert receipt.durable is (kind not in (Kind.WORKING, Kind.SHORT_TERM))
    found = ben.retrieve("the fall in Chamonix")
    assert {hit.kind for hit in found} == set(Kind) - {Kind.PERSONA}
    assert {hit.kind for hit in ben.retrieve("the fall in Chamonix", [Kind.EPISODIC, "working"])} == {
        Kind.EPISODIC, Kind.WORKING,
    }  # fmt: skip
    others = house.manager("ana", session="s2")
    assert others.retrieve("the fall in Chamonix") == []
    mine = next(hit.memory_id for hit in found if hit.memory_id)
    with pytest.raises(MemoryNotFound):
        others.get(mine)


def test_what_is_durable_is_there_in_the_next_process_and_the_rest_is_not(house: House) -> None:
    with ExitStack() as stack:
        first = House(house.path, stack).manager("ben")
        first.add("Ben enjoys skiing.")
        first.add("skiing", "working", key="topic")
        first.add("Let us talk about skiing.", "short_term")
        assert len(first.retrieve("skiing")) == 3
    assert [hit.kind for hit in house.manager("ben").retrieve("skiing")] == [Kind.LONG_TERM]


def test_every_kind_ends_when_the_table_says(house: House, ben: MemoryManager) -> None:
    retention = {kind: CATALOG[kind].retention for kind in Kind}
    assert retention[Kind.SHORT_TERM] == timedelta(hours=1)
    assert (retention[Kind.LONG_TERM], retention[Kind.EPISODIC]) == (None, 90 * DAY)
    assert retention[Kind.PERSONA] is retention[Kind.ENTITY] is retention[Kind.STRUCTURED] is None
    for kind in (Kind.LONG_TERM, Kind.EPISODIC, Kind.ENTITY, Kind.STRUCTURED):
        ben.add(f"Snow in Chamonix ({kind}).", kind, **shape_of(kind))
    house.clock.advance(90 * DAY)
    assert {one.kind for one in ben.list()} == {Kind.LONG_TERM, Kind.ENTITY, Kind.STRUCTURED}
    house.clock.advance(3650 * DAY)
    assert {one.kind for one in ben.list()} == {Kind.LONG_TERM, Kind.ENTITY, Kind.STRUCTURED}


def test_an_episode_is_walked_on_the_graph_from_its_task_to_its_outcome(house: House) -> None:
    ben = house.manager("ben")
    steps = [{"action": "book AF1234", "ok": False}, {"action": "book AF5678", "ok": True}]
    kept = ben.episodic.record("Book a flight to Nice", steps, outcome="success")
    walked = ben.episodic.walk(kept.memory_id or "")
    assert [(one.node.label, one.node.name, one.path[0].relation) for one in walked] == [
        ("step", "book AF1234", "has_step"),
        ("step", "book AF5678", "has_step"),
        ("outcome", "success", "ended_in"),
    ]


def test_the_history_of_a_key_shows_what_it_was(house: House) -> None:
    ben = house.manager("ben")
    for seat in ("aisle", "window"):
        ben.add(seat, key="seat")
    assert list(dict.fromkeys(one.content for one in ben.history("seat"))) == ["aisle", "window"]
