"""Entities of one user: who is who, what ends when, what stays apart."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, NotSupported, StoreUnavailable
from mnemic.graph.entity_names import SAME
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.kinds.entity import EntityMemory
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Fragment, Kind, Level, Neighbour, Node, Outcome, Relation

ANA, BEN = Actor(user="ana"), Actor(user="ben")
DAY = timedelta(days=1)


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store, graph = SqliteStore(tmp_path / "m.db"), SqliteGraph(tmp_path / "m.db")
    async with MemoryEngine(store=store, graph=graph, embedder=WordEmbedder(), clock=ManualClock()) as engine:
        yield engine


@pytest.fixture
def entity(engine: MemoryEngine) -> EntityMemory[Awaited]:
    return EntityMemory(engine, ANA, async_mode())


def tick(engine: MemoryEngine, days: int = 1) -> None:
    assert isinstance(engine.clock, ManualClock)
    engine.clock.advance(days * DAY)


def names(found: object) -> set[str]:
    assert isinstance(found, list)
    return {one.node.name if isinstance(one, Neighbour) else one.name for one in found}


async def test_the_seeds_example(entity: EntityMemory[Awaited]) -> None:
    extracted = await entity.extract("I loved dinner at Le Chat Noir in Paris near the Eiffel Tower")
    assert [one.outcome for one in extracted.receipts] == [Outcome.CREATED] * 5
    assert names(await entity.of_user("restaurant")) == {"Le Chat Noir"}
    found = {(one.path[0].relation, one.node.name) for one in await entity.neighbours("Le Chat Noir")}
    assert found == {("located_in", "Paris"), ("near", "Eiffel Tower")}


async def test_hops_and_paths(entity: EntityMemory[Awaited]) -> None:
    await entity.extract("My sister Ana works at Siemens in Berlin.")
    assert names(await entity.neighbours()) == {"Ana"}
    assert names(await entity.neighbours(hops=3)) == {"Ana", "Siemens", "Berlin"}
    way = await entity.path("me", "Berlin")
    assert way is not None
    assert [one.relation for one in way] == ["sister", "works_at", "located_in"]
    assert await entity.path("me", "Atlantis") is None
    assert await entity.neighbours("Atlantis") == []


async def test_saying_it_again_changes_nothing(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    text = "My sister Ana works at Siemens in Berlin."
    await entity.extract(text)
    before = await engine.count(actor=ANA)
    again = await entity.extract(text)
    assert {one.outcome for one in again.receipts} == {Outcome.REFRESHED}
    assert await engine.count(actor=ANA) == before


async def test_a_new_employer_ends_the_old_one(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    await entity.relate("Ana", "works_at", "Siemens")
    before = engine.clock.now()
    tick(engine)
    await entity.relate("Ana", "works_at", "Bosch")
    assert names(await entity.neighbours("Ana")) == {"Bosch"}
    assert names(await entity.neighbours("Ana", at=before)) == {"Siemens"}
    tick(engine)
    assert await entity.end("Ana", "works_at", "Siemens") is None
    ended = await entity.end("Ana", "works_at", "Bosch")
    assert ended is not None
    assert await entity.neighbours("Ana") == []
    tick(engine)
    assert names(await entity.neighbours("Ana", at=engine.clock.now() - 2 * DAY)) == {"Bosch"}


async def test_what_can_be_many_stays_side_by_side(entity: EntityMemory[Awaited]) -> None:
    for friend in ("Bob", "Rob", "Bobby"):
        receipt = await entity.relate("Ana", "knows", friend)
        assert receipt.outcome is Outcome.CREATED
    assert names(await entity.neighbours("Ana")) == {"Bob", "Rob", "Bobby"}


async def test_spellings_are_one_and_other_names_lead_there(entity: EntityMemory[Awaited]) -> None:
    await entity.mention("Ana García", label="person", aliases=["Anita"])
    await entity.relate("ana garcia", "works_at", "Siemens AG")
    await entity.relate("Dr. Ana García", "knows", "Bob")
    await entity.relate("ANITA", "lives_in", "Berlin")
    await entity.relate("Eva", "works_at", "siemens")
    assert names(await entity.of_user("person")) == {"Ana García", "Bob", "Eva"}
    assert names(await entity.neighbours("Anita")) == {"Siemens AG", "Bob", "Berlin"}
    assert names(await entity.neighbours("Siemens")) == {"Ana García", "Eva"}
    (seen,) = [one for one in await entity.of_user("person") if one.name == "Ana García"]
    assert "Anita" in seen.aliases


async def test_like_names_are_never_guessed_to_be_one(entity: EntityMemory[Awaited]) -> None:
    await entity.relate("Ana", "works_at", "Siemens")
    await entity.relate("Ana García", "works_at", "Bosch")
    await entity.relate("Paris", "sister", "Nicky")
    await entity.relate("Ana", "lives_in", "Paris")
    assert names(await entity.of_user("person")) == {"Ana", "Ana García", "Paris", "Nicky"}
    assert names(await entity.of_user("place")) == {"Paris"}


async def test_what_was_a_thing_is_known_better_later(entity: EntityMemory[Awaited]) -> None:
    await entity.mention("Siemens")
    await entity.relate("Ana", "works_at", "Siemens")
    assert [(one.name, one.label) for one in await entity.of_user() if one.name == "Siemens"] == [
        ("Siemens", "organisation")
    ]


async def test_my_sister_is_who_was_named_before(entity: EntityMemory[Awaited]) -> None:
    unknown = await entity.extract("My sister lives in Rome.")
    assert unknown.unresolved == 1
    await entity.extract("My sister Ana called.")
    await entity.extract("My sister lives in Rome.")
    assert names(await entity.neighbours("Ana")) == {"the user", "Rome"}
    await entity.extract("My sister Eva called.")
    assert (await entity.extract("My sister lives in Oslo.")).unresolved == 1


async def test_users_share_no_entity(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    ben = EntityMemory(engine, BEN, async_mode())
    await entity.relate("Le Chat Noir", "located_in", "Paris")
    (before,) = [one for one in await entity.of_user() if one.name == "Paris"]
    tick(engine)
    await ben.relate("Le Chat Noir", "located_in", "Lyon")
    (after,) = [one for one in await entity.of_user() if one.name == "Paris"]
    assert (before, names(await ben.of_user())) == (after, {"Le Chat Noir", "Lyon"})


async def test_forgetting_and_erasing_leave_no_entity(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    ben = EntityMemory(engine, BEN, async_mode())
    receipt = await entity.relate("Ana", "works_at", "Siemens")
    await ben.relate("Ana", "works_at", "Siemens")
    assert receipt.memory_id is not None
    await engine.forget(receipt.memory_id, actor=ANA)
    assert await entity.neighbours("Ana") == []
    await entity.relate("Zyxwvut", "knows", "Qponmlk")
    erased = await engine.erase("ana", actor=BEN)
    assert erased.complete
    assert await entity.of_user() == []
    assert names(await ben.of_user()) == {"Ana", "Siemens"}


@pytest.mark.parametrize("name", ["", "  ", "alice@acme.com", "+49 170 1234567", "x" * 81, "a\tb"])
async def test_an_address_is_no_name(entity: EntityMemory[Awaited], name: str) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:name"):
        await entity.mention(name)
    with pytest.raises(InvalidInput, match="invalid_input:name"):
        await entity.relate("Ana", "knows", name)


async def test_labels_and_relations_are_words(entity: EntityMemory[Awaited]) -> None:
    with pytest.raises(InvalidInput, match="invalid_input:label"):
        await entity.mention("Ana", label="Person")
    with pytest.raises(InvalidInput, match="invalid_input:relation"):
        await entity.relate("Ana", "works at", "Siemens")


async def test_where_it_was_said_is_kept(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    extracted = await entity.extract("Hello there. My sister Ana works at Siemens.")
    memories = [await engine.get(one.memory_id or "", actor=ANA) for one in extracted.receipts]
    assert {one.source.quote for one in memories} == {"My sister Ana works at Siemens."}


async def test_add_goes_to_the_entities(engine: MemoryEngine) -> None:
    kinds = SevenKinds(engine, ANA, async_mode())
    receipt = await kinds.add("My sister Ana works at Siemens.", Kind.ENTITY)
    assert receipt.outcome is Outcome.CREATED
    assert names(await kinds.entity.neighbours(hops=2)) == {"Ana", "Siemens"}
    hits = await kinds.retrieve("where does Ana work", [Kind.ENTITY])
    assert "Ana works at Siemens." in {hit.content for hit in hits}


async def test_without_a_graph_memories_are_kept_all_the_same(tmp_path: Path) -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as engine:
        entity = EntityMemory(engine, ANA, async_mode())
        receipt = await entity.relate("Ana", "works_at", "Siemens")
        assert receipt.outcome is Outcome.CREATED
        assert (await entity.extract("My sister lives in Rome.")).unresolved == 1
        with pytest.raises(NotSupported, match="not_supported:graph"):
            await entity.of_user()


async def test_a_closed_graph_says_so(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    assert engine.graph is not None
    await engine.graph.close()
    with pytest.raises(StoreUnavailable):
        await entity.of_user()


async def test_two_names_of_one_are_one_until_they_are_taken_apart(entity: EntityMemory[Awaited]) -> None:
    await entity.relate("Bob", "works_at", "Siemens")
    await entity.relate("Robert Smith", "lives_in", "Berlin")
    await entity.relate("Eva", "knows", "Bob")
    await entity.relate("Siemens", "located_in", "Munich")
    assert await entity.path("Eva", "Berlin") is None
    await entity.same("Bob", "Robert Smith")
    for name in ("Bob", "Robert Smith"):
        assert names(await entity.neighbours(name)) == {"Siemens", "Berlin", "Eva"}
    assert {one.node.name: one.hops for one in await entity.neighbours("Eva", hops=2)} == {
        "Robert Smith": 1,
        "Siemens": 2,
        "Berlin": 2,
    }
    way = await entity.path("Eva", "Berlin")
    assert way is not None
    assert [(one.source, one.relation) for one in way] == [
        ("person:eva", "knows"),
        ("person:robert-smith", "lives_in"),
    ]
    assert await entity.path("Eva", "Munich", hops=2) is None
    assert names(await entity.of_user("person")) == {"Eva", "Robert Smith"}
    (robert,) = [one for one in await entity.of_user("person") if one.name == "Robert Smith"]
    assert robert.aliases == ("Bob",)
    assert await entity.separate("Robert Smith", "Bob") is not None
    assert await entity.separate("Robert Smith", "Bob") is None
    assert names(await entity.neighbours("Bob")) == {"Siemens", "Eva"}
    assert names(await entity.neighbours("Robert Smith")) == {"Berlin"}
    assert names(await entity.of_user("person")) == {"Eva", "Bob", "Robert Smith"}


async def test_what_is_told_of_one_name_ends_what_was_told_of_the_other(
    engine: MemoryEngine, entity: EntityMemory[Awaited]
) -> None:
    await entity.relate("Bob", "works_at", "Siemens")
    await entity.relate("Robert Smith", "lives_in", "Berlin")
    before = engine.clock.now()
    tick(engine)
    await entity.same("Bob", "Robert Smith")
    assert names(await entity.neighbours("Robert Smith", at=before)) == {"Siemens", "Berlin"}, "he always was"
    tick(engine)
    await entity.relate("Robert Smith", "works_at", "Bosch")
    assert names(await entity.neighbours("Bob")) == {"Bosch", "Berlin"}
    assert await entity.end("Bob", "lives_in", "Berlin") is not None
    assert names(await entity.neighbours("Bob")) == {"Bosch"}
    await entity.mention("Bob", label="person")
    await entity.separate("Bob", "Robert Smith")
    assert names(await entity.of_user("person")) == {"Bob", "Robert Smith"}
    assert await entity.neighbours("Bob") == []


async def test_chains_and_circles_of_names_are_one(engine: MemoryEngine, entity: EntityMemory[Awaited]) -> None:
    for name, home in (("Bob", "Oslo"), ("Rob", "Paris"), ("Robert", "Rome")):
        await entity.mention(name, label="person")
        await entity.relate(name, "knows", f"Friend {home}")
    await entity.same("Bob", "Rob")
    await entity.same("Rob", "Robert")
    receipt = await entity.same("Robert", "Bob")
    assert names(await entity.neighbours("Bob")) == {"Friend Oslo", "Friend Paris", "Friend Rome"}
    await engine.forget(receipt.memory_id or "", actor=ANA)
    assert {one.name for one in await entity.of_user("person") if not one.name.startswith("Friend")} == {"Robert"}


async def test_a_relation_between_two_names_of_one_is_no_detour(entity: EntityMemory[Awaited]) -> None:
    await entity.relate("Robert", "knows", "Bea")
    await entity.relate("Bob", "knows", "Zed")
    await entity.relate("Bea", "knows", "Zed")
    await entity.same("Bob", "Robert")
    for name in ("Bob", "Robert"):
        assert {one.node.name: one.hops for one in await entity.neighbours(name)} == {"Bea": 1, "Zed": 1}
    way = await entity.path("Robert", "Zed", hops=1)
    assert way is not None
    assert [(one.source, one.target) for one in way] == [("person:robert", "person:zed")]
    assert await entity.path("Bob", "Robert", hops=1) == ()


async def test_chains_of_names_do_not_shorten_walks(entity: EntityMemory[Awaited]) -> None:
    for name, other in (("Ann", "Bob"), ("Bob", "Cay"), ("Cay", "Dan"), ("Dan", "Eva"), ("Eva", "Fay"), ("Fay", "Gil")):
        await entity.relate(name, "knows", other)
    await entity.relate("Rob", "knows", "Zed")
    await entity.same("Rob", "Bob")
    assert {one.node.name: one.hops for one in await entity.neighbours("Ann", hops=6)} == {
        "Bob": 1, "Cay": 2, "Zed": 2, "Dan": 3, "Eva": 4, "Fay": 5, "Gil": 6,
    }  # fmt: skip
    way = await entity.path("Zed", "Gil", hops=6)
    assert way is not None
    assert len(way) == 6
    assert await entity.path("Zed", "Gil", hops=5) is None
    assert [one.node.name for one in await entity.neighbours("Ann", hops=6, limit=2)][:1] == ["Bob"]
    for wrong in ({"hops": 7}, {"hops": 0}, {"limit": 0}, {"limit": 501}):
        with pytest.raises(InvalidInput):
            await entity.neighbours("Ann", **wrong)
    with pytest.raises(InvalidInput):
        await entity.path("Ann", "Gil", hops=7)


async def test_in_a_large_graph_a_way_is_found_behind_the_nodes_that_are_listed(
    engine: MemoryEngine, entity: EntityMemory[Awaited]
) -> None:
    await entity.relate("Hub", "knows", "Zed")
    tick(engine)
    await entity.relate("Bob", "knows", "Hub")
    await entity.mention("Robert", label="person")
    await entity.same("Robert", "Bob")
    assert engine.graph is not None
    hub = Node(node="person:hub", name="Hub", label="person")
    for part in range(3):
        some = [Node(node=f"thing:{part}-{n}", name=f"T{n}") for n in range(250)]
        relations = tuple(Relation(source="person:hub", relation="knows", target=one.node) for one in some)
        fragment = Fragment(memory_id=f"m{part}", seen_at=engine.clock.now(), nodes=(hub, *some), relations=relations)
        await engine.graph.link(ANA.scope(Level.USER), [fragment])
    assert "Zed" not in names(await entity.neighbours("Robert", hops=2, limit=500))
    way = await entity.path("Robert", "Zed", hops=2)
    assert way is not None
    assert [(one.source, one.target) for one in way] == [("person:bob", "person:hub"), ("person:hub", "person:zed")]
    assert await entity.path("Robert", "Nobody", hops=2) is None


async def test_names_that_are_one_are_read_once_a_verb(
    engine: MemoryEngine, entity: EntityMemory[Awaited], monkeypatch: pytest.MonkeyPatch
) -> None:
    await entity.relate("Bob", "works_at", "Siemens")
    asked: list[object] = []
    listing = engine.list

    async def counted(**filters: Any) -> Any:
        asked.append(filters.get("categories"))
        return await listing(**filters)

    monkeypatch.setattr(engine, "list", counted)
    await entity.path("Bob", "Siemens")
    assert asked.count([SAME]) == 1
    await entity.neighbours("Bob")
    assert asked.count([SAME]) == 2
    await entity.extract("My sister Ana works at Siemens in Berlin.")
    assert asked.count([SAME]) == 3


@pytest.mark.parametrize(("name", "other"), [("Bob", "Nobody"), ("Bob", "Bob"), ("me", "Bob")])
async def test_only_two_known_things_can_be_one(entity: EntityMemory[Awaited], name: str, other: str) -> None:
    await entity.mention("Bob", label="person")
    with pytest.raises(InvalidInput):
        await entity.same(name, other)
    assert await entity.separate(name, other) is None
