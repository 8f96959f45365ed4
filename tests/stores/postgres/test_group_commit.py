"""Writes that wait for each other in one scope share a transaction and its commit, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, MnemicError, StoreBusy, StoreUnavailable, VersionConflict
from mnemic.ports import Transaction
from mnemic.runtime.clock import SystemClock
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.postgres import PostgresStore, group_commit
from mnemic.stores.postgres.connections import Session
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import EMBEDDER, START, memory, scope
from mnemic.types import Actor, AuditEvent, Candidate, Deadline, Outcome, Where
from tests.servers import PostgresServer

Work = Callable[[Transaction], Awaitable[Any]]
WHERE = Where(scopes=(scope(),))


@pytest.fixture
async def store(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PostgresStore]:
    monkeypatch.setattr(group_commit, "MAX_LOCK_SECONDS", 60.0)
    store = PostgresStore(postgres.database(tmp_path))
    await store.open(EMBEDDER.space)
    await store.secret("acme")
    yield store
    await store.close()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    execute = Session.execute

    async def noted(self: Session, command: str) -> str:
        if command in ("COMMIT", "ROLLBACK"):
            seen.append(command)
        return await execute(self, command)

    monkeypatch.setattr(Session, "execute", noted)
    return seen


def inserting(text: str, *, then: Exception | None = None, first: Exception | None = None) -> Work:
    async def work(tx: Transaction) -> str:
        if first is not None:
            raise first
        one = memory(text)
        await tx.insert(one)
        await tx.append_audit(
            AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=one.memory_id)
        )
        if then is not None:
            raise then
        return text

    return work


async def together(store: PostgresStore, works: list[Work], deadlines: dict[int, Deadline] | None = None) -> list[Any]:
    """Return the results and errors of works that are called while another write has the lock of their scope."""
    waiting: list[asyncio.Future[Any]] = []
    loop = asyncio.get_running_loop()

    async def holding(tx: Transaction) -> None:
        await tx.find_fingerprint(scope(), "none")
        # The works queue up on the loop of the connections, where this one runs, so they are there when it goes on.
        for place, work in enumerate(works):
            call = store.transact(work, scope=scope(), deadline=(deadlines or {}).get(place))
            loop.call_soon_threadsafe(lambda call=call: waiting.append(asyncio.ensure_future(call)))
        for _ in range(3):
            await tx.find_fingerprint(scope(), "none")
        while len(store._ready.groups._waiting[scope()]) < len(works):
            await tx.find_fingerprint(scope(), "none")

    await store.transact(holding, scope=scope())
    return await asyncio.gather(*waiting, return_exceptions=True)


async def contents(store: PostgresStore) -> set[str]:
    return {each.content for each in await store.newest(WHERE, limit=99)}


async def test_those_that_wait_share_one_commit(store: PostgresStore, commits: list[str]) -> None:
    texts = [f"tea number {number}" for number in range(20)]

    assert await together(store, [inserting(text) for text in texts]) == texts

    assert commits == ["COMMIT"] * 2
    assert await contents(store) == set(texts)
    lines = await store.audit("acme")
    assert len(lines) == 20
    assert first_broken(lines) is None


async def test_one_that_is_refused_before_it_writes_is_refused_alone(store: PostgresStore, commits: list[str]) -> None:
    got = await together(store, [inserting("tea"), inserting("no", first=MnemicError("no")), inserting("coffee")])

    assert [got[0], got[1].reason, got[2]] == ["tea", "mnemic_error:no", "coffee"]
    assert commits == ["COMMIT"] * 2
    assert await contents(store) == {"tea", "coffee"}


async def test_one_that_fails_after_it_wrote_leaves_nothing_and_the_others_stay(store: PostgresStore) -> None:
    got = await together(store, [inserting("tea"), inserting("no", then=MnemicError("no")), inserting("coffee")])

    assert [got[0], got[1].reason, got[2]] == ["tea", "mnemic_error:no", "coffee"]
    assert await contents(store) == {"tea", "coffee"}
    assert len(await store.audit("acme")) == 2


async def test_one_whose_fingerprint_an_earlier_member_took_fails_alone(store: PostgresStore) -> None:
    async def taking(tx: Transaction) -> str:
        await tx.insert(memory("green tea", fingerprint="f1"))
        return "taken"

    got = await together(store, [inserting("tea"), taking, taking, inserting("coffee")])

    assert [got[0], got[1], type(got[2]), got[3]] == ["tea", "taken", VersionConflict, "coffee"]
    assert await contents(store) == {"tea", "green tea", "coffee"}


async def test_each_sees_what_the_members_before_it_wrote(store: PostgresStore, commits: list[str]) -> None:
    def unless_known(text: str, fingerprint: str) -> Work:
        async def work(tx: Transaction) -> str:
            same = await tx.find_fingerprint(scope(), fingerprint)
            if same is not None:
                return f"{text} is {same.content}"
            await tx.insert(memory(text, fingerprint=fingerprint))
            return text

        return work

    await store.transact(unless_known("milk", "f0"))
    commits.clear()
    given = [("tea", "f1"), ("coffee", "f2"), ("chai", "f1"), ("cream", "f0"), ("cocoa", "f2")]
    got = await together(store, [unless_known(*one) for one in given])

    assert got == ["tea", "coffee", "chai is tea", "cream is milk", "cocoa is coffee"]
    assert commits == ["COMMIT"] * 2
    assert await contents(store) == {"milk", "tea", "coffee"}


async def test_who_closes_a_mark_that_members_share_finds_what_all_of_them_wrote(store: PostgresStore) -> None:
    closing: list[asyncio.Future[list[bool]]] = []
    loop = asyncio.get_running_loop()
    texts = [f"tea number {number}" for number in range(8)]

    async def close(tx: Transaction) -> list[bool]:
        await tx.find_mark("acme", "closed", lock="exclusive")
        await tx.put_mark("acme", "closed", "yes")
        return [await tx.find_fingerprint(scope(), text) is not None for text in texts]

    def open_still(text: str) -> Work:
        async def work(tx: Transaction) -> str:
            await tx.insert(memory(text, fingerprint=text))
            closed = await tx.find_mark("acme", "closed", lock="shared")
            if text == texts[0]:
                call = store.transact(close)
                loop.call_soon_threadsafe(lambda: closing.append(asyncio.ensure_future(call)))
            return closed or "open"

        return work

    assert await together(store, [open_still(text) for text in texts]) == ["open"] * 8
    assert await closing[0] == [True] * 8


async def test_one_past_its_deadline_never_runs(store: PostgresStore) -> None:
    late = Deadline.after(timedelta(0), SystemClock().monotonic)
    got = await together(store, [inserting("tea"), inserting("late")], {1: late})

    assert got[0] == "tea"
    assert isinstance(got[1], StoreBusy)
    assert await contents(store) == {"tea"}


async def test_one_that_is_cancelled_while_it_waits_never_runs(store: PostgresStore) -> None:
    calls: list[asyncio.Task[Any]] = []
    loop = asyncio.get_running_loop()
    gone = asyncio.Event()

    def begin_and_cancel() -> None:
        calls.append(asyncio.ensure_future(store.transact(inserting("gone"), scope=scope())))
        loop.call_soon(lambda: (calls[0].cancel(), gone.set()))

    async def holding(tx: Transaction) -> None:
        await tx.find_fingerprint(scope(), "none")
        loop.call_soon_threadsafe(begin_and_cancel)
        while not gone.is_set():
            await tx.find_fingerprint(scope(), "none")

    await store.transact(holding, scope=scope())
    with pytest.raises(asyncio.CancelledError):
        await calls[0]
    await store.transact(inserting("tea"), scope=scope())
    assert await contents(store) == {"tea"}


async def test_a_group_whose_connection_is_lost_is_stored_once_or_reported(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    runs = 0

    async def killing(tx: Transaction) -> str:
        nonlocal runs
        runs += 1
        if runs == 1:
            postgres.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND state = 'idle in transaction'"
            )
        return str(await inserting("coffee")(tx))

    got = await together(store, [inserting("tea"), killing, inserting("milk")])

    failed = [one for one in got if isinstance(one, BaseException)]
    assert all(isinstance(one, StoreUnavailable | CommitUnknown) for one in failed)
    assert await contents(store) == {one for one in got if isinstance(one, str)}
    assert runs == 2
    assert not failed


async def test_an_import_commits_many_memories_at_once(
    postgres: PostgresServer, tmp_path: Path, commits: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine half a second is over after a few members, and the count would say how busy it is.
    monkeypatch.setattr(group_commit, "MAX_LOCK_SECONDS", 60.0)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        given = [Candidate(content=f"The harbour of town {number} is {number} km away.") for number in range(64)]
        await engine.add("The sea is calm.", actor=Actor(user="ana"))
        commits.clear()
        receipts = await engine.add_many(given, actor=Actor(user="ana"))
        assert {receipt.outcome for receipt in receipts} == {Outcome.CREATED}
        assert commits.count("COMMIT") <= 12
        assert first_broken(await engine.store.audit("default")) is None


ANA = Actor(user="ana")


async def test_a_write_goes_to_the_server_eight_times(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consents, duplicate; BEGIN, entering with the gate, erasures begun since, insert, trail, COMMIT."""
    asked = counting(monkeypatch)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        await engine.add("The sea is calm and blue.", actor=ANA)
        await engine.add("The sea is calm and grey today.", actor=ANA)
        asked.clear()
        await engine.add("The sea is calm and green in the evening.", actor=ANA)
        assert len(asked) <= 8, [" ".join(statement.split())[:60] for statement in asked]


async def test_a_batch_of_writes_goes_to_the_server_eleven_times(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consents; duplicates in three; BEGIN, the scope with the gate, the fingerprints, neighbours, all rows, the trail,
    COMMIT.
    """
    asked = counting(monkeypatch)
    monkeypatch.setattr(group_commit, "MAX_LOCK_SECONDS", 60.0)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        await engine.add("The sea is calm and blue.", actor=ANA)
        await engine.add("The sea is calm and grey today.", actor=ANA)
        asked.clear()
        given = [Candidate(content=f"The harbour of town {number} is {number} km away.") for number in range(32)]
        receipts = await engine.add_many(given, actor=ANA)
        assert {receipt.outcome for receipt in receipts} == {Outcome.CREATED}
        assert len(asked) <= 11, [" ".join(statement.split())[:60] for statement in asked]


async def test_a_search_after_a_write_goes_to_the_server_four_times(
    postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consents; the scopes for speakers with lists, and for the answer; the memories that were found."""
    asked = counting(monkeypatch)
    async with MemoryEngine(store=PostgresStore(postgres.database(tmp_path)), embedder=WordEmbedder()) as engine:
        await engine.add("The sea is calm and blue.", actor=ANA)
        await engine.search("the blue sea", actor=ANA)
        await engine.add("The boat in the harbour is green.", actor=ANA)
        asked.clear()
        found = await engine.search("the green boat", actor=ANA)
        assert [hit.memory.content for hit in found.hits][:1] == ["The boat in the harbour is green."]
        assert len(asked) <= 4, [" ".join(statement.split())[:60] for statement in asked]


def counting(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list to which every statement that goes to the server is added."""
    asked: list[str] = []
    for name in ("fetch", "fetch_each", "execute"):
        passed_on = getattr(Session, name)

        async def counted(self: Session, statement: str, *values: Any, on: Any = passed_on, name: str = name) -> Any:
            if name != "fetch_each" or len(values[0]) > 1:  # a single one goes through `fetch`
                asked.append(statement)
            return await on(self, statement, *values)

        monkeypatch.setattr(Session, name, counted)
    return asked


async def test_an_audit_that_another_process_went_on_with_stays_one_chain(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    stores = [PostgresStore(postgres.database(tmp_path)) for _ in range(2)]
    for store in stores:
        await store.open(WordEmbedder().space)
    for turn in (0, 0, 1, 1, 0, 1):
        await stores[turn].transact(appended)
    assert await stores[0].broken_audit("acme") == (6, None, (await stores[1].audit("acme"))[-1].hash)
    for store in stores:
        await store.close()


async def appended(transaction: Transaction) -> None:
    await transaction.append_audit(
        AuditEvent(tenant="acme", action="created", at=datetime(2026, 1, 1, tzinfo=UTC), actor="ana")
    )
