"""Contract of every graph store, as one pytest class: subclass it and define `new_store`."""

# ruff: noqa: D102

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
import pytest_asyncio

from mnemic.errors import InvalidInput, StoreUnavailable
from mnemic.ports.further_stores import GraphStore
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store.fixtures import EMBEDDER, everything, memory
from mnemic.testing.record_store.graph_search import CANTEEN, CITY, FRIDAYS, ask, contents, family, tell
from mnemic.types import Fragment, Level, Node, Relation, Scope
from mnemic.types.graph import episode_node

START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
DAY = timedelta(days=1)

HOSTILE = (
    "Robert'); DROP TABLE graph_node;--",
    "' OR 1=1 --",
    "}) DETACH DELETE n //",
    "`n`) MATCH (m) RETURN m //",
    "$name",
    "{name}",
    "%s %(name)s",
    "\\' \\\" \\",
    "</memory><system>",
    'a"b,[c]{d}',
    "naïve Ωmega 東京 🙂",
    "line\nbreak\ttab",
    "*?[a-z]",
    "null",
)
"""Names that a careless store would execute, split or lose."""


def scope(owner: str = "ana", tenant: str = "acme", level: Level = Level.USER) -> Scope:
    """Return a scope of the tests."""
    return Scope(tenant=tenant, level=level, owner=owner)


def node(name: str, label: str = "person", *aliases: str) -> Node:
    """Return a node whose identity is its name."""
    return Node(node=name, name=name, label=label, aliases=aliases)


def fragment(
    memory_id: str,
    *triples: tuple[str, str, str],
    day: int = 0,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
) -> Fragment:
    """Return a memory that states these triples on a day; `valid_from` and `valid_to` apply to all of them."""
    holds = {"valid_from": valid_from, "valid_to": valid_to}
    names = dict.fromkeys(end for source, _, target in triples for end in (source, target))
    return Fragment(
        memory_id=memory_id,
        seen_at=START + day * DAY,
        nodes=tuple(node(name) for name in names),
        relations=tuple(Relation(source=one, relation=how, target=two, **holds) for one, how, two in triples),  # type: ignore[arg-type]
    )


def mention(memory_id: str, *nodes: Node, day: int = 0) -> Fragment:
    """Return a memory that only names things."""
    return Fragment(memory_id=memory_id, seen_at=START + day * DAY, nodes=nodes)


async def names(store: GraphStore, where: Scope | None = None) -> list[str]:
    """Return the identities of all nodes of a scope, last seen first."""
    return [one.node for one in await store.nodes(where or scope(), limit=500)]


async def distances_around(store: GraphStore, start: str, **more: object) -> dict[str, int]:
    """Return the distance of each neighbour, in relations."""
    found = await store.neighbours(scope(), start, **more)  # type: ignore[arg-type]
    return {one.node.node: one.hops for one in found}


class GraphStoreContract:
    """Everything `mnemic.ports.GraphStore` promises."""

    pytestmark = pytest.mark.asyncio

    def new_store(self) -> GraphStore:
        """Return the store under test, empty, not yet open."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def store(self) -> AsyncIterator[GraphStore]:
        """Yield a store that is open, and closed afterwards."""
        store = self.new_store()
        await store.open()
        await store.open()
        yield store
        await store.close()
        await store.close()

    async def test_what_was_linked_is_found(self, store: GraphStore) -> None:
        await store.link(scope(), [fragment("m1", ("ana", "works_at", "siemens"))])
        (found,) = await store.neighbours(scope(), "ana")
        assert (found.node.node, found.hops) == ("siemens", 1)
        assert found.path == (Relation(source="ana", relation="works_at", target="siemens", memory_id="m1"),)
        (back,) = await store.neighbours(scope(), "siemens")
        assert back.node.node == "ana"
        assert back.path == found.path

    async def test_linking_twice_changes_nothing(self, store: GraphStore) -> None:
        said = [fragment("m1", ("ana", "knows", "bo")), fragment("m2", ("bo", "knows", "cy"), day=1)]
        await store.link(scope(), said)
        before = await store.nodes(scope()), await store.neighbours(scope(), "ana", hops=3)
        await store.link(scope(), said)
        assert (await store.nodes(scope()), await store.neighbours(scope(), "ana", hops=3)) == before

    async def test_a_memory_holds_only_what_it_said_last(self, store: GraphStore) -> None:
        await store.link(scope(), [fragment("m1", ("ana", "works_at", "siemens"))])
        await store.link(scope(), [fragment("m1", ("ana", "works_at", "bosch"))])
        assert await distances_around(store, "ana") == {"bosch": 1}
        assert await names(store) == ["ana", "bosch"]

    async def test_the_last_fragment_of_a_batch_counts(self, store: GraphStore) -> None:
        await store.link(scope(), [fragment("m1", ("a", "knows", "b")), fragment("m1", ("a", "knows", "c"))])
        assert await names(store) == ["a", "c"]

    async def test_nodes_are_owned(self, store: GraphStore) -> None:
        scopes = [
            scope("ana"),
            scope("bo"),
            scope("ana", tenant="other"),
            scope("ana", level=Level.AGENT),
            scope("ana:b"),
            scope("b", tenant="acme:user:ana"),
        ]
        for day, place in enumerate(scopes):
            await store.link(place, [fragment("m1", ("le chat noir", "located_in", f"paris {day}"), day=day)])
        for day, place in enumerate(scopes):
            (seen,) = await store.nodes(place, among=["le chat noir"])
            assert seen.first_seen_at == seen.last_seen_at == START + day * DAY
            (one,) = await store.neighbours(place, "le chat noir", hops=6)
            assert one.node.node == f"paris {day}"
        await store.forget(scopes[0], ["m1"])
        assert await names(store, scopes[0]) == []
        assert [len(await names(store, place)) for place in scopes[1:]] == [2] * 5

    async def test_forgetting_sweeps_what_nothing_else_holds(self, store: GraphStore) -> None:
        await store.link(
            scope(), [fragment("m1", ("ana", "knows", "bo"), ("bo", "knows", "cy")), mention("m2", node("bo"))]
        )
        await store.forget(scope(), ["m1", "absent"])
        assert await names(store) == ["bo"]
        assert await distances_around(store, "bo") == {}
        assert await store.traces("acme", ["m1"]) == 0
        await store.forget(scope(), ["m2"])
        assert await names(store) == []

    async def test_traces_count_what_memories_hold(self, store: GraphStore) -> None:
        await store.link(scope(), [fragment("m1", ("ana", "knows", "bo"))])
        await store.link(scope("bo"), [mention("m2", node("ana"))])
        assert await store.traces("acme", ["m1"]) == 3
        assert await store.traces("acme", ["m1", "m2", "absent"]) == 4
        assert await store.traces("other", ["m1", "m2"]) == 0
        assert await store.traces("acme", []) == 0

    async def test_a_parallel_relation_stays_with_its_memory(self, store: GraphStore) -> None:
        await store.link(
            scope(), [fragment("m1", ("ana", "works_at", "siemens")), fragment("m2", ("ana", "works_at", "siemens"))]
        )
        (found,) = await store.neighbours(scope(), "ana")
        assert found.path[0].memory_id == "m2"
        await store.forget(scope(), ["m2"])
        (found,) = await store.neighbours(scope(), "ana")
        assert found.path[0].memory_id == "m1"

    async def test_relations_begin_and_end(self, store: GraphStore) -> None:
        await store.link(
            scope(),
            [
                fragment("m1", ("ana", "works_at", "siemens"), valid_from=START, valid_to=START + 2 * DAY),
                fragment("m2", ("ana", "works_at", "bosch"), valid_from=START + 2 * DAY),
            ],
        )
        when = {day: await distances_around(store, "ana", at=START + day * DAY) for day in (-1, 0, 1, 2, 3)}
        assert when == {-1: {}, 0: {"siemens": 1}, 1: {"siemens": 1}, 2: {"bosch": 1}, 3: {"bosch": 1}}
        assert await distances_around(store, "ana") == {"bosch": 1, "siemens": 1}
        assert await store.path(scope(), "siemens", "bosch", at=START) is None
        past = await store.neighbours(scope(), "ana", at=START)
        assert (past[0].path[0].valid_from, past[0].path[0].valid_to) == (START, START + 2 * DAY)

    async def test_times_are_kept_to_the_microsecond(self, store: GraphStore) -> None:
        moment = START + timedelta(microseconds=123457)
        said = Fragment(
            memory_id="m1",
            seen_at=moment,
            nodes=(node("a"), node("b")),
            relations=(Relation(source="a", relation="knows", target="b", valid_from=moment),),
        )
        await store.link(scope(), [said])
        (found,) = await store.neighbours(scope(), "a", at=moment)
        assert found.node.last_seen_at == found.path[0].valid_from == moment
        assert await distances_around(store, "a", at=moment - timedelta(microseconds=1)) == {}

    async def test_neighbours_come_nearest_first_each_once(self, store: GraphStore) -> None:
        await store.link(
            scope(),
            [
                fragment("m1", ("a", "knows", "b"), ("b", "knows", "c"), ("c", "knows", "a"), ("c", "knows", "d")),
                fragment("m2", ("e", "knows", "d"), day=1),
                fragment("m3", ("a", "knows", "z"), day=2),
            ],
        )
        found = await store.neighbours(scope(), "a", hops=2)
        assert [(one.node.node, one.hops) for one in found] == [("z", 1), ("b", 1), ("c", 1), ("d", 2)]
        assert [one.node.node for one in await store.neighbours(scope(), "a", hops=3)][-1] == "e"
        assert [one.node.node for one in await store.neighbours(scope(), "a", hops=6, limit=2)] == ["z", "b"]
        assert await distances_around(store, "absent", hops=6) == {}

    async def test_a_way_leads_from_end_to_end(self, store: GraphStore) -> None:
        chain = [(f"n{number}", "knows", f"n{number + 1}") for number in range(6)]
        await store.link(scope(), [fragment(f"m{number}", triple) for number, triple in enumerate(chain)])
        way = await store.path(scope(), "n5", "n1", hops=4)
        assert way is not None
        assert [one.memory_id for one in way] == ["m4", "m3", "m2", "m1"]
        assert await store.path(scope(), "n5", "n1", hops=3) is None
        assert await store.path(scope(), "n3", "n3") == ()
        assert await store.path(scope(), "n3", "absent") is None
        assert await store.path(scope(), "absent", "absent") is None
        assert await store.path(scope("bo"), "n0", "n1") is None

    async def test_the_shortest_way_is_taken(self, store: GraphStore) -> None:
        await store.link(
            scope(),
            [
                fragment("m1", ("a", "knows", "b"), ("b", "knows", "c"), ("c", "knows", "d")),
                fragment("m2", ("d", "sister", "x"), ("x", "sister", "a")),
            ],
        )
        way = await store.path(scope(), "a", "d")
        assert way is not None
        assert [(one.source, one.target) for one in way] == [("x", "a"), ("d", "x")]

    async def test_the_last_name_said_counts_and_all_are_kept(self, store: GraphStore) -> None:
        said = [
            ("m1", Node(node="p1", name="Ana", label="person", aliases=("Anita",)), 0),
            ("m2", Node(node="p1", name="Ana García", label="person"), 2),
            ("m3", Node(node="p1", name="Anita", label="colleague"), 1),
        ]
        await store.link(scope(), [mention(memory_id, one, day=day) for memory_id, one, day in said])
        assert await store.nodes(scope()) == [
            Node(
                node="p1",
                name="Ana García",
                label="person",
                aliases=("Ana", "Anita"),
                first_seen_at=START,
                last_seen_at=START + 2 * DAY,
            )
        ]

    async def test_parts_of_episodes_are_listed_where_they_are_asked_for(self, store: GraphStore) -> None:
        part = Node(node=episode_node("e1", "task"), name="task", label="task")
        await store.link(scope(), [mention("m1", node("n1"), day=0), mention("e1", part, day=1)])
        assert await names(store) == ["n1"]
        assert [one.node for one in await store.nodes(scope(), among=["n1", part.node])] == [part.node, "n1"]

    async def test_lists_are_bounded_and_chosen(self, store: GraphStore) -> None:
        await store.link(
            scope(),
            [mention(f"m{day}", node(f"n{day}", "place" if day % 2 else "person"), day=day) for day in range(5)],
        )
        assert [one.node for one in await store.nodes(scope(), limit=2)] == ["n4", "n3"]
        assert [one.node for one in await store.nodes(scope(), label="place")] == ["n3", "n1"]
        assert [one.node for one in await store.nodes(scope(), among=["n0", "n3", "absent"])] == ["n3", "n0"]
        assert await store.nodes(scope(), among=[]) == []
        for limit in (0, -1, 501, True):
            with pytest.raises(InvalidInput, match="invalid_input:limit"):
                await store.nodes(scope(), limit=limit)
            with pytest.raises(InvalidInput, match="invalid_input:limit"):
                await store.neighbours(scope(), "n0", limit=limit)
        for hops in (0, 7, True):
            with pytest.raises(InvalidInput, match="invalid_input:hops"):
                await store.neighbours(scope(), "n0", hops=hops)
            with pytest.raises(InvalidInput, match="invalid_input:hops"):
                await store.path(scope(), "n0", "n1", hops=hops)

    async def test_what_no_node_can_be_called_is_refused(self, store: GraphStore) -> None:
        for name in ("", "a\0b", "\ud800", "x" * 400):
            with pytest.raises(InvalidInput, match="invalid_input:node"):
                await store.neighbours(scope(), name)
            with pytest.raises(InvalidInput, match="invalid_input:node"):
                await store.path(scope(), "a", name)

    async def test_names_are_names(self, store: GraphStore) -> None:
        """Check that a name is data: characters of a query language in it have no effect."""
        await store.link(scope(), [mention("m0", node("bystander"))])
        for number, name in enumerate(HOSTILE):
            said = fragment(f"x{number}", (name, "knows", f"friend {number}"))
            await store.link(scope(), [said])
            (seen,) = await store.nodes(scope(), among=[name])
            assert (seen.node, seen.name) == (name, name)
            assert await distances_around(store, name, hops=6) == {f"friend {number}": 1}
            way = await store.path(scope(), f"friend {number}", name)
            assert way is not None
            assert len(way) == 1
        assert len(await names(store)) == 1 + 2 * len(HOSTILE)
        await store.forget(scope(), [f"x{number}" for number in range(len(HOSTILE))])
        assert await names(store) == ["bystander"]

    async def test_case_and_accents_tell_nodes_apart(self, store: GraphStore) -> None:
        spellings = ["ana", "Ana", "ANA", "aná", "ana "]
        await store.link(scope(), [mention(f"m{number}", node(name)) for number, name in enumerate(spellings)])
        assert sorted(await names(store)) == sorted(spellings)

    async def test_clearing_empties_one_tenant(self, store: GraphStore) -> None:
        await store.link(scope(), [fragment("m1", ("a", "knows", "b"))])
        await store.link(scope(level=Level.AGENT), [mention("m2", node("a"))])
        await store.link(scope(tenant="other"), [fragment("m1", ("a", "knows", "b"))])
        await store.clear("acme")
        assert await names(store) == []
        assert await names(store, scope(level=Level.AGENT)) == []
        assert await names(store, scope(tenant="other")) == ["a", "b"]

    async def test_many_link_at_once(self, store: GraphStore) -> None:
        """Check that nodes that many memories name concurrently are stored once."""
        said = [fragment(f"m{number}", ("hub", "knows", f"n{number % 4}")) for number in range(24)]
        await asyncio.gather(*(store.link(scope(), [one]) for one in said))
        assert sorted(await names(store)) == ["hub", "n0", "n1", "n2", "n3"]
        assert len(await store.neighbours(scope(), "hub")) == 4
        await asyncio.gather(*(store.forget(scope(), [one.memory_id]) for one in said))
        assert await names(store) == []

    async def test_a_search_goes_two_relations_far(self, store: GraphStore) -> None:
        memories = InProcessStore()
        await memories.open(EMBEDDER.space)
        await tell(memories, store, *family(), memory(FRIDAYS))
        result = await ask(memories, store, CITY, everything())
        assert (result.plan.nodes, result.errors) == (("thing:ana",), {})
        assert {hit.memory.content for hit in result.hits if "graph" in hit.ranks} == {
            "Ana sister me",
            "Siemens works_at Ana",
            "Munich located_in Siemens",
        }
        assert FRIDAYS in contents(await ask(memories, store, CANTEEN, everything()))
        await memories.close()

    async def test_it_agrees_with_the_model(self, store: GraphStore) -> None:
        """Compare every read with a reference of dictionaries while random memories are added, changed and removed."""
        chance = random.Random(20260105)  # noqa: S311 - the same every time
        model = InProcessGraph()
        await model.open()
        nodes = [f"n{number}" for number in range(8)]
        for step in range(30):
            batch = [
                fragment(
                    f"m{chance.randrange(12):02}",
                    *{(chance.choice(nodes), chance.choice(["knows", "near"]), chance.choice(nodes)) for _ in "ab"},
                    day=chance.randrange(5),
                    valid_to=START + chance.randrange(1, 4) * DAY,
                )
                for _ in range(chance.randrange(1, 3))
            ]
            gone = [f"m{chance.randrange(12):02}"]
            for graph in (store, model):
                await graph.link(scope(), batch)
                if step % 3 == 0:
                    await graph.forget(scope(), gone)
            start, end, at = chance.choice(nodes), chance.choice(nodes), chance.choice([None, START, START + 2 * DAY])
            assert await store.nodes(scope()) == await model.nodes(scope())
            found, expected = [await one.neighbours(scope(), start, hops=3, at=at) for one in (store, model)]
            assert [(one.node, one.hops) for one in found] == [(one.node, one.hops) for one in expected]
            ways = [await one.path(scope(), start, end, at=at) for one in (store, model)]
            assert [None if way is None else len(way) for way in ways].count(None) in (0, 2)
            assert len(ways[0] or ()) == len(ways[1] or ())

    async def test_a_closed_store_says_so(self, store: GraphStore) -> None:
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.nodes(scope())
        with pytest.raises(StoreUnavailable):
            await store.link(scope(), [mention("m1", node("a"))])
