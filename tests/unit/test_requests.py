"""Requests are answered as the verbs are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from inspect import signature
from typing import Any

import pytest

from mnemic import requests
from mnemic.engine import READS, MemoryEngine
from mnemic.requests import (
    AddMany,
    Capture,
    Context,
    Count,
    Get,
    History,
    Import,
    List,
    NewMemory,
    Request,
    Run,
    Search,
    Update,
)
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Message, from_json, to_json

ANA = Actor(user="ana")
VERBS = READS | {requests.Correction: MemoryEngine.update, NewMemory: MemoryEngine.add}


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as engine:
        yield engine


async def test_reading_is_answered_by_the_verb_of_its_name(engine: MemoryEngine) -> None:
    receipt = await engine.add("The spare key hangs behind the door.", actor=ANA)
    assert receipt.memory_id is not None
    known = await engine.get(receipt.memory_id, actor=ANA)
    assert await engine.handle(Get(memory_id=known.memory_id), actor=ANA) == known
    assert list(await engine.handle(List(), actor=ANA)) == [known]
    assert list(await engine.handle(History(memory_id=known.memory_id), actor=ANA)) == [known]
    assert await engine.handle(Count(), actor=ANA) == 1
    found = await engine.handle(Search(query="Where is the spare key?"), actor=ANA)
    assert [hit.memory for hit in found.hits] == [known]
    assert "spare key" in (await engine.handle(Context(query="Where is the spare key?"), actor=ANA)).text


async def test_a_turn_and_a_conversation_are_requests(engine: MemoryEngine) -> None:
    report = await engine.handle(Capture(message="I live in Oslo."), actor=ANA)
    assert [one.key for one in report.receipts] == ["home_city"]
    (imported,) = await engine.handle(Import(messages=(Message(role="user", content="I am vegan."),)), actor=ANA)
    assert imported is not None
    answered = await engine.handle(Run(goal="Book a table for dinner."), actor=ANA)
    assert answered.status == "ok"
    assert await engine.handle(Count(), actor=ANA) == 2


@pytest.mark.parametrize(
    "made",
    [
        Search(query="seat", kinds=["long_term", Kind.EPISODIC], levels=["user"], categories=["note"], keys=["seat"]),
        List(kinds=["entity"], categories=["note"], keys=["seat"]),
        Run(goal="Find a seat.", context={"trip": {"to": ["Oslo"]}}),
        Update(memory_id="m", content="aisle", data={"rows": [1, {"b": 2}]}),
        NewMemory("I row.", "episodic", data={"boats": ["single", "double"]}, ttl=timedelta(days=30)),
        NewMemory(Candidate(content="I row.")),
        AddMany(candidates=[Candidate(content="I row.")], idempotency_keys=[None]),  # type: ignore[arg-type]
        Import(messages=[Message(role="user", content="I row.")]),  # type: ignore[arg-type]
    ],
    ids=lambda made: type(made).__name__,
)
def test_a_request_made_of_lists_is_hashed_and_comes_back_from_json_as_it_was(made: Request[Any]) -> None:
    again = from_json(type(made), json.loads(json.dumps(to_json(made))))
    assert again == made
    assert len({again, made}) == 1


@pytest.mark.parametrize("cls", VERBS, ids=lambda cls: cls.__name__)
def test_a_request_has_the_parameters_of_its_verb(cls: type[Request[Any]]) -> None:
    taken = signature(VERBS[cls]).parameters
    assert set(signature(cls).parameters) <= set(taken)
    for name, parameter in signature(cls).parameters.items():
        if (cls, name) != (NewMemory, "level"):  # the engine's is `user`, the face's that of the kind
            assert parameter.default == taken[name].default


async def test_a_request_that_was_sent_as_json_is_answered(engine: MemoryEngine) -> None:
    sent = to_json(Capture(message="I live in Oslo."))
    await engine.handle(from_json(Capture, sent), actor=ANA)
    assert await engine.handle(from_json(Count, to_json(Count())), actor=ANA) == 1
