"""State machine that compares a record store with the in-process one: the same steps must give the same results."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from mnemic.errors import MnemicError
from mnemic.ports import RecordStore, Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store import EMBEDDER, memory, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Kind, Level, Memory, OutboxEntry, Scored, Status, Where

T = TypeVar("T")

SCOPES = [scope(), scope("bob"), scope(level=Level.AGENT), scope(tenant="rival")]
TEXTS = st.lists(
    st.sampled_from('tea Tea coffee harbour 猫を見た café update_channel C++ "chat noir" \' 🎉'.split(" "))
)
CONTENTS = TEXTS.map(" ".join)
DAYS = st.none() | st.integers(-3, 3).map(lambda number: START + timedelta(days=number))
KEYS = st.none() | st.sampled_from(["home", "drink"])
SOME_SCOPES = st.sets(st.sampled_from(SCOPES[:3]), min_size=1).map(lambda chosen: tuple(sorted(chosen)))


def _set_of(values: Sequence[Any]) -> st.SearchStrategy[frozenset[Any] | None]:
    return st.none() | st.frozensets(st.sampled_from(values))


FILTERS = st.builds(
    Where,
    scopes=SOME_SCOPES | st.just((SCOPES[3],)),
    kinds=_set_of(list(Kind)[2:5]),
    categories=_set_of(["a", "b"]),
    keys=_set_of(["home", "drink"]),
    statuses=st.just(frozenset({Status.ACTIVE})) | st.frozensets(st.sampled_from(Status)),
    happened_from=DAYS,
    happened_to=DAYS,
    as_of=DAYS,
    live_at=DAYS,
    hidden_keys=st.frozensets(st.sampled_from(["home", "drink"]), max_size=1),
)
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "kind": st.sampled_from(list(Kind)[2:5]),
        "category": st.sampled_from([None, "a", "b"]),
        "key": KEYS,
        "context": CONTENTS,
        "status": st.sampled_from([Status.ACTIVE, Status.ACTIVE, *Status]),
        "fingerprint": st.sampled_from(["", "f1", "f2"]),
        "occurred_at": DAYS,
        "valid_from": DAYS,
        "valid_to": DAYS,
        "expires_at": DAYS,
    },
)


class StoreMachine(RuleBasedStateMachine):
    """Runs every step on both stores. Subclass it and define `new_store`; pytest runs the class's `TestCase`."""

    memories: Bundle[Memory] = Bundle("memories")

    def __init__(self) -> None:
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="mnemic-machine-"))
        self._loop = asyncio.new_event_loop()
        self._model = InProcessStore()
        self._store = self.new_store(self._folder)
        for store in (self._model, self._store):
            self._run(store.open(EMBEDDER.space))

    def new_store(self, folder: Path) -> RecordStore:
        """Return the store under test, on the data in `folder`."""
        raise NotImplementedError

    def teardown(self) -> None:
        """Close both stores and remove the data."""
        self._run(self._store.close())
        self._loop.close()
        shutil.rmtree(self._folder)

    def _run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(call)

    def _ask_both(self, ask: Callable[[RecordStore], Awaitable[T]]) -> T:
        """Return the answer of the store under test, after comparing it with the model's."""
        answers = [self._run(self._answer(ask, each)) for each in (self._model, self._store)]
        assert answers[1] == answers[0], f"model: {answers[0]!r}\nstore: {answers[1]!r}"
        answer: T = answers[1]
        return answer

    @staticmethod
    async def _answer(ask: Callable[[RecordStore], Awaitable[Any]], store: RecordStore) -> Any:
        try:
            answer = await ask(store)
        except MnemicError as error:
            return error.reason
        if isinstance(answer, list) and answer and isinstance(answer[0], Scored):
            return [(entry.memory_id, entry.score) for entry in answer]
        if isinstance(answer, list) and answer and isinstance(answer[0], AuditEvent):
            return [replace(line, hash="") for line in answer]  # the model has no key to sign with
        return answer

    def _transact(self, *steps: Callable[[Transaction], Awaitable[Any]]) -> Any:
        async def work(transaction: Transaction) -> list[Any]:
            return [await step(transaction) for step in steps]

        return self._ask_both(lambda store: store.transact(work))

    @staticmethod
    def _same_scores(scores: Sequence[float], expected: Sequence[float]) -> None:
        assert len(scores) == len(expected)
        assert all(abs(score - other) < 1e-3 for score, other in zip(scores, expected, strict=True))

    @rule(target=memories, content=CONTENTS, place=st.sampled_from(SCOPES), fields=FIELDS, seen=st.booleans())
    def insert(self, content: str, place: Any, fields: dict[str, Any], seen: bool) -> Memory:
        """Insert a memory with its audit line and its outbox entry."""
        vector = EMBEDDER.vector(content) if seen else None
        new = memory(content, scope=place, vector=vector, **fields)
        event = AuditEvent(tenant=place.tenant, action="created", at=START, actor="ada", memory_id=new.memory_id)
        entry = OutboxEntry.for_memory(new)
        self._transact(
            lambda transaction: transaction.find_fingerprint(place, new.fingerprint),
            lambda transaction: transaction.find_key(place, new.key or ""),
            lambda transaction: transaction.insert(new),
            lambda transaction: transaction.append_audit(event),
            lambda transaction: transaction.enqueue(entry),
        )
        return new

    @rule(old=memories, content=CONTENTS, fields=FIELDS, stale=st.sampled_from([0, 0, 0, 1]), late=st.integers(-2, 2))
    def replace(self, old: Memory, content: str, fields: dict[str, Any], stale: int, late: int) -> None:
        """Change a memory from its current version, or from an outdated one."""
        current = self._ask_both(lambda store: store.get(old.memory_id, scopes=[old.scope]))
        base = current or old
        changed = base.next_version(
            START + timedelta(days=late), content=content, vector=EMBEDDER.vector(content), **fields
        )
        changed = replace(changed, version=changed.version + stale)
        self._transact(lambda transaction: transaction.replace(changed))

    @rule(old=memories, place=st.sampled_from(SCOPES), right=st.booleans())
    def remove(self, old: Memory, place: Any, right: bool) -> None:
        """Remove a memory, possibly from a scope it is not in."""
        self._transact(lambda transaction: transaction.remove(old.memory_id, scope=old.scope if right else place))

    @rule(old=memories, content=CONTENTS)
    def fail(self, old: Memory, content: str) -> None:
        """Change several rows, then fail: nothing may remain."""

        async def work(transaction: Transaction) -> None:
            await transaction.remove(old.memory_id, scope=old.scope)
            await transaction.insert(memory(content))
            raise MnemicError("refused")

        self._ask_both(lambda store: store.transact(work))

    @rule(place=st.sampled_from(SCOPES), content=CONTENTS, limit=st.integers(1, 5))
    def near_duplicates(self, place: Any, content: str, limit: int) -> None:
        """Find near-duplicates inside a transaction."""

        async def work(transaction: Transaction) -> list[tuple[Memory, float]]:
            return await transaction.nearest(place, EMBEDDER.vector(content), limit=limit, at_least=-1.0)

        model, store = (self._run(each.transact(work)) for each in (self._model, self._store))
        self._same_scores([score for _, score in store], [score for _, score in model])
        for found, _ in store:
            assert found == self._run(self._model.get(found.memory_id, scopes=[place]))

    @rule(where=FILTERS, query=CONTENTS)
    def search(self, where: Where, query: str) -> None:
        """Compare all three ranked lists in full. The last bits of a score may differ, and with them the order of
        ties.
        """
        for ask in (
            lambda store: store.nearest(where, EMBEDDER.vector(query), limit=999),
            lambda store: store.match(where, query, limit=999),
            lambda store: store.recent(where, limit=999),
        ):
            answers = [self._run(self._answer(ask, each)) for each in (self._model, self._store)]
            model, store = (dict(answer) for answer in answers)
            assert store.keys() == model.keys()
            self._same_scores(list(store.values()), [model[memory_id] for memory_id in store])
            assert list(store.values()) == sorted(store.values(), reverse=True)

    @rule(where=FILTERS, limit=st.integers(0, 4))
    def read(self, where: Where, limit: int) -> None:
        """Compare pages and counts."""
        page = self._ask_both(lambda store: store.newest(where, limit=limit))
        if page:
            self._ask_both(lambda store: store.newest(where, limit=limit, before=page[-1].memory_id))
        self._ask_both(lambda store: store.count(where))

    @rule(old=memories, places=SOME_SCOPES)
    def look(self, old: Memory, places: Any) -> None:
        """Compare one memory and its versions, read with scopes that may not contain it."""
        self._ask_both(lambda store: store.get(old.memory_id, scopes=places))
        self._ask_both(lambda store: store.versions(old.memory_id, scopes=places))

    @rule(where=FILTERS, late=st.integers(-3, 3), query=CONTENTS, live_at=DAYS)
    def believe(self, where: Where, late: int, query: str, live_at: datetime | None) -> None:
        """Compare the state at a past moment, in full and by search."""
        known_at = START + timedelta(days=late)

        async def ask(store: RecordStore) -> Any:
            then = await store.as_known_at(where.scopes, known_at, live_at=live_at)
            found = await then.newest(where, limit=999)
            ranked = await then.match(where, query, limit=999)
            near = await then.nearest(where, EMBEDDER.vector(query), limit=999)
            return found, await then.count(where), sorted(ranked), sorted(near)

        self._ask_both(ask)

    @rule(count=st.integers(1, 3))
    def drain(self, count: int) -> None:
        """Acknowledge entries of the outbox."""
        entries = self._ask_both(lambda store: store.pending(limit=count))
        self._ask_both(lambda store: store.acknowledge([entry.sequence for entry in entries]))

    @rule()
    def reopen(self) -> None:
        """Close the store under test and open it again."""
        self._run(self._store.close())
        if self._store.capabilities.shared:
            self._store = self.new_store(self._folder)
        self._run(self._store.open(EMBEDDER.space))

    @invariant()
    def audits_agree_and_hold(self) -> None:
        """Compare the audit chains of each tenant, which must be intact and equal."""
        for tenant in ("acme", "rival"):
            self._ask_both(lambda store, tenant=tenant: store.audit(tenant))  # type: ignore[misc]
            assert first_broken(self._run(self._store.audit(tenant))) is None
