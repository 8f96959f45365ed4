"""State machine that feeds a projection through faults: outages, lost responses, repeated entries, delayed processes,
and a copy that loses all its data. Once the outbox is empty, the copy must equal the store.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from mnemic.errors import StoreUnavailable
from mnemic.ports import RecordStore, Transaction
from mnemic.ports.projections import Projection
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.record_store import EMBEDDER, memory, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import Change, Kind, Level, Memory, OutboxEntry, Scope, Status
from mnemic.write.outbox import LONGEST_REST, OutboxConsumer, compact, current_memories

T = TypeVar("T")

SCOPES = (scope(), scope("bob"), scope(tenant="rival"), scope(level=Level.AGENT))
NAMES = ("Ana", "Bob", "Siemens", "東京 'n' \"x\"")
SECONDS = 60.0
"""Timeout of a projection for one batch, long enough for a loaded machine."""

Fault = Literal["before", "after"]

RELATIONS = st.lists(
    st.fixed_dictionaries(
        {
            "source": st.sampled_from(NAMES),
            "relation": st.sampled_from(["knows", "works_at"]),
            "target": st.sampled_from(NAMES),
        }
    ),
    max_size=2,
)


class _Unreliable:
    """A projection that fails while it has a `fault`: before it has changed anything, or after it has changed
    everything.
    """

    def __init__(self, inner: Projection) -> None:
        self._inner = inner
        self.fault: Fault | None = None

    @property
    def name(self) -> str:
        return self._inner.name

    async def apply(self, changes: Sequence[Change]) -> None:
        if self.fault != "before":
            await self._inner.apply(changes)
        if self.fault is not None:
            raise StoreUnavailable(self.name)

    async def clear(self, tenant: str) -> None:
        await self._inner.clear(tenant)

    async def close(self) -> None:
        await self._inner.close()


class ProjectionMachine(RuleBasedStateMachine):
    """State machine of two processes that feed one copy. Subclass it and define `new_copy` and `check`; pytest runs its
    `TestCase`.
    """

    memories: Bundle[Memory] = Bundle("memories")

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="mnemic-machine-"))
        self._loop = asyncio.new_event_loop()
        self._store = self.new_store(self._folder)
        self._run(self._store.open(EMBEDDER.space))
        self._copy = _Unreliable(self._run(self.new_copy(self._folder)))
        self._clock = ManualClock()
        self._feeds = [OutboxConsumer(self._copy, self._store, self._clock, seconds=SECONDS) for _ in range(2)]
        self._run(self._feeds[0].register())

    def new_store(self, folder: Path) -> RecordStore:
        """Return the store that feeds the copy; in-process unless a subclass overrides it."""
        return InProcessStore()

    async def new_copy(self, folder: Path) -> Projection:
        """Return the projection under test, empty."""
        raise NotImplementedError

    async def check(self, stored: Sequence[Memory]) -> None:
        """Assert that the copy matches `stored`: all memories in `SCOPES`, whatever their status."""
        raise NotImplementedError

    def teardown(self) -> None:
        """Close everything, remove the data."""
        self._run(self._copy.close())
        self._run(self._store.close())
        self._loop.close()
        shutil.rmtree(self._folder)

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(call)

    async def _commit(self, new: Memory, *, removed: bool = False) -> None:
        """Store or remove `new` with its outbox entry, in one transaction."""

        async def work(transaction: Transaction) -> None:
            if removed:
                await transaction.remove(new.memory_id, scope=new.scope)
            elif new.version == 1:
                await transaction.insert(new)
            else:
                await transaction.replace(new)
            await transaction.enqueue(OutboxEntry.for_memory(new, "remove" if removed else None))

        await self._store.transact(work)

    @rule(
        target=memories,
        place=st.sampled_from(SCOPES),
        kind=st.sampled_from([Kind.LONG_TERM, Kind.ENTITY]),
        days=st.integers(-3, 3),
        relations=RELATIONS,
        waits=st.booleans(),
    )
    def write(self, place: Scope, kind: Kind, days: int, relations: list[dict[str, str]], waits: bool) -> Memory:
        """Store a memory; one of kind `entity` contains nodes and relations."""
        nodes = [{"node": name, "name": name, "label": "thing"} for name in (NAMES[0], *_ends(relations))]
        new = memory(
            "tea",
            scope=place,
            kind=kind,
            at=START,
            occurred_at=START + timedelta(days=days),
            data={"nodes": list({one["node"]: one for one in nodes}.values()), "relations": relations},
            status=Status.PENDING_REVIEW if waits else Status.ACTIVE,
        )
        self._run(self._commit(new))
        return new

    @rule(old=memories, status=st.sampled_from(Status), days=st.integers(-3, 3))
    def change(self, old: Memory, status: Status, days: int) -> None:
        """Store the next version: approved, superseded, expired, another time."""
        current = self._run(self._store.get(old.memory_id, scopes=[old.scope]))
        if current is not None:
            at = START + timedelta(minutes=current.version)
            self._run(self._commit(current.next_version(at, status=status, occurred_at=START + timedelta(days=days))))

    @rule(old=consumes(memories))
    def forget(self, old: Memory) -> None:
        """Remove it permanently."""
        self._run(self._commit(old, removed=True))

    @rule(fault=st.sampled_from([None, None, "before", "after"]))
    def fail(self, fault: Fault | None) -> None:
        """Take the copy down, make it lose its responses, or repair it."""
        self._copy.fault = fault

    @rule(process=st.sampled_from([0, 1]), at_once=st.booleans(), patient=st.booleans())
    def catch_up(self, process: int, at_once: bool, patient: bool) -> None:
        """Let one of the processes deliver the remaining entries, at once or after its pause."""
        if not at_once:
            self._clock.advance(timedelta(seconds=LONGEST_REST))
        caught = self._run(self._feeds[process].catch_up(at_once=at_once, patient=patient))
        assert self._copy.fault or not caught.failed

    @rule(count=st.integers(1, 3))
    def die(self, count: int) -> None:
        """Kill a process between copying and acknowledging: its entries come again."""
        left = self._run(self._store.pending(projection=self._copy.name, limit=count))
        entries = [entry for entry in left if not entry.whole]
        latest = {entry.place: entry for entry in entries}
        known = self._run(current_memories(self._store, entries))
        with suppress(StoreUnavailable):
            self._run(self._copy.apply([Change(entry=latest[place], memory=known.get(place)) for place in latest]))

    @rule(old=memories)
    def come_late(self, old: Memory) -> None:
        """Let a stalled process apply outdated changes, and read the store again."""
        if self._copy.fault is None:
            self._run(self._feeds[1].bring([Change(entry=OutboxEntry.for_memory(old), memory=old)]))

    @rule(place=st.sampled_from(SCOPES))
    def rebuild(self, place: Scope) -> None:
        """Rebuild a copy that has lost a tenant's part."""
        if self._copy.fault is None:
            self._run(self._feeds[0].rebuild(place.tenant))

    @rule(most=st.integers(0, 3))
    def compact(self, most: int) -> None:
        """Compact the outbox: replace old entries by one for the whole tenant."""
        self._run(compact(self._store, most=most))

    @rule(count=st.integers(0, 3))
    def come_and_go(self, count: int) -> None:
        """Register another projection, acknowledge a few entries and remove it."""
        self._run(self._store.register("another"))
        entries = self._run(self._store.pending(projection="another", limit=count))
        self._run(self._store.acknowledge([entry.sequence for entry in entries], projection="another"))
        self._run(self._store.unregister("another"))

    @invariant()
    def nothing_left_is_up_to_date(self) -> None:
        """Check that the copy equals the store whenever the outbox is empty."""
        if not self._run(self._store.pending(projection=self._copy.name, limit=1)):
            self._run(self.check(self._run(self._stored_memories())))

    async def _stored_memories(self) -> list[Memory]:
        tenants = dict.fromkeys(place.tenant for place in SCOPES)
        return [one for tenant in tenants for one in await self._store.scan(tenant, statuses=list(Status))]


def _ends(relations: Sequence[dict[str, str]]) -> list[str]:
    return [one[end] for one in relations for end in ("source", "target")]
