"""Commits that are cut off, get no answer, or are overtaken by another process: the state that they leave."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from cassandra import OperationTimedOut

from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.ports import Transaction
from mnemic.ports.database_backend import RowReads
from mnemic.stores.cassandra import CassandraStore, commit, journal, tenant_totals
from mnemic.stores.cassandra.routing import COUNTED, LATEST, Partition
from mnemic.stores.row_store_adapter.transaction import usage as full_count
from mnemic.stores.store_verbs import Step
from mnemic.testing.record_store.fixtures import EMBEDDER, START, everything, memory, remember, scope
from mnemic.types import AuditEvent, Kind, Memory, Usage


class Killed(BaseException):
    """The process ends here."""


def both(ada: Memory, bob: Memory) -> Any:
    async def work(transaction: Transaction) -> None:
        for each in (ada, bob):
            await transaction.insert(each)
            event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=each.memory_id)
            await transaction.append_audit(event)

    return work


async def test_a_change_over_two_scopes_that_is_cut_off_anywhere_is_whole_or_absent(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = []
    for cut in range(12):
        tag = f"u{cut}"
        ada, bob = memory("tea", scope=scope(f"ada{tag}")), memory("tea", scope=scope(f"bob{tag}"))
        dying = new_store()
        await dying.open(EMBEDDER.space)
        link, left = dying._database.link, [cut]
        answer = link._answer

        async def cut_off(statement: Any, *, answer: Any = answer, left: list[int] = left) -> Any:
            if statement_changes(statement):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
            return await answer(statement)

        monkeypatch.setattr(link, "_answer", cut_off)
        try:
            await dying.transact(both(ada, bob))
            ended = True
        except Killed:
            ended = False
        monkeypatch.undo()
        await dying.close()
        store = new_store()
        await store.open(EMBEDDER.space)
        found = [await store.count(everything(each.scope)) for each in (ada, bob)]
        assert found in ([0, 0], [1, 1])
        lines = [line.memory_id for line in await store.audit("acme")]
        assert [lines.count(each.memory_id) for each in (ada, bob)] == found
        assert (await store.broken_audit("acme"))[1] is None
        await remember(store, memory("coffee", scope=ada.scope), memory("coffee", scope=bob.scope))
        await store._database.partitions.sweep(age=0.0)
        assert await store._database.link.ask("left", ()) == []
        await store.close()
        outcomes.append((ended, found[0]))
        if ended:
            break
    assert (False, 0) in outcomes, "never cut off before the decision"
    assert (False, 1) in outcomes, "never cut off after the decision"
    assert outcomes[-1] == (True, 1)


@pytest.mark.parametrize("lacking", [1, 9])
async def test_a_committed_change_is_made_though_answers_lack_its_decision(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    """While nodes join or leave, a majority may lack a decision for a moment."""
    dying = new_store()
    await dying.open(EMBEDDER.space)

    async def cut(*_: Any) -> None:
        raise Killed

    monkeypatch.setattr(dying._database.partitions, "make", cut)
    ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
    with pytest.raises(Killed):
        await dying.transact(both(ada, bob))
    await dying.close()
    store = new_store()
    await store.open(EMBEDDER.space)
    partitions, left = store._database.partitions, [lacking]
    decision = partitions.decision

    async def without(change: str) -> str | None:
        if left[0]:
            left[0] -= 1
            return None
        return await decision(change)

    monkeypatch.setattr(partitions, "decision", without)
    assert [await store.count(everything(each.scope)) for each in (ada, bob)] == [1, 1]
    assert len(await store.audit("acme")) == 2
    assert (await store.broken_audit("acme"))[1] is None
    await partitions.sweep(age=0.0)
    await store.close()


@pytest.mark.parametrize("failing", ["make", "forget"])
async def test_a_committed_change_is_no_error_for_its_caller_though_it_cannot_be_completed_yet(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """An error would let a caller without a key write it a second time."""
    store = new_store()
    await store.open(EMBEDDER.space)
    partitions = store._database.partitions

    async def busy(*_: Any) -> None:
        raise StoreBusy

    with monkeypatch.context() as patch:
        patch.setattr(partitions, failing, busy)
        ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
        await store.transact(both(ada, bob))
    assert [await store.count(everything(each.scope)) for each in (ada, bob)] == [1, 1]
    await partitions.sweep(age=0.0)
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def test_a_hold_of_a_change_that_nobody_knows_is_let_go(new_store: Callable[[], CassandraStore]) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))
    home = Partition("acme", "user", "ada")
    partitions = store._database.partitions
    version = (await partitions.state(home))[0]
    assert await store._database.link.change([("hold", ("gone", *partitions.key(home), version, None))], settled=None)
    await remember(store, memory("coffee"))
    assert await store.count(everything()) == 2
    await partitions.forget("gone")
    await store.close()


def statement_changes(statement: Any) -> bool:
    """Distinguish a lightweight transaction from reads and plain writes."""
    if hasattr(statement, "_statements_and_parameters"):
        return True
    text = statement.prepared_statement.query_string
    return " IF " in text


async def test_a_commit_whose_answer_is_lost_is_made_once(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    answer, lost = link._answer, []

    async def deaf(statement: Any) -> Any:
        found = await answer(statement)
        if statement_changes(statement) and len(lost) < 3:
            lost.append(statement)
            raise OperationTimedOut
        return found

    monkeypatch.setattr(link, "_answer", deaf)
    for number in range(3):
        await remember(store, memory(f"tea {number}", fingerprint=f"f{number}"))
    assert len(lost) == 3
    assert await store.count(everything()) == 3
    await store.close()


async def test_a_commit_that_never_arrived_is_made_again(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    answer, lost = link._answer, []

    async def cut(statement: Any) -> Any:
        if statement_changes(statement) and not lost:
            lost.append(statement)
            raise OperationTimedOut
        return await answer(statement)

    monkeypatch.setattr(link, "_answer", cut)
    await remember(store, memory("tea", fingerprint="f"))
    assert len(lost) == 1
    assert await store.count(everything()) == 1
    await store.close()


@pytest.mark.parametrize("scopes", [1, 2])
@pytest.mark.parametrize("late", range(8))
async def test_a_change_that_arrives_after_it_was_looked_up_is_made_once(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, scopes: int, late: int
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    answer, sent, delayed = link._answer, [], []

    async def arrive_late(statement: Any) -> Any:
        if statement_changes(statement):
            sent.append(statement)
            if len(sent) == late + 1:
                delayed.append(statement)
                raise OperationTimedOut
            if delayed:
                await answer(delayed.pop())
        return await answer(statement)

    monkeypatch.setattr(link, "_answer", arrive_late)
    ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
    if scopes == 2:
        await store.transact(both(ada, bob))
    else:
        await store.transact(lambda transaction: one(transaction, ada))
    monkeypatch.undo()
    for statement in delayed:
        await answer(statement)
    written = [ada, bob][:scopes]
    assert [await store.count(everything(each.scope)) for each in written] == [1] * scopes
    lines = [line.memory_id for line in await store.audit("acme")]
    assert sorted(lines) == sorted(each.memory_id for each in written)
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def one(transaction: Transaction, memory: Memory) -> None:
    await transaction.insert(memory)
    event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=memory.memory_id)
    await transaction.append_audit(event)


async def test_a_writer_that_has_missed_a_mark_is_refused_and_reads_it(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, other = new_store(), new_store()
    await writer.open(EMBEDDER.space)
    await other.open(EMBEDDER.space)
    await remember(writer, memory("before"))
    link = writer._database.link
    change, seen = link.change, []

    async def work(transaction: Transaction) -> None:
        seen.append(await transaction.find_mark("acme", "erased:ada"))
        await transaction.insert(memory("tea" if seen[-1] is None else "nothing of hers"))

    async def overtaken(statements: Any, **how: Any) -> bool:
        if len(seen) == 1:
            await other.transact(lambda transaction: transaction.put_mark("acme", "erased:ada", "yes"))
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    await writer.transact(work)
    assert seen == [None, "yes"]
    kept = [each.content for each in await other.newest(everything(), limit=9)]
    assert kept == ["nothing of hers", "before"]
    await writer.close()
    await other.close()


async def test_who_collects_does_not_wait_for_those_who_go_on_writing(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)

    async def write() -> None:
        event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", scope=scope())
        await store.transact(lambda transaction: transaction.append_audit(event))

    await write()
    partitions = store._database.partitions
    noted, passes = partitions.partitions_to_collect, []

    async def and_another(tenant: str | None) -> Any:
        passes.append(tenant)
        assert len(passes) < 9, "it would never end"
        found = await noted(tenant)
        await write()
        return found

    monkeypatch.setattr(partitions, "partitions_to_collect", and_another)
    assert len(await store.audit("acme")) >= 1
    assert passes == ["acme"]
    await store.close()


def noted(name: str, memory_id: str | None = None) -> AuditEvent:
    return AuditEvent(tenant="acme", action="created", at=START, actor=name, scope=scope(name), memory_id=memory_id)


async def test_what_is_written_while_it_is_collected_is_collected_the_next_time(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    await store.transact(lambda transaction: transaction.append_audit(noted("ada")))
    transact, overtaken = store._database.transact, []

    async def then_another(work: Any, *, deadline: Any = None) -> Any:
        found = await transact(work, deadline=deadline)
        if not overtaken:
            overtaken.append(True)
            await store.transact(lambda transaction: transaction.append_audit(noted("ada", "later")))
        return found

    monkeypatch.setattr(store._database, "transact", then_another)
    assert [line.memory_id for line in await store.audit("acme")] == [None]
    monkeypatch.undo()
    assert [line.memory_id for line in await store.audit("acme")] == [None, "later"]
    assert (await store.broken_audit("acme"))[1] is None
    await store.close()


async def test_a_collection_that_ends_half_way_is_taken_up_again(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for name in ("ada", "bob", "ada"):
        await store.transact(lambda transaction, name=name: transaction.append_audit(noted(name)))

    async def cut(rows: Any, waiting: Any) -> bool:
        raise Killed

    monkeypatch.setattr(journal, "_empty_journal", cut)
    with pytest.raises(Killed):
        await store.audit("acme")
    monkeypatch.undo()
    await store.transact(lambda transaction: transaction.append_audit(noted("eve")))
    assert [line.actor for line in await store.audit("acme")] == ["ada", "bob", "ada", "eve"]
    assert await store.broken_audit("acme") == (4, None, (await store.audit("acme"))[-1].hash)
    await store.close()


async def test_a_line_of_a_new_partition_is_found_though_it_was_announced_before(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    change, looked = link.change, []

    async def overtaken(statements: Any, **how: Any) -> bool:
        if not looked:
            looked.append(True)
            assert await store.audit("acme") == []
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", overtaken)
    await store.transact(lambda transaction: transaction.append_audit(noted("ada")))
    assert [line.actor for line in await store.audit("acme")] == ["ada"]
    await store.close()


@pytest.mark.parametrize("lacking", [2, 100])
async def test_a_line_that_an_answer_lacks_for_a_moment_does_not_break_the_audit(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, lacking: int
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for _ in range(3):
        await store.transact(lambda transaction: transaction.append_audit(noted("ada")))
    partitions = store._database.partitions
    scan, left = partitions.scan, [lacking]

    async def without_the_second(home: Any, name: str, *values: Any, **how: Any) -> list[Any]:
        rows = await scan(home, name, *values, **how)
        if name == "journal" and left[0]:
            left[0] -= 1
            return [rows[0], *rows[2:]]
        return rows

    async def at_once(*_: float) -> None:
        return None

    monkeypatch.setattr(partitions, "scan", without_the_second)
    monkeypatch.setattr(journal, "pause", at_once)
    lines, broken, _ = await store.broken_audit("acme")
    assert (lines, broken) == ((3, None) if lacking == 2 else (2, 2)), "a line that is gone for good breaks the chain"
    await store.close()


@pytest.mark.parametrize("away", [False, True])
async def test_lines_after_a_gap_wait_until_every_replica_was_asked(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch, away: bool
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for name in ("first", "second", "third"):
        await store.transact(lambda transaction, name=name: transaction.append_audit(noted("ada", name)))
    partitions = store._database.partitions
    scan, ask, lacking = partitions.scan, store._database.link.ask, [True]

    async def without_the_second(home: Any, name: str, *values: Any, **how: Any) -> list[Any]:
        rows = await scan(home, name, *values, **how)
        return [rows[0], *rows[2:]] if name == "journal" and lacking[0] else rows

    async def asked(name: str, values: Any, **how: Any) -> Any:
        if how.get("of_all"):
            lacking[0] = away
            if away:
                raise StoreUnavailable("cassandra")
        return await ask(name, values, **how)

    async def at_once(*_: float) -> None:
        return None

    monkeypatch.setattr(partitions, "scan", without_the_second)
    monkeypatch.setattr(store._database.link, "ask", asked)
    monkeypatch.setattr(journal, "pause", at_once)
    assert [line.memory_id for line in await store.audit("acme")] == (
        ["first"] if away else ["first", "second", "third"]
    )
    lacking[0] = away = False
    assert [line.memory_id for line in await store.audit("acme")] == ["first", "second", "third"]
    assert (await store.broken_audit("acme"))[:2] == (3, None)
    await store.close()


async def test_a_line_of_the_audit_that_an_answer_lacks_breaks_no_chain(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = new_store()
    await store.open(EMBEDDER.space)
    for name in ("ada", "bob", "eve"):
        await store.transact(lambda transaction, name=name: transaction.append_audit(noted(name)))
    assert len(await store.audit("acme")) == 3
    partitions, lacking = store._database.partitions, [True]
    scan, repair = partitions.scan, partitions.repair

    async def without_the_second(home: Any, name: str, *values: Any, **how: Any) -> list[Any]:
        rows = await scan(home, name, *values, **how)
        return [rows[0], *rows[2:]] if name == "audit" and lacking[0] else rows

    async def repaired(home: Any, name: str) -> bool:
        lacking[0] = False
        return await repair(home, name)

    monkeypatch.setattr(partitions, "scan", without_the_second)
    monkeypatch.setattr(partitions, "repair", repaired)
    assert (await store.broken_audit("acme"))[:2] == (3, None)
    await store.close()


async def test_a_change_whose_last_step_was_refused_is_kept_until_it_is_made(
    new_store: Callable[[], CassandraStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nodes join or leave, a condition may be judged by replicas that lack the row which meets it."""
    store = new_store()
    await store.open(EMBEDDER.space)
    link = store._database.link
    change, refused = link.change, []

    async def refuses(statements: Any, **how: Any) -> bool:
        if statements[0][0] == "finish" and not refused:
            refused.append(statements[0][1])
            return False
        return await change(statements, **how)

    monkeypatch.setattr(link, "change", refuses)
    ada, bob = memory("tea", scope=scope("ada")), memory("tea", scope=scope("bob"))
    await store.transact(both(ada, bob))
    assert refused
    assert [await store.count(everything(each.scope)) for each in (ada, bob)] == [1, 1]
    assert (await store.broken_audit("acme"))[:2] == (2, None)
    await store._database.partitions.sweep(age=0.0)
    await store.close()


Makes = Callable[..., CassandraStore]
MINUTE = timedelta(minutes=1)


async def opened(new_store: Makes) -> CassandraStore:
    store = new_store()
    await store.open(EMBEDDER.space)
    return store


async def in_full(store: CassandraStore, since: datetime) -> dict[Kind, Usage]:
    """Return the usage by reading every scope."""
    return await store._database.read(lambda rows: full_count(rows, "acme", since, None))


async def by_total(store: CassandraStore, since: datetime) -> dict[Kind, Usage]:
    """Return the usage that a write reads, which collects nothing."""
    return dict(await store.transact(lambda change: change.usage("acme", since=since, settled=False)))


async def assert_exact(store: CassandraStore) -> None:
    now = datetime.now(UTC)
    for since in (START, now - MINUTE, now - 3 * MINUTE, now + MINUTE):
        expected = await in_full(store, since)
        assert await by_total(store, since) == expected
        assert await store.usage("acme", since=since) == expected


async def is_whole(store: CassandraStore) -> bool:
    return await store._database.read(partial(tenant_totals._is_whole, tenant="acme"))


def partitions_asked(store: CassandraStore, monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the store's queries from here on, by statement and partition."""
    link = store._database.link
    ask, asked = link.ask, []

    async def noted(name: str, values: Any, **how: Any) -> Any:
        asked.append((name, *values[:3]))
        return await ask(name, values, **how)

    monkeypatch.setattr(link, "ask", noted)
    return asked


async def test_the_partitions_that_a_write_and_a_question_ask_do_not_grow_with_the_users(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, numbers = await opened(new_store), []
    now = datetime.now(UTC)
    for users in (range(20), range(20, 60)):
        for number in users:
            await remember(store, memory("tea", at=now - 5 * MINUTE, scope=scope(f"user{number}")))
        await store.usage("acme", since=now - MINUTE)
        await remember(store, memory("coffee", at=now, scope=scope("user3")))

        async def work(transaction: Transaction) -> dict[Kind, Usage]:
            await transaction.insert(memory("juice", at=now, scope=scope("user5")))
            return dict(await transaction.usage("acme", since=now - MINUTE, settled=False))

        with monkeypatch.context() as patch:
            asked = partitions_asked(store, patch)
            found = await store.usage("acme", since=now - MINUTE)
            first = len(asked)
            after = await store.transact(work)
        numbers.append((first, len(asked) - first))
        assert found[Kind.LONG_TERM].rows == users.stop + 2 * len(numbers) - 1
        assert (after[Kind.LONG_TERM].rows, after[Kind.LONG_TERM].recent) == (
            users.stop + 2 * len(numbers),
            2 * len(numbers),
        )
        await assert_exact(store)
    assert numbers[0] == numbers[1]
    assert max(numbers[0]) < 20
    await store.close()


@pytest.mark.parametrize("seed", range(3))
async def test_it_is_exact_whatever_is_written_and_removed(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(tenant_totals, "MAX_UNCOLLECTED", 2)
    monkeypatch.setattr(tenant_totals, "MAX_COLLECTED", 3)
    monkeypatch.setattr(tenant_totals, "_MAX_LISTED", 3)
    store, choice = await opened(new_store), random.Random(seed)
    there: list[Memory] = []
    kinds = (Kind.LONG_TERM, Kind.EPISODIC)
    for step in range(40):
        match choice.choice(("insert", "insert", "insert", "given", "replace", "remove", "both", "collect")):
            case "insert" | "given" as how:
                at = choice.choice((START, datetime.now(UTC)))
                given = {"memory_id": f"{choice.choice(('0', 'z'))}{step}"} if how == "given" else {}
                owner = scope(f"user{choice.randrange(5)}")
                made = memory(f"m {step}", at=at, scope=owner, kind=choice.choice(kinds), **given)
                await remember(store, made)
                there.append(made)
            case "replace" if there:
                old = there.pop(choice.randrange(len(there)))
                new = old.next_version(datetime.now(UTC), content="x" * choice.randrange(200))
                await store.transact(partial(_replace, memory=new))
                there.append(new)
            case "remove" if there:
                old = there.pop(choice.randrange(len(there)))
                await store.transact(partial(_remove, memory=old))
            case "both":
                pair = [memory(f"{step} {n}", at=datetime.now(UTC), scope=scope(f"user{n}")) for n in range(2)]
                await store.transact(partial(_insert_with_one_line, memories=pair))
                there += pair
            case _:
                await store.audit("acme")
        await assert_exact(store)
    assert await is_whole(store)
    # Nothing is counted on top any more: the total includes all of it.
    await store.tidy()
    assert await store._database.partitions.partitions_to_collect("acme") == {}
    await assert_exact(store)
    await store.close()


async def _replace(transaction: Transaction, memory: Memory) -> None:
    await transaction.replace(memory)


async def _remove(transaction: Transaction, memory: Memory) -> None:
    await transaction.remove(memory.memory_id, scope=memory.scope)


async def _insert_with_one_line(transaction: Transaction, memories: list[Memory]) -> None:
    """Insert memories of several scopes with one line of the audit, as jobs do."""
    for each in memories:
        await transaction.insert(each)
    await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))


async def test_a_collection_that_is_cut_off_anywhere_leaves_it_exact(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, ended, cut = await opened(new_store), False, 0
    await remember(store, *(memory("tea", scope=scope(f"user{number}")) for number in range(3)))
    while not ended:
        await remember(store, memory(f"m {cut}", at=datetime.now(UTC)), memory(f"m {cut}", scope=scope("user1")))
        dying = await opened(new_store)
        link, left = dying._database.link, [cut]
        answer = link._answer

        async def cut_off(statement: Any, *, answer: Any = answer, left: list[int] = left) -> Any:
            if _changes(statement):
                if left[0] == 0:
                    raise Killed
                left[0] -= 1
            return await answer(statement)

        with monkeypatch.context() as patch:
            patch.setattr(link, "_answer", cut_off)
            try:
                await dying._collect("acme")
                await tenant_totals.begin(dying._ready, dying._database.partitions, "acme")
                ended = True
            except Killed:
                cut += 1
        await dying.close()
        await assert_exact(store)
    assert cut > 10
    assert await is_whole(store)
    await store.tidy()
    await assert_exact(store)
    await store.close()


def _changes(statement: Any) -> bool:
    text = getattr(getattr(statement, "prepared_statement", None), "query_string", "")
    return not text.startswith("SELECT")


async def test_two_who_collect_at_once_while_others_write_count_each_scope_once(new_store: Makes) -> None:
    stores = [await opened(new_store) for _ in range(3)]
    collecting, other, writing = stores
    done = asyncio.Event()

    async def write(owner: str) -> None:
        for number in range(12):
            made = memory(f"m {number}", at=datetime.now(UTC), scope=scope(owner))
            await remember(writing, made)
            if number % 3 == 0:
                await writing.transact(partial(_remove, memory=made))

    async def collect(store: CassandraStore) -> None:
        while not done.is_set():
            await store._collect("acme")
            await tenant_totals.begin(store._ready, store._database.partitions, "acme")

    async def all_writers() -> None:
        await asyncio.gather(*(write(f"user{number}") for number in range(4)))
        done.set()

    await asyncio.gather(all_writers(), collect(collecting), collect(other))
    for store in stores:
        await assert_exact(store)
    assert (await by_total(writing, START))[Kind.LONG_TERM].rows == 4 * 8
    await writing.tidy()
    await assert_exact(writing)
    for store in stores:
        await store.close()


async def test_who_counts_a_scope_as_it_was_earlier_changes_nothing(new_store: Makes) -> None:
    store = await opened(new_store)
    await remember(store, memory("tea"))
    seen = await store._database.read(partial(tenant_totals.scope_totals, home=Partition("acme", "user", "ada")))
    await remember(store, memory("coffee"))
    await store.tidy()
    for _ in range(2):
        await store._database.transact(partial(tenant_totals.count, tenant="acme", counts=[seen]))
        await assert_exact(store)
    await store.close()


async def test_a_write_between_the_reading_and_the_collection_stays_on_top(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = await opened(new_store), await opened(new_store)
    await remember(store, memory("tea"), memory("tea", scope=scope("bob")))
    await store.tidy()
    await remember(store, memory("coffee"))
    appended = journal._append_lines

    async def overtaken(rows: Any, **how: Any) -> None:
        await appended(rows, **how)
        if not done:
            done.append(True)
            await Step(lambda: remember(other, memory("juice")))

    done: list[bool] = []
    monkeypatch.setattr(journal, "_append_lines", overtaken)
    await store._collect("acme")
    assert done
    await assert_exact(other)
    await store._collect("acme")
    await assert_exact(other)
    await store.close()
    await other.close()


async def test_a_scope_that_is_erased_leaves_the_total(new_store: Makes) -> None:
    store = await opened(new_store)
    gone = [memory(f"tea {n}", at=datetime.now(UTC), scope=scope("ada")) for n in range(3)]
    await remember(store, *gone, memory("tea", scope=scope("bob")))
    await store.tidy()
    for each in gone:
        await store.transact(partial(_remove, memory=each))
    await assert_exact(store)
    assert set((await store.traces("acme", [each.memory_id for each in gone], [])).values()) == {0}
    await assert_exact(store)
    assert (await store.usage("acme", since=START))[Kind.LONG_TERM].rows == 1

    async def named(rows: RowReads) -> list[str]:
        return [row[3] for row in await rows.scan(LATEST, ("acme",))]

    assert await store._database.read(named) == ["bob"], "no row names a memory that is gone"
    await store.close()


async def test_a_tenant_from_before_is_counted_once_and_read_in_full_until_then(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as before:
        # As the version before: lines are collected, nothing is counted.
        before.setattr(commit, "with_lines", lambda view: None)

        async def nothing(*_: Any, **__: Any) -> None:
            pass

        before.setattr(tenant_totals, "count", nothing)
        before.setattr(tenant_totals, "begin", nothing)
        old = await opened(new_store)
        for number in range(30):
            await old.transact(partial(_insert_with_one_line, memories=[memory("tea", scope=scope(f"user{number}"))]))
        await old.tidy()
        assert await old._database.partitions.partitions_to_collect("acme") == {}
        await old.close()
    store = await opened(new_store)
    assert not await is_whole(store)
    await assert_exact(store)
    await remember(store, memory("coffee", at=datetime.now(UTC), scope=scope("user3")))
    await assert_exact(store)
    await store._collect("acme")
    assert not await is_whole(store), "one scope of thirty is counted"
    await assert_exact(store)
    await remember(store, memory("juice", at=datetime.now(UTC), scope=scope("user4")))
    await store.tidy()
    assert await is_whole(store)
    await assert_exact(store)
    asked = partitions_asked(store, monkeypatch)
    now = datetime.now(UTC)
    assert (await store.usage("acme", since=now - MINUTE))[Kind.LONG_TERM].rows == 32
    assert len(asked) < 10
    await store.close()


async def test_an_answer_that_lacks_what_was_counted_counts_no_scope_twice(
    new_store: Makes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nodes join or leave, an answer may lack rows for a moment."""
    store = await opened(new_store)
    await remember(store, memory("tea"), memory("tea", scope=scope("bob")))
    await store.usage("acme", since=START)
    await store.tidy()
    assert await is_whole(store)
    await remember(store, memory("coffee"))
    partitions, lacking = store._database.partitions, [2]
    get = partitions.get

    async def without(home: Any, name: str, keys: Any, **how: Any) -> list[Any]:
        if name == "counted" and lacking[0]:
            lacking[0] -= 1
            return []
        return await get(home, name, keys, **how)

    monkeypatch.setattr(partitions, "get", without)
    await store._collect("acme")
    assert lacking == [0]
    await assert_exact(store)
    await store.close()


async def test_every_scope_that_is_counted_has_one_row(new_store: Makes) -> None:
    store = await opened(new_store)
    for number in range(3):
        await remember(store, memory(f"tea {number}", at=datetime.now(UTC)))
        await store.tidy()
    rows = await store._database.read(lambda reads: reads.scan(COUNTED, ("acme",)))
    assert [row[1:3] for row in rows] == [("", ""), ("user", "ada")]
    assert len(await store._database.read(lambda reads: reads.scan(LATEST, ("acme",)))) == 1
    await store.close()
