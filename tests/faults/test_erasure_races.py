"""A person is erased at any point of any other verb: none of their words are left, and no receipt says so falsely."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.file_import import Intake
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.importers.file_readers.item import Item
from mnemic.kinds.entity import EntityMemory
from mnemic.kinds.episodic import EpisodicMemory
from mnemic.kinds.persona import PersonaMemory
from mnemic.kinds.short_term import ShortTermMemory
from mnemic.maintenance.background_capture import BackgroundCapture
from mnemic.maintenance.bulk_import import take_part
from mnemic.maintenance.erase import erase
from mnemic.ports import RecordStore
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Completion, Message, Status
from mnemic_server.tenant_erasure import erase_tenant
from tests.faults.scale import FULL
from tests.faults.stores import store_named

WORD = "quillfeather"
SAID = f"I live in {WORD}ville and I am vegetarian."


class Interrupted:
    """A port in front of another; before each call from outside of a transaction `point` is awaited."""

    def __init__(self, inner: Any, point: Callable[[], Awaitable[None]]) -> None:
        self._inner, self._point = inner, point

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name in ("open", "close") or not callable(found):
            return found

        def call(*given: Any, **named: Any) -> Any:
            answer = found(*given, **named)
            return self._awaited(answer) if hasattr(answer, "__await__") else answer

        return call

    async def _awaited(self, answer: Awaitable[Any]) -> Any:
        await self._point()
        return await answer


class Model:
    """Answers with the user's message as a fact."""

    model = "m"

    async def complete(self, prompt: Any, *, deadline: Any) -> Completion:
        fact = {"op": "add", "id": None, "key": None, "value": SAID, "quote": SAID, "turn": 0}
        return Completion(text=json.dumps({"items": [fact]}), model="m")

    async def close(self) -> None:
        """Nothing is open."""


class House:
    """An engine in which a person of `acme` is erased before the `nth` call of a port, or from then on beside
    the calls, which take random `turns`; with `tenant` the tenant ends.
    """

    def __init__(
        self, store: RecordStore, acme: str, nth: int, *, tenant: bool, model: bool, turns: random.Random | None = None
    ) -> None:
        self.ana, self.olga = Actor(tenant=acme, user="ana", session="visit"), Actor(tenant=acme, user="olga")
        self.store, self.sessions, self.clock = store, InProcessSessions(SystemClock()), SystemClock()
        self.nth, self.calls, self.complete = nth, 0, False
        self._tenant, self._busy, self._turns = tenant, False, turns
        self._erasing: asyncio.Task[None] | None = None
        through = [Interrupted(one, self.point) for one in (store, WordEmbedder(), self.sessions, Model())]
        ports: dict[str, Any] = {"store": through[0], "embedder": through[1], "sessions": through[2]}
        if model:
            ports |= {"extractor": ModelExtractor(through[3]), "completer": through[3]}
        self.engine = MemoryEngine(clock=self.clock, **ports)

    async def point(self) -> None:
        """One more call: the erasure, if it is its turn."""
        if self._busy:
            return
        self.calls += 1
        if self._turns is not None:
            if self.calls == self.nth:
                self._erasing = asyncio.create_task(self._erase(Interrupted(self.store, self._wait)))
            await self._wait()
        elif self.calls == self.nth:
            self._busy = True
            await self._erase(self.store)
            self._busy = False

    async def _wait(self) -> None:
        assert self._turns is not None
        for _ in range(self._turns.randrange(6)):
            await asyncio.sleep(0)

    async def has_erased(self) -> bool:
        """Return whether an erasure has begun and is complete."""
        if self._erasing is not None:
            await self._erasing
        return self.complete

    async def _erase(self, store: Any) -> None:
        if self._tenant:
            receipts = await erase_tenant(store, self.clock, actor=self.olga, sessions=self.sessions)
            self.complete = all(one.complete for one in receipts)
        else:
            self.complete = (await erase(store, self.clock, "ana", actor=self.olga, sessions=self.sessions)).complete

    @contextmanager
    def undisturbed(self) -> Iterator[None]:
        """Calls that do not count."""
        self._busy = True
        yield
        self._busy = False

    async def words_left(self) -> list[str]:
        """The person's words in any place of the store, or of a conversation."""
        places = [one async for one in _texts(self.store, self.ana.tenant)]
        for scope in await self.sessions.spoken_in(self.ana.tenant, "ana"):
            places += [f"session: {one.content}" for one in await self.sessions.tail(scope, limit=200)]
        return [one for one in places if WORD in one.casefold()]


async def _texts(store: RecordStore, tenant: str) -> Any:
    for memory in await store.scan(tenant, statuses=list(Status), limit=500):
        yield f"memory: {memory.content} {dict(memory.data)}"
    for name, value in (await store.marks(tenant, "")).items():
        yield f"mark: {name} {value}"
    for event in await store.audit(tenant, limit=500):
        yield f"audit: {event.action} {dict(event.detail)}"


async def add(house: House) -> None:
    await house.engine.add(SAID, actor=house.ana, data={"place": WORD})


async def add_many(house: House) -> None:
    await house.engine.add_many([Candidate(content=SAID), Candidate(content=f"{WORD} again")], actor=house.ana)


async def record(house: House) -> None:
    await house.engine.record([SAID], actor=house.ana)


async def capture(house: House) -> None:
    await house.engine.capture(SAID, actor=house.ana)


async def capture_many(house: House) -> None:
    await house.engine.capture_many([SAID, f"My sister lives in {WORD}burg."], actor=house.ana)


async def remember(house: House) -> None:
    await house.engine.remember([{"role": "user", "content": SAID}], actor=house.ana)


async def run(house: House) -> None:
    await house.engine.run(message=SAID, goal=f"Where is {WORD}ville?", actor=house.ana)


async def update(house: House) -> None:
    made = await house.engine.add("I like tea.", actor=house.ana)
    await house.engine.update(made.memory_id or "", SAID, actor=house.ana)


async def read_later(house: House) -> None:
    later = BackgroundCapture(house.engine, gathering_seconds=0)
    await later.put(Message(role="user", content=SAID), actor=house.ana)
    await later.wait_until_read()
    await later.stop()


async def import_part(house: House) -> None:
    await take_part(house.engine, house.ana, "i1", 0, [Candidate(content=SAID)])


async def import_file(house: House) -> None:
    said = [SAID, f"I work in {WORD}."]
    items = [
        Item(place=str(at), conversation="c", content=Message(role="user", content=one)) for at, one in enumerate(said)
    ]
    await Intake(engine=house.engine, actor=house.ana).take(iter(items), lambda _: None)


async def talk(house: House) -> None:
    await ShortTermMemory(house.engine, house.ana, async_mode()).append("user", SAID)


async def fold(house: House) -> None:
    view = ShortTermMemory(house.engine, house.ana, async_mode())
    with house.undisturbed():  # what is said after an erasure is new
        for _ in range(3):
            await view.append("user", f"{SAID} " * 20)
    await view.compact(max_tokens=100, keep=1)


async def consolidate(house: House) -> None:
    await house.engine.add_many(
        [Candidate(content=f"{WORD} has {n} mills and a bakery.") for n in "abc"], actor=house.ana
    )
    await house.engine.consolidate(actor=house.ana)


async def maintain(house: House) -> None:
    await house.engine.add(SAID, actor=house.ana)
    await house.engine.maintain(actor=house.ana)


async def approve(house: House) -> None:
    await house.engine.add(SAID, actor=house.ana, key="home_city", confidence=0.2)
    for one in await house.engine.reviews(actor=house.ana):
        await house.engine.approve(one.memory.memory_id, actor=house.olga)


async def consent(house: House) -> None:
    await house.engine.grant_consent(WORD, actor=house.ana)


async def relate(house: House) -> None:
    await EntityMemory(house.engine, house.ana, async_mode()).relate("me", "friend", f"{WORD} Robert")


async def trait(house: House) -> None:
    await PersonaMemory(house.engine, house.ana, async_mode()).learn(f"Answers with a {WORD}.")


async def episode(house: House) -> None:
    steps = [{"action": "call", "result": WORD, "ok": False}]
    await EpisodicMemory(house.engine, house.ana, async_mode()).record(
        task=f"Rent {WORD}", steps=steps, outcome="failure"
    )


async def undo(house: House) -> None:
    with house.undisturbed():
        await house.engine.add(f"{WORD}ville", actor=house.ana, key="home_city")
        made = await house.engine.add("Oslo", actor=house.ana, key="home_city")
    await house.engine.undo(made.memory_id or "", actor=house.ana)


async def rollback(house: House) -> None:
    with house.undisturbed():
        made = await house.engine.add(SAID, actor=house.ana)
        await house.engine.update(made.memory_id or "", "I like tea.", actor=house.ana)
    await house.engine.rollback(made.memory_id or "", 1, actor=house.ana)


VERBS: Sequence[Callable[[House], Awaitable[None]]] = (
    add, add_many, record, capture, capture_many, remember, run, update, read_later, import_part, import_file, talk,
    fold, consolidate, maintain, approve, consent, relate, trait, episode, undo, rollback,
)  # fmt: skip
MODELS: Mapping[str, bool] = {"rules": False, "model": True}


class Kept(Interrupted):
    """A store that is opened by whoever needs it first, and left open."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner, lambda: asyncio.sleep(0))
        self.is_open = False

    async def open(self, space: Any) -> None:
        if not self.is_open:
            await self._inner.open(space)
            self.is_open = True

    async def close(self) -> None:
        """Nothing: `shut` does it."""

    async def shut(self) -> None:
        await self._inner.close()


@pytest.fixture(params=("inprocess", "sqlite", "postgres") if FULL else ("inprocess", "sqlite"))
async def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Callable[[int], Any]]:
    """An empty store; of PostgreSQL the same one again, as the points differ in their tenant."""

    def make(number: int) -> Any:
        folder = tmp_path / str(number)
        folder.mkdir()
        return store_named(request, folder, durability="fast")

    if request.param != "postgres":
        yield make
        return
    kept = Kept(make(0))
    yield lambda _: kept
    await kept.shut()


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("tenant", [False, True], ids=["person", "tenant"])
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
async def test_an_erasure_at_any_point_of_a_verb_is_followed_by_no_word(
    new_store: Callable[[int], RecordStore], verb: Callable[[House], Awaitable[None]], *, tenant: bool, model: bool
) -> None:
    nth, step = 1, 1 if FULL else 3
    while True:
        house = House(new_store(nth), f"acme{nth}", nth, tenant=tenant, model=model)
        async with house.engine:
            house.calls = 0
            with suppress(MnemicError):
                await verb(house)
            left = await house.words_left() if house.calls >= nth else []
            assert (nth, left if house.complete else []) == (nth, [])
            if house.calls < nth:
                return
            assert house.complete
        nth += step


@pytest.mark.parametrize("tenant", [False, True], ids=["person", "tenant"])
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
async def test_an_erasure_beside_a_verb_is_followed_by_no_word(
    new_store: Callable[[int], RecordStore], verb: Callable[[House], Awaitable[None]], *, tenant: bool
) -> None:
    for seed in range(200 if FULL else 4):
        turns = random.Random(f"{verb.__name__} {tenant} {seed}")
        nth, model = turns.randrange(1, 12), seed % 2 == 1
        house = House(new_store(seed), f"acme{seed}", nth, tenant=tenant, model=model, turns=turns)
        async with house.engine:
            house.calls = 0
            with suppress(MnemicError):
                await verb(house)
            if await house.has_erased():
                assert (seed, await house.words_left()) == (seed, [])
