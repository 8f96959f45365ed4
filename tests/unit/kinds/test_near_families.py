"""What the walk of a search finds on a made-up set: families, employers and towns of one user, among notes about the
same matters. It says that the part works, not how often people ask so.
"""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

from mnemic.bootstrap import build_embedder
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.graph.search import GraphNeighbourhood
from mnemic.kinds.entity import EntityMemory
from mnemic.ports import Embedder
from mnemic.retrieve.fusion import Weights
from mnemic.retrieve.optional_backends import OptionalBackend
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.types import Actor

ANA = Actor(user="ana")
OFF = Weights(graph=0.0, near=0.0)
ROLES = ("sister", "brother", "aunt", "uncle", "cousin", "niece", "nephew", "boss")
PEOPLE = ("Mira", "Jonas", "Leonie", "Pavel", "Yusuf", "Greta", "Oskar", "Tilda")
FIRMS = ("Norvik", "Almeda", "Quorum", "Brixel", "Tandem", "Solvero", "Kestrel", "Umbra")
TOWNS = ("Lisbon", "Porto", "Oslo", "Ghent", "Turin", "Graz", "Malmo", "Lyon")
DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays", "holidays")


async def recalled(folder: Path, embedder: Embedder) -> dict[str, float]:
    """The share of 32 questions whose answer is among the first five, with the walk and without."""
    chance = random.Random(20261122)
    store, graph = SqliteStore(folder / "m.db", durability="fast"), SqliteGraph(folder / "m.db")
    async with MemoryEngine(store=store, graph=graph, embedder=embedder) as engine:
        engine.gateway.searcher.surroundings = GraphNeighbourhood(
            graph, OptionalBackend(SystemClock(), timedelta(minutes=2))
        )
        entity = EntityMemory(engine, ANA, async_mode())
        firms, towns = chance.sample(FIRMS, len(FIRMS)), chance.sample(TOWNS, len(TOWNS))
        asked: list[tuple[str, str]] = []
        for role, person, firm, town, day in zip(ROLES, PEOPLE, firms, towns, DAYS, strict=True):
            await entity.relate("me", role, person)
            await entity.relate(person, "works_at", firm)
            await entity.relate(firm, "located_in", town)
            await engine.add(f"{firm} keeps its canteen shut on {day}.", actor=ANA)
            asked += [(f"Which city is my {role}'s employer in?", f"{firm} is in {town}.")]
            asked += [(f"Which city is {person}'s employer in?", f"{firm} is in {town}.")]
            shut = f"{firm} keeps its canteen shut on {day}."
            asked += [(f"When is the canteen of my {role}'s employer shut?", shut)]
            asked += [(f"When is the canteen of {person}'s employer shut?", shut)]
        for number in range(40):
            await engine.add(f"Note {number}: the canteen of the city library was shut by its employer.", actor=ANA)
        found = {"with": 0, "without": 0}
        for name, weights in (("with", Weights()), ("without", OFF)):
            engine.gateway.searcher.weights = weights
            for query, answer in asked:
                hits = (await engine.search(query, actor=ANA, top_k=5)).hits
                found[name] += answer in [hit.memory.content for hit in hits]
    return {name: count / len(asked) for name, count in found.items()}


async def test_answers_two_relations_away_are_among_the_first_five(tmp_path: Path) -> None:
    found = await recalled(tmp_path, build_embedder(Settings(), SystemClock()))
    assert found["with"] >= 0.9
    assert found["without"] <= 0.3
