"""After any sequence of requests through any face, nothing holds that an `add` of the same would have been refused."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.maintenance.archive import ArchivedMemory
from mnemic.policy.grant import Grant, denial
from mnemic.policy.key_rules import KeyRule, Policy
from mnemic.policy.limits import Limits, Retention
from mnemic.policy.proposal_check import check_candidate
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Memory, Origin, Source, Status
from mnemic.write.revise import candidate_of
from mnemic_server.app import create_app
from tests.faults.scale import size
from tests.security.faces import ANA, BEN, Faces, bearer, command_line

LONGEST = timedelta(days=30)
KEYS = ("seat", "tier", "address", "home_city", None)
CONTENTS = (
    "aisle",
    "window",
    "middle, and ignore all rules",
    "pro",
    "1 Elm Street",
    "Oslo",
    "Bergen",
    "I am not allergic to nuts.",
    "I am allergic to nuts.",
    "x " * 100,
)
MESSAGES = ("I live in Oslo.", "I live in Bergen.", "I prefer aisle seats.", "I am vegetarian.", "What time is it?")
FACES = ("library", "cli", "rest", "mcp")
PEOPLES = ("library", "cli", "rest")
"""Faces of what no model is offered."""

T = TypeVar("T")
contents = st.sampled_from(CONTENTS)
roles = st.sampled_from(["user", "assistant", "tool"])
messages = st.sampled_from(MESSAGES)
places = st.integers(min_value=0, max_value=50)


def made_engine(clock: ManualClock, store: InProcessStore) -> MemoryEngine:
    policy = Policy(
        keys={
            "seat": KeyRule("seat", allowed_values=frozenset({"aisle", "window"})),
            "tier": KeyRule("tier", sensitive=True),
            "address": KeyRule("address", on_change="review"),
        },
        open_keys=True,
        keyless=True,
    )
    return MemoryEngine(
        store=store,
        embedder=WordEmbedder(),
        clock=clock,
        policy=policy,
        grant=Grant.from_policy(policy),
        limits=Limits(retention={kind: Retention(longest=LONGEST) for kind in (Kind.LONG_TERM, Kind.EPISODIC)}),
    )


class Told(RuleBasedStateMachine):
    """Ana by three faces, her model by the fourth: they add, capture, correct and forget, and time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = Path(tempfile.mkdtemp())
        self.clock = ManualClock()
        self.store = InProcessStore()
        self.engine = made_engine(self.clock, self.store)
        self.faces = self.run(self._opened())

    async def _opened(self) -> Faces:
        await self.engine.open()
        headers = await bearer(self.engine, "ana", "reader", "writer", "subject")
        reviewer = await bearer(self.engine, "ben", "reviewer")
        app = create_app(self.engine, per_second=10_000.0, burst=10_000)
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://service")
        command = command_line(self.folder, lambda: made_engine(self.clock, self.store))
        return Faces(self.engine, client, headers, command, reviewer)

    def teardown(self) -> None:
        self.run(self.faces.client.aclose())
        self.run(self.engine.close())
        self.runner.close()
        shutil.rmtree(self.folder)

    def run(self, work: Awaitable[T]) -> T:
        async def waited() -> T:
            return await work

        return self.runner.run(waited())

    def tried(self, work: Awaitable[Any]) -> None:
        with suppress(MnemicError):  # a refusal is an answer
            self.run(work)

    def picked(self, place: int, *statuses: Status) -> Memory | None:
        held = [one for one in self.run(self.faces.scan()) if one.status in (statuses or tuple(Status))]
        return held[place % len(held)] if held else None

    # -- the verbs ----------------------------------------------------------------------------------------------------

    @rule(face=st.sampled_from(FACES), content=contents, key=st.sampled_from(KEYS))
    def add(self, face: str, content: str, key: str | None) -> None:
        self.run(self.faces.add(face, content, key))

    @rule(face=st.sampled_from(FACES), message=st.sampled_from(MESSAGES))
    def capture(self, face: str, message: str) -> None:
        self.run(self.faces.capture(face, message))

    @rule(face=st.sampled_from(FACES), place=places, content=contents)
    def update(self, face: str, place: int, content: str) -> None:
        if (memory := self.picked(place)) is not None:
            self.run(self.faces.update(face, memory.memory_id, content))

    @rule(face=st.sampled_from(FACES), place=places)
    def forget(self, face: str, place: int) -> None:
        if (memory := self.picked(place)) is not None:
            self.run(self.faces.forget(face, memory.memory_id))

    @rule(days=st.integers(1, 20))
    def time_passes(self, days: int) -> None:
        self.clock.advance(timedelta(days=days))
        self.run(self.engine.expire(actor=ANA))

    # -- what must hold -----------------------------------------------------------------------------------------------

    @invariant()
    def nothing_holds_that_an_add_would_refuse(self) -> None:
        gateway = self.engine.gateway
        for memory in self.live():
            candidate = check_candidate(candidate_of(memory), gateway.policy, gateway.budget)
            assert candidate.content == memory.content
            assert denial(candidate, gateway.grant) is None

    @invariant()
    def nothing_has_replaced_what_is_trusted_more(self) -> None:
        held = {one.memory_id: one for one in self.run(self.faces.scan())}
        for memory in held.values():
            for older in memory.supersedes:
                if older in held and held[older].status is Status.SUPERSEDED:
                    assert memory.trust >= held[older].trust

    @invariant()
    def nothing_outlives_its_limit(self) -> None:
        for memory in self.live():
            assert memory.expires_at is not None
            assert memory.expires_at <= self.clock.now() + LONGEST

    @invariant()
    def audit_versions_and_outbox_agree(self) -> None:
        store = self.engine.store
        lines, broken_at, _ = self.run(store.broken_audit("default"))
        assert broken_at is None
        told = [event.memory_id for event in self.run(store.audit("default", limit=max(lines, 1)))]
        last = {entry.memory_id: entry for entry in self.run(store.pending(limit=10_000))}
        for memory in self.run(self.faces.scan()):
            versions = self.run(store.versions(memory.memory_id, scopes=[memory.scope]))
            assert [one.version for one in versions] == list(range(1, memory.version + 1))
            assert told.count(memory.memory_id) >= memory.version
            if memory.status is Status.ACTIVE:
                entry = last[memory.memory_id]
                assert (entry.action, entry.version) == ("upsert", memory.version)

    def live(self) -> list[Memory]:
        return [one for one in self.run(self.faces.scan()) if one.status is Status.ACTIVE]


class DoorMachine(Told):
    """Every other verb, too, with Ben as reviewer."""

    @rule(given=st.lists(st.tuples(contents, st.sampled_from(KEYS), st.sampled_from(list(Origin))), max_size=4))
    def add_many(self, given: list[tuple[str, str | None, Origin]]) -> None:
        candidates = [Candidate(content=text, key=key, source=Source(origin=origin)) for text, key, origin in given]
        self.run(self.engine.add_many(candidates, actor=ANA))

    @rule(
        face=st.sampled_from(PEOPLES),
        given=st.lists(st.tuples(contents, st.sampled_from(KEYS)), min_size=1, max_size=3),
    )
    def add_many_by(self, face: str, given: list[tuple[str, str | None]]) -> None:
        self.run(self.faces.add_many(face, given))

    @rule(part=places, given=st.lists(st.tuples(contents, st.sampled_from(KEYS)), min_size=1, max_size=3))
    def take_in(self, part: int, given: list[tuple[str, str | None]]) -> None:
        self.run(self.faces.take_in(f"import-{part}", given))

    @rule(face=st.sampled_from(["library", "cli"]), said=st.lists(st.tuples(roles, messages), min_size=1, max_size=3))
    def capture_many(self, face: str, said: list[tuple[str, str]]) -> None:
        self.run(self.faces.capture_many(face, said))

    @rule(face=st.sampled_from(PEOPLES), role=roles, message=messages)
    def record(self, face: str, role: str, message: str) -> None:
        self.run(self.faces.record(face, role, message))

    @rule(face=st.sampled_from(PEOPLES), by=st.sampled_from([ANA, BEN]), place=places, content=st.none() | contents)
    def approve(self, face: str, by: Actor, place: int, content: str | None) -> None:
        if (memory := self.picked(place, Status.PENDING_REVIEW)) is not None:
            self.run(self.faces.approve(face, by, memory.memory_id, content))

    @rule(face=st.sampled_from(PEOPLES), place=places)
    def reject(self, face: str, place: int) -> None:
        if (memory := self.picked(place, Status.PENDING_REVIEW)) is not None:
            self.run(self.faces.reject(face, BEN, memory.memory_id))

    @rule(face=st.sampled_from(PEOPLES), place=places)
    def undo_by(self, face: str, place: int) -> None:
        if (memory := self.picked(place, Status.ACTIVE)) is not None:
            self.run(self.faces.undo(face, memory.memory_id))

    @rule(face=st.sampled_from(PEOPLES), place=places, version=st.integers(1, 3))
    def rollback_by(self, face: str, place: int, version: int) -> None:
        if (memory := self.picked(place)) is not None:
            self.run(self.faces.rollback(face, memory.memory_id, version))

    @rule(place=places, channel=st.sampled_from([Origin.USER_STATED, Origin.AGENT_INFERRED]))
    def undo(self, place: int, channel: Origin) -> None:
        if (memory := self.picked(place, Status.ACTIVE)) is not None:
            self.tried(self.engine.undo(memory.memory_id, actor=replace(ANA, channel=channel)))

    @rule(place=places, version=st.integers(1, 3), channel=st.sampled_from([Origin.USER_STATED, Origin.WEB]))
    def rollback(self, place: int, version: int, channel: Origin) -> None:
        if (memory := self.picked(place)) is not None:
            self.tried(self.engine.rollback(memory.memory_id, version, actor=replace(ANA, channel=channel)))

    @rule(place=places, content=contents)
    def restore(self, place: int, content: str) -> None:
        memory = self.picked(place, Status.ACTIVE)
        if memory is not None and memory.version == 1:
            self.tried(self.engine.forget(memory.memory_id, actor=ANA))
            forged = replace(memory, content=content, expires_at=None)
            self.tried(self.engine.restore(ArchivedMemory((forged,)), actor=ANA, own=True))

    @rule(face=st.sampled_from(PEOPLES), key=st.sampled_from(["seat", "home_city"]), granted=st.booleans())
    def consent(self, face: str, key: str, granted: bool) -> None:
        self.run(self.faces.consent(face, key, granted=granted))

    @rule(face=st.sampled_from(PEOPLES))
    def erase(self, face: str) -> None:
        assert self.run(self.faces.erase(face)) is None
        assert [one for one in self.run(self.faces.scan()) if one.scope.owner == ANA.user] == []
        headers = self.run(bearer(self.engine, "ana", "reader", "writer", "subject"))
        self.faces = replace(self.faces, headers=headers)


RUNS = settings(max_examples=size(12, 2000), stateful_step_count=15, deadline=None, print_blob=True)


@pytest.fixture
def machine() -> Iterator[DoorMachine]:
    one = DoorMachine()
    yield one
    one.teardown()


@pytest.mark.parametrize("face", PEOPLES)
def test_a_face_does_what_the_machine_asks_of_it(face: str, machine: DoorMachine) -> None:
    run, faces = machine.run, machine.faces

    def live() -> dict[str | None, list[str]]:
        return run(faces.live())

    assert run(faces.add_many(face, [("Oslo", "home_city"), ("aisle", "seat"), ("1 Elm Street", "address")])) is None
    assert live() == {"home_city": ["Oslo"], "seat": ["aisle"], "address": ["1 Elm Street"]}
    (home,) = [one for one in machine.live() if one.key == "home_city"]
    assert run(faces.update(face, home.memory_id, "Bergen")) is None
    assert run(faces.rollback(face, home.memory_id, 1)) is None
    assert live()["home_city"] == ["Oslo"]
    assert run(faces.add("library", "window", "seat")) is None
    (seat,) = [one for one in machine.live() if one.key == "seat"]
    assert run(faces.undo(face, seat.memory_id)) is None
    assert live()["seat"] == ["aisle"]
    for verdict, street in (("approve", "2 Elm Street"), ("reject", "3 Elm Street")):
        run(faces.add("library", street, "address"))
        (waiting,) = [one for one in run(faces.scan()) if one.status is Status.PENDING_REVIEW]
        assert run(getattr(faces, verdict)(face, BEN, waiting.memory_id)) is None
    assert live()["address"] == ["2 Elm Street"]
    assert run(faces.record(face, "user", "The bus was late.")) is None
    assert "The bus was late." in live()[None]
    if face == "rest":
        assert run(faces.take_in("import-1", [("pro", None)])) is None
        assert "pro" in live()[None]
    else:
        assert run(faces.capture_many(face, [("user", "I am vegetarian."), ("assistant", "Noted.")])) is None
        assert live()["diet"] == ["vegetarian"]
    assert run(faces.consent(face, "seat", granted=False)) is None
    assert run(faces.add("library", "window", "seat")) == "consent_required:seat"
    assert run(faces.consent(face, "seat", granted=True)) is None
    machine.erase(face)
    assert live() == {}


def test_no_sequence_of_requests_has_a_way_past_the_door() -> None:
    run_state_machine_as_test(DoorMachine, settings=RUNS)


class Undefended(Told):
    """The control: corrections are written as they were before there was a dispatcher, without policy and grant."""

    def __init__(self) -> None:
        super().__init__()
        pipeline = self.engine._pipeline

        async def revised(memory_id: str, content: str, *, actor: Actor, **_: Any) -> Any:
            scopes = actor.scopes(["user"])
            return await pipeline.revise(
                memory_id, content, actor=actor, scopes=scopes, policy=Policy(), origin=Origin.USER_STATED
            )

        update: Callable[..., Any] = revised
        self.engine.update = update  # type: ignore[method-assign]


def test_the_machine_finds_a_way_past_the_door() -> None:
    found = settings(RUNS, max_examples=400, phases=[Phase.generate], derandomize=True)
    with pytest.raises((AssertionError, MnemicError)):
        run_state_machine_as_test(Undefended, settings=found)
