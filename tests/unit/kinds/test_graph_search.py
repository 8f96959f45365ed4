"""From the names in a question to what is near them: whose, as of when, how far, and what becomes of a slow graph."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.graph.search import MAX_REACHED, MAX_UNSAID, GraphNeighbourhood
from mnemic.kinds.entity import EntityMemory
from mnemic.retrieve.optional_backends import OptionalBackend
from mnemic.retrieve.relevance import RELATED
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Kind, Level, SearchResult, Where
from mnemic.types.graph import fragment_of

ANA, BEN = Actor(user="ana"), Actor(user="ben")
DAY = timedelta(days=1)
SHORT = timedelta(milliseconds=5)
LONG = OptionalBackend(ManualClock(), timedelta(minutes=2))
CITY = "Which city is my sister's employer in?"
CANTEEN = "When is the canteen of Eva's employer closed?"
FRIDAYS = "Siemens' canteen is closed on Fridays."


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store, graph = SqliteStore(tmp_path / "m.db"), SqliteGraph(tmp_path / "m.db")
    async with MemoryEngine(store=store, graph=graph, embedder=WordEmbedder(), clock=ManualClock()) as engine:
        engine.gateway.searcher.surroundings = GraphNeighbourhood(graph, LONG)
        entity = entities(engine)
        await entity.relate("me", "sister", "Eva")
        await entity.relate("Eva", "works_at", "Siemens")
        await entity.relate("Siemens", "located_in", "Munich")
        await engine.add(FRIDAYS, actor=ANA)
        yield engine


def entities(engine: MemoryEngine, actor: Actor = ANA) -> EntityMemory[Awaited]:
    return EntityMemory(engine, actor, async_mode())


def tick(engine: MemoryEngine, days: int = 1) -> None:
    assert isinstance(engine.clock, ManualClock)
    engine.clock.advance(days * DAY)


def in_list(result: SearchResult, name: str) -> list[str]:
    """What one list found, its best first."""
    found = [(hit.ranks[name].position, hit.memory.content) for hit in result.hits if name in hit.ranks]
    return [content for _, content in sorted(found)]


async def test_a_known_relation_is_known_in_whatever_words_it_was_told(engine: MemoryEngine) -> None:
    await entities(engine).relate("me", "brother", "Jonas")
    for number in range(40):
        await engine.add(f"Unlike anything: {number} plums, pears.", actor=ANA, kind=Kind.EPISODIC)
    result = await engine.search("Wie heißt mein Bruder?", actor=ANA)
    assert in_list(result, "graph") == ["Jonas is the brother of the user."]
    assert (result.relevance, result.abstains) == (RELATED, False)
    assert (await engine.search("Wie heißt mein Onkel?", actor=ANA)).abstains


async def test_a_role_and_a_name_lead_two_relations_far(engine: MemoryEngine) -> None:
    city = await engine.search(CITY, actor=ANA)
    assert city.plan.nodes == ("person:eva",)
    assert set(in_list(city, "graph")) == {
        "Eva is the sister of the user.",
        "Eva works at Siemens.",
        "Siemens is in Munich.",
    }
    canteen = await engine.search(CANTEEN, actor=ANA)
    assert in_list(canteen, "graph")[0] == "Eva works at Siemens."
    assert FRIDAYS in in_list(canteen, "near")
    assert canteen.plan.as_dict()["nodes"] == ["person:eva"]
    assert canteen.plan.as_dict()["reached"] == 2


@pytest.mark.parametrize("query", ["evas Chef", "EVA'S employer", "where does éva work", "Eva"])
async def test_names_are_known_however_they_are_written(engine: MemoryEngine, query: str) -> None:
    assert (await engine.search(query, actor=ANA)).plan.nodes == ("person:eva",)


@pytest.mark.parametrize("query", ["the canteen", "my car", "whose sister is it", "", "  "])
async def test_what_names_nothing_goes_nowhere(engine: MemoryEngine, query: str) -> None:
    plan = (await engine.search(query, actor=ANA)).plan
    assert (plan.nodes, plan.reached) == ((), 0)
    assert not {"graph", "near"} & set(plan.lists)


async def test_nobody_goes_through_the_user(engine: MemoryEngine) -> None:
    await entities(engine).relate("me", "works_at", "Bosch")
    found = in_list(await engine.search("Where does Eva live?", actor=ANA), "graph")
    assert "Eva is the sister of the user." in found
    assert not any("Bosch" in content for content in found)


async def test_what_is_one_is_reached_by_any_of_its_names(engine: MemoryEngine) -> None:
    entity = entities(engine)
    await entity.mention("Evita", label="person")
    assert "near" not in (await engine.search("Where does Evita work?", actor=ANA)).plan.lists
    same = await entity.same("Evita", "Eva")
    merged = await engine.search("Where does Evita work?", actor=ANA)
    assert merged.plan.nodes == ("person:eva",)
    assert "Eva works at Siemens." in in_list(merged, "graph")
    assert same.memory_id is not None
    await engine.forget(same.memory_id, actor=ANA)
    assert (await engine.search("Where does Evita work?", actor=ANA)).plan.nodes == ("person:evita",)


async def test_another_name_of_what_is_meant_is_looked_for(engine: MemoryEngine) -> None:
    await entities(engine).mention("Robert", label="person", aliases=["Bob"])
    await engine.add("Bob plays the cello.", actor=ANA)
    assert in_list(await engine.search("What does Robert play?", actor=ANA), "near")[0] == "Bob plays the cello."


async def test_an_ended_relation_leads_on_in_its_own_time(engine: MemoryEngine) -> None:
    tick(engine)
    then = engine.clock.now()
    tick(engine)
    await entities(engine).relate("Eva", "works_at", "Bosch")
    tick(engine)
    now = in_list(await engine.search(CANTEEN, actor=ANA), "graph")
    assert "Eva works at Bosch." in now
    assert "Eva works at Siemens." not in now
    for times in ({"as_of": then}, {"known_at": then}):
        before = await engine.search(CANTEEN, actor=ANA, **times)
        assert "Eva works at Siemens." in in_list(before, "graph")
        assert "Eva works at Bosch." not in {hit.memory.content for hit in before.hits}
        assert FRIDAYS in in_list(before, "near")
    early = await engine.search(CANTEEN, actor=ANA, known_at=then - 3 * DAY)
    assert (early.hits, early.plan.nodes) == ((), ())


async def test_what_was_told_later_was_not_known(engine: MemoryEngine) -> None:
    tick(engine)
    then = engine.clock.now()
    tick(engine)
    await entities(engine).relate("Eva", "married_to", "Tom", since=then - 300 * DAY)
    assert in_list(await engine.search("Who is Eva married to?", actor=ANA), "graph")[0] == "Eva is married to Tom."
    past = await engine.search("Who is Eva married to?", actor=ANA, known_at=then)
    assert not any("Tom" in hit.memory.content for hit in past.hits)
    assert past.plan.reached == 2


async def test_what_was_forgotten_leads_nowhere(engine: MemoryEngine) -> None:
    (job,) = [one for one in await engine.list(actor=ANA) if one.content == "Eva works at Siemens."]
    await engine.forget(job.memory_id, actor=ANA)
    found = await engine.search(CITY, actor=ANA)
    assert in_list(found, "graph") == ["Eva is the sister of the user."]
    await engine.erase("ana", actor=ANA)
    gone = await engine.search(CITY, actor=ANA)
    assert (gone.hits, gone.plan.nodes, gone.plan.reached) == ((), (), 0)


async def test_another_user_of_the_same_names_sees_nothing_of_it(engine: MemoryEngine) -> None:
    assert (await engine.search(CANTEEN, actor=BEN)).plan.nodes == ()
    await entities(engine, BEN).relate("Eva", "works_at", "Bosch")
    theirs = await engine.search(CANTEEN, actor=BEN)
    assert in_list(theirs, "graph") == ["Eva works at Bosch."]
    assert not any("Siemens" in hit.memory.content for hit in theirs.hits)
    assert not any("Bosch" in hit.memory.content for hit in (await engine.search(CANTEEN, actor=ANA)).hits)


async def test_another_level_alone_has_no_names(engine: MemoryEngine) -> None:
    surroundings = engine.gateway.searcher.surroundings
    assert surroundings is not None
    shared = Where(scopes=(Actor(user="ana", workspace="w").scope(Level.WORKSPACE),))
    assert await engine.store.read(lambda moment: surroundings.find_named(CANTEEN, shared, moment)) is None


async def test_what_is_hidden_by_consent_leads_nowhere(engine: MemoryEngine) -> None:
    await engine.revoke_consent("entity:person:eva:works_at", actor=ANA)
    found = await engine.search(CITY, actor=ANA)
    assert in_list(found, "graph") == ["Eva is the sister of the user."]
    assert "Siemens is in Munich." not in in_list(found, "near")
    await engine.revoke_consent("entity:person:eva", actor=ANA)
    assert (await engine.search(CANTEEN, actor=ANA)).plan.nodes == ()


async def test_a_filter_of_kinds_bounds_what_is_found_not_the_way(engine: MemoryEngine) -> None:
    found = await engine.search(CANTEEN, actor=ANA, kinds=["long_term"])
    assert [hit.memory.content for hit in found.hits] == [FRIDAYS]
    assert in_list(found, "near") == [FRIDAYS]
    assert "graph" not in found.plan.lists


async def test_of_many_the_nearest_and_the_asked_for_come(engine: MemoryEngine) -> None:
    entity = entities(engine)
    for number in range(40):
        await entity.relate("Eva", "knows", f"Person {chr(65 + number % 26)}{number}")
    hired = await engine.search("Whom did Eva's employer hire?", actor=ANA, top_k=50)
    assert (hired.plan.nodes, hired.plan.reached) == (("person:eva",), 1 + MAX_UNSAID)
    known = in_list(await engine.search("Whom does Eva know?", actor=ANA, top_k=50), "graph")
    assert len([content for content in known if "knows" in content]) == MAX_REACHED
    assert set(known[MAX_REACHED:]) == {"Eva works at Siemens.", "Eva is the sister of the user."}


class Faulty(InProcessGraph):
    """A graph that never answers, or fails."""

    failure: Exception | None = None
    asked = 0

    async def neighbours(self, *given: Any, **more: Any) -> Any:
        self.asked += 1
        if self.failure is not None:
            raise self.failure
        await asyncio.Event().wait()


@pytest.mark.parametrize(("failure", "reason"), [(None, "store_busy"), (StoreUnavailable(), "store_unavailable")])
async def test_a_graph_that_fails_or_is_late_is_named(failure: Exception | None, reason: str) -> None:
    graph = Faulty()
    graph.failure = failure
    async with MemoryEngine(store=InProcessStore(), graph=graph, embedder=WordEmbedder()) as engine:
        backend = LONG if failure else OptionalBackend(ManualClock(), SHORT)
        engine.gateway.searcher.surroundings = GraphNeighbourhood(graph, backend)
        await entities(engine).relate("Eva", "works_at", "Siemens")
        found = await engine.search("Where does Eva work?", actor=ANA)
        assert (found.errors, found.degraded) == ({"graph": reason}, True)
        assert "Eva works at Siemens." in {hit.memory.content for hit in found.hits}
        assert (await engine.search("the weather", actor=ANA)).errors == {}


async def test_a_graph_that_hangs_costs_one_search_its_time_limit() -> None:
    graph, clock = Faulty(), ManualClock()
    async with MemoryEngine(store=InProcessStore(), graph=graph, embedder=WordEmbedder()) as engine:
        backend = OptionalBackend(clock, SHORT)
        engine.gateway.searcher.surroundings = GraphNeighbourhood(graph, backend)
        await entities(engine).relate("Eva", "works_at", "Siemens")

        async def found() -> dict[str, str]:
            return dict((await engine.search("Where does Eva work?", actor=ANA)).errors)

        assert await found() == await found() == await found() == {"graph": "store_busy"}
        assert graph.asked == 1
        clock.advance(backend.rest)
        assert await found() == {"graph": "store_busy"}
        assert graph.asked == 2


async def test_a_caller_in_a_hurry_does_not_put_the_graph_to_rest() -> None:
    backend = OptionalBackend(ManualClock(), timedelta(minutes=2))
    with pytest.raises(StoreBusy):
        await backend.call(asyncio.Event().wait, Deadline(expires_at=0.0, monotonic=lambda: 1.0))
    assert await backend.call(partial(asyncio.sleep, 0, "an answer")) == "an answer"


async def test_a_walk_ends_with_the_deadline_of_the_search() -> None:
    async with MemoryEngine(store=InProcessStore(), graph=Faulty(), embedder=WordEmbedder()) as engine:
        await entities(engine).relate("Eva", "works_at", "Siemens")
        surroundings, where = GraphNeighbourhood(Faulty(), LONG), Where(scopes=(ANA.scope(Level.USER),))
        walk = await engine.store.read(lambda moment: surroundings.find_named(CANTEEN, where, moment))
        assert walk is not None
        with pytest.raises(StoreBusy):
            await walk(Deadline(expires_at=0.0, monotonic=lambda: 1.0))


NAMES = st.sampled_from(["me", "Eva", "Ben", "Siemens", "Munich"])
TOLD = st.tuples(NAMES, st.sampled_from(["sister", "works_at", "located_in", "knows"]), NAMES, st.booleans())


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    told=st.lists(TOLD, max_size=8),
    hidden=st.sets(st.integers(0, 30)),
    kinds=st.sampled_from([None, frozenset({Kind.LONG_TERM})]),
)
async def test_nothing_comes_that_the_filter_does_not_accept(
    told: list[tuple[str, str, str, bool]], hidden: set[int], kinds: frozenset[Kind] | None
) -> None:
    graph = InProcessGraph()
    async with MemoryEngine(store=InProcessStore(), graph=graph, embedder=WordEmbedder()) as engine:
        engine.gateway.searcher.surroundings = GraphNeighbourhood(graph, LONG)
        for source, relation, target, ends in told:
            if source != target:
                await (entities(engine).end if ends else entities(engine).relate)(source, relation, target)
        await engine.add(FRIDAYS, actor=ANA)
        memories = await engine.list(actor=ANA, limit=500)
        for one in memories:
            held = fragment_of(one)
            await graph.link(one.scope, [held] if held is not None else [])
        keys = sorted(one.key for one in memories if one.key is not None)
        where = Where(
            scopes=(ANA.scope(Level.USER),),
            kinds=kinds,
            hidden_keys=frozenset(key for number, key in enumerate(keys) if number in hidden),
            live_at=engine.clock.now(),
        )
        for query in (CITY, CANTEEN, "Ben Munich Siemens"):
            found = await engine.gateway.searcher.search(query, where, top_k=50)
            assert found.errors == {}
            assert all(where.accepts(hit.memory) for hit in found.hits)
            passed = {hit.memory.key for hit in found.hits if "graph" in hit.ranks}
            assert not passed & where.hidden_keys
