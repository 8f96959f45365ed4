"""Contract for concurrent tasks, concurrent processes, and a store that is opened again."""

# ruff: noqa: D102

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mnemic.errors import MnemicError, SpaceMismatch, StoreUnavailable, VersionConflict
from mnemic.ports import RecordStore, Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store.fixtures import (
    EMBEDDER,
    START,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    scope,
)
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, Status, VectorSpace


class SharingContract(Setting):
    """Check many tasks and processes at once, and reopening."""

    async def test_a_closed_store_says_so(self, store: RecordStore) -> None:
        await store.close()
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.count(everything())
        with pytest.raises(StoreUnavailable):
            await remember(store, memory("late"))

    async def test_opening_again_finds_everything(self, store: RecordStore, tmp_path: Path) -> None:
        kept, gone = memory("green tea", fingerprint="f1"), memory("gone")
        changed = kept.next_version(day(1), confidence=0.99)
        await remember(store, kept, gone)
        await change(store, changed)

        async def work(transaction: Transaction) -> None:
            await transaction.remove(gone.memory_id, scope=scope())
            await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))
            await transaction.enqueue(OutboxEntry(scope=scope(), action="upsert", memory_id="m", version=1))
            await transaction.remember_request("acme", "k", "d", "{}", START)

        await store.transact(work)
        await store.register("copy")
        secret = await store.secret("acme")
        await store.close()
        kept_on_disk = store.capabilities.shared or store.capabilities.durable
        again = self.new_store(tmp_path) if kept_on_disk else store
        await again.open(EMBEDDER.space)
        try:
            assert await again.newest(everything(), limit=9) == [changed]
            assert len(await again.versions(kept.memory_id, scopes=[scope()])) == 2
            assert ids(await again.match(everything(), '"green tea"', limit=9)) == [kept.memory_id]
            assert ids(await again.nearest(everything(), EMBEDDER.vector("tea"), limit=9)) == [kept.memory_id]
            assert len(await again.audit("acme")) == len(await again.pending()) == 1
            assert await again.transact(lambda transaction: transaction.find_request("acme", "k")) == ("d", "{}")
            assert await again.secret("acme") == secret
            assert await again.projections() == {"copy": 1}
        finally:
            await again.close()

    async def test_another_vector_space_is_refused(self, store: RecordStore, tmp_path: Path) -> None:
        await remember(store, memory("tea"))
        await store.close()
        for space in (
            VectorSpace(model="another", dimension=64),
            VectorSpace(model=EMBEDDER.space.model, dimension=32),
        ):
            again = self.new_store(tmp_path) if store.capabilities.shared else store
            with pytest.raises(SpaceMismatch) as refused:
                await again.open(space)
            await again.close()
            assert EMBEDDER.space.model in (refused.value.hint or "")
            assert "64" in (refused.value.hint or "")
        await store.open(EMBEDDER.space)
        assert await store.count(everything()) == 1

    async def test_many_tasks_at_once(self, store: RecordStore) -> None:
        async def write_one(number: int) -> None:
            mine = memory(f"tea number {number}", scope=scope(f"user{number % 5}"), fingerprint=f"f{number}")

            async def work(transaction: Transaction) -> None:
                await transaction.nearest(mine.scope, EMBEDDER.vector(mine.content), limit=3, at_least=0.5)
                await transaction.insert(mine)
                await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))

            await store.transact(work)
            found = await store.match(everything(mine.scope), f"number {number}", limit=1)
            assert ids(found) == [mine.memory_id]

        await asyncio.gather(*(write_one(number) for number in range(60)))
        for number in range(5):
            assert await store.count(everything(scope(f"user{number}"))) == 12
        lines = await store.audit("acme")
        assert len(lines) == 60
        assert first_broken(lines) is None

    @pytest.mark.parametrize("seed", range(4))
    async def test_writes_that_wait_in_one_scope_answer_as_one_after_the_other(
        self, store: RecordStore, seed: int
    ) -> None:
        grouped = store.capabilities.grouped
        works = writes(random.Random(seed), 40)  # noqa: S311 - nothing here is secret
        model = InProcessStore()
        await model.open(EMBEDDER.space)
        await model.secret("acme")
        expected = [await answer(model, work, {}) for work in works]
        if grouped:
            got = await asyncio.gather(*(answer(store, work, {"scope": scope()}) for work in works))
        else:
            got = [await answer(store, work, {}) for work in works]

        for place, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
            assert mine == theirs, f"{place}: store {mine!r}, model {theirs!r}"
        assert await store.newest(everything(), limit=99) == await model.newest(everything(), limit=99)
        lines = await store.audit("acme")
        assert [line.memory_id for line in lines] == [line.memory_id for line in await model.audit("acme")]
        assert (await store.broken_audit("acme"))[1] is None
        assert {(entry.memory_id, entry.version) for entry in await store.pending()} == {
            (entry.memory_id, entry.version) for entry in await model.pending()
        }
        for each in (store, model):
            assert (await each.usage("acme", since=START))[Kind.LONG_TERM].rows == len(
                await model.newest(everything(statuses=frozenset(Status)), limit=99)
            )
        await model.close()

    async def test_two_stores_on_the_same_data_see_each_other(self, store: RecordStore, other: RecordStore) -> None:
        first, second = memory("green tea"), memory("green coffee")
        await remember(store, first)
        assert ids(await other.match(everything(), "green", limit=9)) == [first.memory_id]
        await remember(other, second)
        assert set(ids(await store.match(everything(), "green", limit=9))) == {first.memory_id, second.memory_id}
        await change(other, first.next_version(day(1), content="black tea", vector=EMBEDDER.vector("black tea")))
        assert ids(await store.match(everything(), "green", limit=9)) == [second.memory_id]
        assert ids(await store.nearest(everything(), EMBEDDER.vector("black tea"), limit=1)) == [first.memory_id]
        await store.transact(lambda transaction: transaction.remove(second.memory_id, scope=scope()))
        for each in (store, other):
            assert ids(await each.recent(everything(), limit=9)) == [first.memory_id]
            assert await each.count(everything()) == 1
        assert await store.secret("acme") == await other.secret("acme")

    async def test_who_has_a_mark_alone_is_followed_by_no_write_that_did_not_find_it(
        self, store: RecordStore, other: RecordStore
    ) -> None:
        async def write(number: int) -> None:
            one = memory(f"cup {number}", scope=scope(f"user{number % 3}"))

            async def work(transaction: Transaction) -> None:
                await transaction.insert(one)
                if await transaction.find_mark("acme", "closed", lock="shared") is not None:
                    raise MnemicError("closed")

            await (store if number % 2 else other).transact(work)

        async def present() -> list[Memory]:
            return await store.scan("acme", statuses=list(Status))

        async def close() -> list[Memory]:
            async def work(transaction: Transaction) -> None:
                await transaction.find_mark("acme", "closed", lock="exclusive")
                await transaction.put_mark("acme", "closed", "yes")

            await store.transact(work)
            return await present()

        writes = [asyncio.ensure_future(write(number)) for number in range(12)]
        closing = asyncio.ensure_future(close())
        writes += [asyncio.ensure_future(write(number)) for number in range(12, 24)]
        refused = await asyncio.gather(*writes, return_exceptions=True)
        assert await closing == await present()
        assert {str(one) for one in refused if one is not None} <= {"mnemic_error:closed"}

    async def test_two_stores_agree_on_twins(self, store: RecordStore, other: RecordStore) -> None:
        twins = [memory("tea", fingerprint="f1") for _ in range(10)]
        writers = [remember((store, other)[number % 2], twin) for number, twin in enumerate(twins)]
        outcomes = await asyncio.gather(*writers, return_exceptions=True)
        assert Counter(type(outcome) for outcome in outcomes) == {type(None): 1, VersionConflict: 9}
        vector = EMBEDDER.vector("tea")
        near = await other.transact(lambda t: t.nearest(scope(), vector, limit=5, at_least=0.9))
        assert len(near) == 1


WORDS = "green black tea coffee river harbour train boat old new".split()


def writes(choice: random.Random, number: int) -> list[Callable[[Transaction], Awaitable[object]]]:
    """Return works that look for neighbours, insert, replace and remove; some are refused before or after a change."""
    known: list[Memory] = []
    works: list[Callable[[Transaction], Awaitable[object]]] = []
    for place in range(number):
        text = " ".join(choice.sample(WORDS, 3))
        new = memory(text, at=day(place / 100), fingerprint=" ".join(sorted(text.split())))
        old = choice.choice(known) if known else None
        act = choice.choices(("insert", "replace", "remove", "refused", "undone"), (6, 3, 1, 1, 1))[0]
        works.append(partial(_write, new=new, old=old, act=act, text=" ".join(choice.sample(WORDS, 3))))
        known.append(new)
    return works


async def _write(tx: Transaction, *, new: Memory, old: Memory | None, act: str, text: str) -> object:
    seen = await _seen(tx, new.content)
    if act == "refused":
        raise MnemicError("before")
    same = await tx.find_fingerprint(new.scope, new.fingerprint or "")
    current = await tx.get(old.memory_id, scopes=[new.scope]) if old else None
    changed = new
    if act == "remove" and current is not None:
        await tx.remove(current.memory_id, scope=new.scope)
        changed = current
    elif act == "replace" and current is not None:
        closing = {"status": Status.SUPERSEDED} if same else {"content": text, "vector": EMBEDDER.vector(text)}
        changed = current.next_version(new.created_at, **closing)
        await tx.replace(changed)
    elif same is None:
        await tx.insert(new)
    await tx.append_audit(
        AuditEvent(tenant="acme", action="created", at=new.created_at, actor="ada", memory_id=changed.memory_id)
    )
    await tx.enqueue(
        OutboxEntry(scope=new.scope, action="upsert", memory_id=changed.memory_id, version=changed.version)
    )
    if act == "undone":
        raise MnemicError("after")
    return [seen, same and same.memory_id, await _seen(tx, text)]


async def _seen(tx: Transaction, text: str) -> list[object]:
    """Return all neighbours of a text, and the scores of the nearest few, whose order among equals is not compared."""
    near = await tx.nearest(scope(), EMBEDDER.vector(text), limit=99, at_least=0.3)
    few = await tx.nearest(scope(), EMBEDDER.vector(text), limit=4, at_least=0.3)
    known = sorted((each.memory_id, each.version, each.content, round(score, 4)) for each, score in near)
    return [*known, *(round(score, 4) for _, score in few)]


async def answer(store: RecordStore, work: Callable[[Transaction], Awaitable[object]], named: dict[str, Any]) -> object:
    """Return the result of a transaction, or the reason of its failure."""
    try:
        return await store.transact(work, **named)
    except MnemicError as error:
        return error.reason
