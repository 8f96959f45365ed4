"""A small world to look at: some months of one traveller's memory, made by the engine itself on a clock that is wound
forward, and a service on it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any, Literal

import uvicorn

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.inject import injector_for
from mnemic.kinds.entity import EntityMemory
from mnemic.kinds.episodic import EpisodicMemory, Step
from mnemic.maintenance.tenant_registry import Tenants
from mnemic.policy.limits import Quota
from mnemic.runtime.sync_facade import async_mode
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Candidate, Kind, Origin, Source
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Role
from mnemic_server.service_settings import ServiceSettings
from mnemic_server.settings_in_force import settings_in_force
from tests.servers import in_thread

ANA = Actor(user="ana")
MONTHS = timedelta(days=121)

POLICY = {
    "keys": {
        **{key: {} for key in ("home_city", "seat", "home_airport", "hotel", "loyalty")},
        "diet": {"ttl_days": 365},
        "language": {"allowed_values": ["english", "norwegian", "portuguese"], "preference": True},
        "health": {"sensitive": True},
    },
    "open_keys": True,
    "keyless": True,
    "limits": {
        "quotas": [
            {"per": "user", "rows": 400},
            {"per": "user", "kind": "episodic", "rows": 500},
            {"per": "user", "writes_a_minute": 120},
            {"per": "tenant", "rows": 20_000},
        ]
    },
}

XSS = (
    "<img src=x onerror=\"document.title='owned'\">",
    "<script>document.title='owned'</script>",
    "\"><svg onload=document.title='owned'>",
    "javascript:document.title='owned'",
    "[click](javascript:document.title='owned') {{constructor.constructor('return 1')()}}",
)
"""What must be shown as it was written and never run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Where the service answers, its store, and a key for each part."""

    address: str
    store: Path
    keys: dict[str, str]


def _inferred(key: str, content: str, quote: str) -> Candidate:
    return Candidate(
        content=content,
        key=key,
        confidence=0.55,
        source=Source(origin=Origin.AGENT_INFERRED, session="call-17", quote=quote),
    )


STATED = (
    ("home_city", "I live in Oslo.", 0),
    ("seat", "I prefer window seats.", 9),
    ("diet", "I am allergic to peanuts, also in small amounts.", 4),
    ("home_airport", "My home airport is Oslo Gardermoen.", 6),
    ("seat", "I prefer aisle seats on long flights, near the front.", 24),
    ("hotel", "I like small hotels within walking distance of the old town.", 12),
    ("home_city", "I moved to Lisbon in September.", 18),
    ("loyalty", "My airline status is gold until next spring.", 8),
    (None, "Mira and I want to see the cherry blossoms in Kyoto next year.", 5),
)
"""Key, words, and after how many days they were said."""

INFERRED = (
    ("seat", "Prefers window seats on long flights.", "the view over Greenland was wonderful from seat 21A"),
    ("home_city", "Lives in Porto.", "I am in Porto until Friday"),
    ("diet", "Is allergic to peanuts and shellfish.", "no shrimps for me, please"),
    ("loyalty", "Airline status is platinum.", "after this trip I should be platinum"),
    ("hotel", "Likes large hotels at the airport.", "the airport hotel was practical this once"),
)


async def _remember(engine: MemoryEngine, clock: ManualClock) -> None:
    for key, words, days in STATED:
        clock.advance(timedelta(days=days))
        source = Source(origin=Origin.USER_STATED, session="call-3", speaker="Ana", quote=words)
        await engine.add(Candidate(content=words, key=key, source=source), actor=ANA)
    clock.advance(timedelta(days=20))
    for key, words, quote in INFERRED:
        clock.advance(timedelta(hours=11))
        await engine.add(_inferred(key, words, quote), actor=ANA)
    trait = Source(origin=Origin.AGENT_INFERRED, session="call-17", quote="just the price, please")
    await engine.add(
        Candidate(content="Say the price first.", kind=Kind.PERSONA, level="agent", category="trait", source=trait),
        actor=ANA,
    )


RELATED = (
    ("me", "works_at", "Fjordline"),
    ("Mira", "sister_of", "me"),
    ("Mira", "lives_in", "Bergen"),
    ("Fjordline", "located_in", "Oslo"),
    ("me", "likes", "Kyoto"),
    ("Jonas", "works_at", "Fjordline"),
    ("Jonas", "manages", "me"),
)

TRIED: tuple[tuple[str, Literal["success", "failure", "partial"], list[tuple[str, str, bool]]], ...] = (
    ("Book a seat to Tokyo", "failure", [("search the aisle seats", "none left in the front", False)]),
    (
        "Book a seat to Tokyo, second attempt",
        "success",
        [("ask for the waiting list", "place 2", True), ("call on the day before", "seat 14C", True)],
    ),
    ("Find a vegetarian dinner in Porto", "partial", [("ask the hotel", "one place, closed on Sunday", True)]),
)
"""Task, how it ended, and its steps: what was done, what came of it, whether it worked."""

ASKED = ("Which seat should I book to Tokyo?", "Where do I live?", "What can I eat on board?")


async def _live(engine: MemoryEngine, clock: ManualClock) -> None:
    entities, episodes = EntityMemory(engine, ANA, async_mode()), EpisodicMemory(engine, ANA, async_mode())
    for source, relation, target in RELATED:
        clock.advance(timedelta(hours=5))
        await entities.relate(source, relation, target)
    for task, outcome, steps in TRIED:
        clock.advance(timedelta(days=2))
        told = [Step(action=action, result=result, ok=ok) for action, result, ok in steps]
        kept = await episodes.record(task, told, outcome=outcome)
    assert kept.memory_id is not None
    await episodes.feedback(kept.memory_id, "Next time look at the opening hours first.")
    for goal in ASKED:
        clock.advance(timedelta(hours=3))
        await engine.run(actor=ANA, goal=goal)
    clock.advance(timedelta(hours=1))
    asked = [{"role": "user", "content": "Which seat do I prefer on long flights?"}]
    await injector_for(engine, ANA, by="langgraph").inject(asked)


async def _keys(engine: MemoryEngine) -> dict[str, str]:
    keys = ApiKeys(engine.store, engine.clock)
    everybody: dict[str, tuple[str | None, list[Role]]] = {
        "ana": ("ana", [Role.READER, Role.WRITER, Role.SUBJECT]),
        "ben": ("ben", [Role.REVIEWER, Role.READER]),
        "olga": ("olga", [Role.OPERATOR, Role.REVIEWER, Role.READER, Role.WRITER]),
        "app": (None, [Role.READER, Role.WRITER]),
        "root": ("root", [Role.ADMIN]),
    }
    made = {}
    for name, (user, roles) in everybody.items():
        made[name] = (await keys.create(tenant="default", roles=roles, user=user, label=name))[1]
    return made


async def _tenants(engine: MemoryEngine) -> None:
    """Others who share the service, and what limits them."""
    tenants = Tenants(engine.store, engine.clock)
    quotas = [Quota(per="tenant", rows=200_000, bytes=400_000_000), Quota(per="user", rows=5_000, writes_a_minute=60)]
    await tenants.create("harbour-lines", by="root", label="Harbour Lines, two offices", quotas=quotas)
    await tenants.create("old-town-tours", by="root", label="Old Town Tours, on trial")
    await tenants.suspend("old-town-tours", by="root")


def _settings(store: Path) -> Settings:
    """With the policy beside the store."""
    policy = store.with_name("policy.json")
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    return Settings(store=str(store), policy=policy)


async def build(store: Path) -> dict[str, str]:
    """The world in a new file, and its keys."""
    clock = ManualClock(datetime.now(UTC) - MONTHS)
    async with build_engine(_settings(store), clock=clock) as engine:
        await _remember(engine, clock)
        await _live(engine, clock)
        await _tenants(engine)
        return await _keys(engine)


@contextmanager
def staged(
    folder: Path, more: Callable[[Path], Coroutine[Any, Any, None]] | None = None, **how: Any
) -> Iterator[Stage]:
    """The world in `folder`, served until the block ends, `how` as in `served_here`; `more` happens in it first."""
    store = folder / "console.db"
    keys = in_thread(lambda: build(store))
    if more is not None:
        in_thread(lambda: more(store))
    with served_here(store, **how) as address:
        yield Stage(address=address, store=store, keys=keys)


@contextmanager
def served_here(store: Path, **how: Any) -> Iterator[str]:
    """The address of the service on `store`, in a thread of this process, until the block ends; `how` as `create_app`
    takes it.
    """
    shown = settings_in_force(_settings(store), ServiceSettings())
    app = create_app(build_engine(_settings(store)), per_second=1000, burst=1000, settings=shown, **how)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", timeout_graceful_shutdown=1))
    thread = Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.02)
            assert thread.is_alive(), "the service did not start"
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
